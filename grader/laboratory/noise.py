"""Errors of readings: drawn by the episode's key from everything that came before a reading.

The same settings in the same order give the same errors, so a transcript can be replayed by whoever
holds the key. Another setting anywhere gives others, so that two sessions cannot be subtracted.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grader.io.jsonio import canonical
from grader.laboratory.model import rounded

DRAWS: Final = 12
"""Uniform numbers of 16 bits in one error: their sum less 6 has mean 0 (but for 1e-4) and standard
deviation 1, is near a bell curve, and is exact on every machine."""

History = Sequence[tuple[str, float]]
"""The settings made so far on a crystal, in order."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Independent errors of standard deviation ``sd`` on every value of every reading."""

    sd: float
    key: bytes

    def of_record(self, number: int, values: Mapping[str, float]) -> dict[str, float]:
        """What measurement ``number`` (from 0) shows of ``values``."""
        return self._shown({"record": number}, values)

    def after(self, history: History, values: Mapping[str, float]) -> dict[str, float]:
        """What the manipulator shows of ``values`` after ``history``, empty for the opening."""
        settings = [[name, value] for name, value in history]
        return self._shown({"step": len(settings), "settings": settings}, values)

    def _shown(self, moment: object, values: Mapping[str, float]) -> dict[str, float]:
        text = canonical(moment)
        return {
            node: rounded(value + self.sd * self._error(text, node))
            for node, value in values.items()
        }

    def _error(self, moment: str, node: str) -> float:
        """In standard deviations."""
        told = canonical([moment, node]).encode("utf-8")
        digest = hmac.new(self.key, told, hashlib.sha256).digest()
        total = sum(int.from_bytes(digest[2 * k : 2 * k + 2], "big") for k in range(DRAWS))
        return total / (1 << 16) - DRAWS / 2
