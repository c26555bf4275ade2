"""The ccr tables: points, shares of the four classes of reasoners, single cases, error curves."""

from collections.abc import Sequence
from typing import Final

from grader.draw.table import Cell, Table, figure
from grader.draw.words import count, number, points
from grader.show.systems import SYSTEM, Part, Report, part_of

THRESHOLD: Final = 0.1
"""The relative error up to which an answer is valid."""
_CLASSES: Final = ("VC", "VI", "IC", "II")


def of_report(report: Report) -> list[Table]:
    """What a redacted report keeps is enough for it."""
    return [taxonomy(part_of(report, "ccr"))]


def taxonomy(part: Part) -> Table:
    """Shares of the four classes of compositional reasoners, and what is complete."""
    metrics = part["metrics"]
    whole = ("complete_share", "pairs_valid", "monotonicity_violations")
    rows = [
        [
            level,
            count(metrics.get(level)),
            *(number(metrics.get(f"{level}_{name.lower()}")) for name in _CLASSES),
            *(number(metrics.get(name)) if level == "contexts" else "" for name in whole),
        ]
        for level in ("compositions", "contexts")
    ]
    head = ["level", "n", *_CLASSES, "complete", "pairs valid", "violations"]
    return Table("compositional reasoning", head, rows)


def classes(parts: Sequence[Part]) -> Table:
    """Points by kind of task, and the classes of compositions."""
    kinds = ("simulation", "direct", "deductive")
    columns = (
        SYSTEM,
        figure("points", "points", points),
        *(figure(("metrics", f"points_{kind}"), kind, points) for kind in kinds),
        *(figure(("metrics", f"compositions_{name.lower()}"), name) for name in _CLASSES),
        figure(("metrics", "complete_share"), "complete"),
        figure(("metrics", "pairs_valid"), "pairs valid"),
    )
    return Table.of("Points, and classes of compositions", columns, parts)


def single_cases(parts: Sequence[Part]) -> Table:
    """How often answers to single cases are right, and how often they contradict each other."""
    rungs = {"factual": "factual", "do_true": "do true", "do_false": "do false"}
    columns = (
        SYSTEM,
        figure("points", "points", points),
        *(figure(("metrics", f"accuracy_{key}"), f"acc. {name}") for key, name in rungs.items()),
        figure(("metrics", "monotonicity_violations"), "violations"),
    )
    return Table.of("Single cases", columns, parts)


def curves(parts: Sequence[Part]) -> Table:
    """Mean error of the pairs by number of mediating variables (CCR Fig. 9)."""
    found = [
        {
            row["level"]: row["mean_rae"]
            for row in part.get("details", {}).get("curves", [])
            if row["axis"] == "mediators"
        }
        for part in parts
    ]
    levels = sorted({level for row in found for level in row})
    rows = [
        [SYSTEM.cell(part), *(_error(row.get(level)) for level in levels)]
        for part, row in zip(parts, found, strict=True)
    ]
    note = "mediating variables between cause and effect; green: at most 0.1"
    return Table("Mean error", ["system", *map(str, levels)], rows, note=note)


def _error(error: float | None) -> Cell:
    return Cell(number(error), "good" if error is not None and error <= THRESHOLD else "")
