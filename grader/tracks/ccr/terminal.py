"""ccr in the terminal: the classes of compositional reasoners."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from grader.show.words import number


def taxonomy(track: Mapping[str, Any]) -> Table:
    """Shares of the four classes of compositional reasoners, and what is complete."""
    metrics = track["metrics"]
    table = Table(title="compositional reasoning", title_justify="left", title_style="bold")
    table.add_column("level")
    for column in ("n", "VC", "VI", "IC", "II", "complete", "pairs valid", "violations"):
        table.add_column(column, justify="right")
    for level in ("compositions", "contexts"):
        only = level == "contexts"
        cells = [number(metrics.get(f"{level}_{name}")) for name in ("vc", "vi", "ic", "ii")]
        more = ("complete_share", "pairs_valid", "monotonicity_violations")
        table.add_row(
            level,
            number(metrics.get(level), 0),
            *cells,
            *(number(metrics.get(name)) if only else "" for name in more),
        )
    return table
