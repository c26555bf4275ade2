"""The ``[splits.<name>.replayscm]`` table of a split file, checked before any work starts."""

from dataclasses import dataclass, replace
from typing import Any, Final

from builder.replayscm.make.generation import BASE, OPERATORS, PAPER, Generation
from builder.settings import TomlTable

_MOST: Final = 100_000
_RANGES: Final = {"variables": (4, 10), "sizes": (2, 40), "depths": (1, 20), "rows": (2, 16)}
"""What may be asked of programs and worlds: least and most."""
_COUNTS: Final = {"proposals": (8, 2_000), "scored_worlds": (1, 8), "scored_cells": (1, 128)}
_COHORT: Final = (
    *_RANGES, *_COUNTS, "operators", "survivor_reduction", "disambiguation",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Config:
    """How many records.

    Of the paper's pools either the matched design (``full`` records in each full pool, ``matched``
    programs in all pools), or ``per_pool`` records in every pool, each of a program of its own.
    ``shifted``: inductions have further held-out worlds under other root distributions. ``base``
    programs of another cohort, by default one that is not disambiguated; ``generation`` and
    ``base_generation`` say how those of the paper's pools and those of the other cohort are drawn.
    """

    full: int
    matched: int
    per_pool: int
    shifted: bool = False
    base: int | None = None
    generation: Generation | None = None
    base_generation: Generation | None = None


def parse_config(table: TomlTable) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    table.only(
        "full", "matched", "per_pool", "shifted", "base", "generation", "base_generation",
    )  # fmt: skip
    ours = (
        table.flag("shifted", False),
        table.whole("base", 1, _MOST) if "base" in table else None,
        _cohort(table, "generation", PAPER),
        _cohort(table, "base_generation", BASE),
    )
    if "base_generation" in table and "base" not in table:
        raise table.problem("base_generation", "there is no such cohort; write base = 100 too")
    if "per_pool" in table:
        if "full" in table or "matched" in table:
            raise table.problem(
                "per_pool",
                "excludes full and matched; keep per_pool (every program in one record) or the "
                "other two (pools that share programs)",
            )
        return Config(0, 0, table.whole("per_pool", 1, _MOST), *ours)
    full, matched = table.whole("full", 1, _MOST), table.whole("matched", 0, _MOST)
    if matched > full:
        raise table.problem(
            "matched",
            f"{matched} is more than full = {full}; matched programs are in the full pools too, "
            "so lower it",
        )
    return Config(full, matched, 0, *ours)


def _cohort(table: TomlTable, key: str, usual: Generation) -> Generation | None:
    """How a cohort is drawn, where that is said; what is left out is as in ``usual``."""
    if key not in table:
        return None
    told = table.table(key)
    told.only(*_COHORT)
    found: dict[str, Any] = {
        name: told.whole_range(name, low, high)
        for name, (low, high) in _RANGES.items()
        if name in told
    }
    found |= {
        name: told.whole(name, low, high) for name, (low, high) in _COUNTS.items() if name in told
    }
    if "operators" in told:
        found["operators"] = told.names("operators", OPERATORS)
        if found["operators"] == ("not",):
            raise told.problem("operators", "one of and, or, xor and iff must join the parents")
    found["survivor_reduction"] = told.share("survivor_reduction", usual.survivor_reduction)
    found["disambiguation"] = told.flag("disambiguation", usual.disambiguation)
    return replace(usual, **found)
