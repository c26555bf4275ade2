"""The ``[splits.<name>.replayscm]`` table of a split file, checked before any work starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from grader.errors import UsageError
from grader.names import did_you_mean

_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class Config:
    """How many records.

    Either the paper's matched design (``full`` records in each full pool, ``matched`` programs in
    all pools), or ``per_pool`` records in every pool, each of a program of its own.
    """

    full: int
    matched: int
    per_pool: int


def parse_config(table: Mapping[str, object], where: str) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    known = ("full", "matched", "per_pool")
    for key in table:
        if key not in known:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, known)}")
    if "per_pool" in table:
        if len(table) > 1:
            raise UsageError(
                f"{where}.per_pool: excludes full and matched; keep per_pool (every program in "
                "one record) or the other two (pools that share programs)"
            )
        return Config(0, 0, _whole(table["per_pool"], 1, f"{where}.per_pool"))
    for key in ("full", "matched"):
        if key not in table:
            raise UsageError(
                f"{where}.{key}: missing; write full = 250 and matched = 100, or per_pool = 40"
            )
    full = _whole(table["full"], 1, f"{where}.full")
    matched = _whole(table["matched"], 0, f"{where}.matched")
    if matched > full:
        raise UsageError(
            f"{where}.matched: {matched} is more than full = {full}; matched programs are in the "
            "full pools too, so lower it"
        )
    return Config(full, matched, 0)


def _whole(value: object, low: int, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= _MOST:
        raise UsageError(f"{where}: must be a whole number from {low} to {_MOST}, not {value!r}")
    return value
