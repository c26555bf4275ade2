"""The ``[splits.<name>.replayscm]`` table of a split file, checked before any work starts."""

from dataclasses import dataclass
from typing import Final

from builder.settings import TomlTable

_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class Config:
    """How many records.

    Of the paper's pools either the matched design (``full`` records in each full pool, ``matched``
    programs in all pools), or ``per_pool`` records in every pool, each of a program of its own.
    ``frontier`` large programs whose evidence determines them, ``undetermined`` ones of which open
    cells are asked. ``shifted``: inductions have further held-out worlds under other root
    distributions; those of the frontier always do.
    """

    full: int
    matched: int
    per_pool: int
    frontier: int = 0
    undetermined: int = 0
    shifted: bool = False


def parse_config(table: TomlTable) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    table.only("full", "matched", "per_pool", "frontier", "undetermined", "shifted")
    ours = (
        table.whole("frontier", 0, _MOST, 0),
        table.whole("undetermined", 0, _MOST, 0),
        table.flag("shifted", False),
    )
    if "per_pool" in table:
        if "full" in table or "matched" in table:
            raise table.problem(
                "per_pool",
                "excludes full and matched; keep per_pool (every program in one record) or the "
                "other two (pools that share programs)",
            )
        return Config(0, 0, table.whole("per_pool", 1, _MOST), *ours)
    if any(ours[:2]) and "full" not in table and "matched" not in table:
        return Config(0, 0, 0, *ours)
    full, matched = table.whole("full", 1, _MOST), table.whole("matched", 0, _MOST)
    if matched > full:
        raise table.problem(
            "matched",
            f"{matched} is more than full = {full}; matched programs are in the full pools too, "
            "so lower it",
        )
    return Config(full, matched, 0, *ours)
