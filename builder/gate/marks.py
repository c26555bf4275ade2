"""Marks of many rows in little memory: of a release the gate holds numbers, no texts."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.uint64]

_DIGITS: Final = 16
_VALUES: Final = np.full(256, 255, dtype=np.uint8)
_VALUES[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16, dtype=np.uint8)


def numbers(ids: pa.Array) -> Numbers:
    """The hexadecimal digits after the prefix of each public id as a number, shape (n,); of what is
    no such id, a hash. Ids with different digits have different numbers, but for those."""
    texts = ids.to_pylist()
    if len({len(text) for text in texts}) == 1 and len(texts[0]) > _DIGITS and texts[0].isascii():
        tails = np.array(texts, dtype=f"S{len(texts[0])}").view(np.uint8).reshape(len(texts), -1)
        digits = _VALUES[tails[:, -_DIGITS:]]
        if (digits < 16).all() and (tails[:, -_DIGITS - 1] == ord("-")).all():
            packed = digits[:, ::2] << 4 | digits[:, 1::2]
            return packed.copy().view(">u8").astype(np.uint64).reshape(-1)
    return np.array([_hash(text.rpartition("-")[2]) for text in texts], dtype=np.uint64)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")


def all_different(pieces: Iterable[Numbers]) -> bool:
    """Whether no number is there twice."""
    found = np.concatenate([np.empty(0, np.uint64), *pieces])
    found.sort()
    return not (found[1:] == found[:-1]).any()


class Repeats:
    """Finds what is in two parts by marks of 32 hexadecimal digits: of each eight bytes are kept,
    and looked up again (``lookup(part)`` gives its marks and names) where those are alike."""

    def __init__(self, lookup: Callable[[int], Sequence[Sequence[str]]]) -> None:
        self._lookup = lookup
        self._marks: list[tuple[int, Numbers]] = []

    def add(self, part: int, marks: Sequence[Sequence[str]]) -> None:
        """Adds the marks of a part, each first in its row."""
        numbers = np.array([int(mark[0][:16], 16) for mark in marks], dtype=np.uint64)
        self._marks.append((part, numbers))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Names of what has one mark, the one of the later part first."""
        marks = np.concatenate([np.empty(0, np.uint64), *(marks for _, marks in self._marks)])
        marks.sort()
        alike = np.unique(marks[1:][marks[1:] == marks[:-1]])
        suspects = [part for part, own in self._marks if len(alike) and np.isin(own, alike).any()]
        first: dict[str, str] = {}
        for part in sorted(suspects):
            for mark, name in self._lookup(part):
                if first.setdefault(mark, name) != name:
                    yield name, first[mark]


class SetSum:
    """A number for a set of texts, whatever their order: the sum of their hashes.

    Sets that differ by accident have different sums: two chances in 2^256.
    """

    MODULUS: Final = 1 << 256

    def __init__(self) -> None:
        self.value = 0

    def add(self, parts: Sequence[str]) -> None:
        """Adds one text, given in parts."""
        told = hashlib.sha256("\0".join(parts).encode("utf-8")).digest()
        self.value = (self.value + int.from_bytes(told, "big")) % self.MODULUS
