"""A keyed permutation of 0 to n - 1, of which any value can be had without the others.

A balanced Feistel network (Luby & Rackoff 1988) of four rounds permutes the numbers of an even
number of bits; what falls outside 0 to n - 1 is permuted again until it does not (cycle walking:
Black & Rogaway 2002), which leaves a permutation of the rest. Its rounds are HMAC-SHA256, so that
places tell nothing of their order to whoever has no key.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class Permutation:
    """A permutation of 0 to ``size`` - 1 under ``key``."""

    key: bytes
    size: int

    def __call__(self, index: int) -> int:
        """Where ``index`` goes; raises ``IndexError`` for what is not in the range."""
        if not 0 <= index < self.size:
            raise IndexError(f"{index} is not from 0 to {self.size - 1}")
        half = max(1, -(-(self.size - 1).bit_length() // 2))
        while True:
            index = self._once(index, half)
            if index < self.size:
                return index

    def _once(self, number: int, half: int) -> int:
        """One pass of the network over a number of twice ``half`` bits."""
        left, right = divmod(number, 1 << half)
        for turn in range(_ROUNDS):
            told = hmac.digest(self.key, b"%d/%d" % (turn, right), hashlib.sha256)
            left, right = right, left ^ int.from_bytes(told[:8], "big") & ((1 << half) - 1)
        return left << half | right
