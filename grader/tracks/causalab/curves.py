"""The paper's curves over graph sizes and budgets, and what a change of the main suite does."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from grader.draw.charts import Cloud, Level, lines, radar, square
from grader.draw.page import Block
from grader.draw.svg import Svg
from grader.draw.table import Cell, Table
from grader.draw.words import number, signed
from grader.show.systems import SYSTEM, Part

Rates = Mapping[str, Any]

METRICS: Final = {
    "accuracy": "task accuracy",
    "edge_f1_full": "all-edge F1",
    "freq_edge_f1": "freq. edge F1",
    "coefficient_f1": "coefficient F1",
    "root_f1": "root F1",
    "skeleton_f1": "skeleton F1",
}
"""What is drawn, all-pairs edge F1 before anything else of the graph."""

_MAIN: Final = re.compile(r"main-(\d+) \S+")
_SCALING: Final = re.compile(r"(\d+)o(\d+)i-(\d+) \S+")
_VARIED: Final = re.compile(r"(.+?)(?:-(\d+))?(-wide)? \d+o\d+i")
_BASE_SIZE: Final = 4
"""The size of suites whose names have none (hidden and quadratic ones)."""
_DRAWN: Final = 6


def by_size(parts: Sequence[Part]) -> list[Block]:
    """Figure 10: each figure over the graph sizes of the main suites; and the gap between the first
    two systems (Figure 5)."""
    found = [(part["system"], _main(part)) for part in parts[:_DRAWN]]
    sizes = sorted({size for _, suites in found for size in suites})
    if len(sizes) < 2:
        return []
    names = [f"{size} nodes" for size in sizes]
    pictures: list[Block] = [
        _captioned(
            lines,
            label,
            names,
            [
                (name, [Level(suites[s][key]) if s in suites else None for s in sizes])
                for name, suites in found
            ],
            ceiling=1,
        )
        for key, label in METRICS.items()
    ]
    return [*pictures, *([_gap(found, sizes)] if len(found) > 1 else [])]


def _captioned(draw: Callable[..., Svg], caption: str, *parts: Any, **more: Any) -> Svg:
    """A picture under its title."""
    return replace(draw(caption, *parts, **more), caption=caption)


def _gap(found: Sequence[tuple[str, Mapping[int, Rates]]], sizes: Sequence[int]) -> Table:
    """Figure 5: the first system minus each other one, in percentage points."""
    (first, best), *others = found
    rows: list[list[str | Cell]] = [
        [Cell(name, "name"), label,
         *(signed(100 * (best[s][key] - suites[s][key])) if s in best and s in suites else "–"
           for s in sizes)]
        for name, suites in others
        for key, label in METRICS.items()
    ]  # fmt: skip
    head = ["system", "figure", *(f"{size} nodes" for size in sizes)]
    note = f"{first} minus the system, percentage points."
    return Table("Gap by graph size", head, rows, left=2, note=note)


def radars(parts: Sequence[Part]) -> list[Block]:
    """Figure 6: for each size of the main suites, all figures of all systems."""
    found = [(part["system"], _main(part)) for part in parts[:_DRAWN]]
    blocks: list[Block] = []
    for size in sorted({size for _, suites in found for size in suites}):
        series = [
            (name, [suites[size][key] or 0.0 for key in METRICS])
            for name, suites in found
            if size in suites
        ]
        blocks.append(_captioned(radar, f"{size} nodes", [*METRICS.values()], series))
    return blocks


def scaling(parts: Sequence[Part]) -> list[Block]:
    """Figures 12 and 13: accuracy and all-edge F1 over the budgets of observation and intervention,
    by graph size."""
    found = {}
    for part in parts[:_DRAWN]:
        for label, rates in part["suites"].items():
            if (match := _SCALING.fullmatch(label)) is not None:
                observed, set_by_hand, size = map(int, match.groups())
                kind = (observed > 0) + 2 * (set_by_hand > 0)
                place = (size, kind, observed + set_by_hand, f"{observed}o{set_by_hand}i")
                found[place, part["system"]] = rates
    blocks: list[Block] = []
    for size in sorted({place[0] for place, _ in found}):
        places = sorted({place for place, _ in found if place[0] == size})
        for key in ("accuracy", "edge_f1_full"):
            series = [
                (
                    part["system"],
                    [
                        None if (at := found.get((p, part["system"]))) is None else Level(at[key])
                        for p in places
                    ],
                )
                for part in parts[:_DRAWN]
            ]
            told = f"{METRICS[key]}, {size} nodes"
            across = "records shown (o) and interventions (i)"
            names = [place[3] for place in places]
            blocks.append(_captioned(lines, told, names, series, 1, across))
    return blocks


def against_main(parts: Sequence[Part]) -> list[Block]:
    """Tables 3 to 6, Figures 2, 4, 8 and 9: what a change of the main suite does to a system."""
    rows: list[list[str | Cell]] = []
    clouds = []
    for part in parts[:_DRAWN]:
        main, points, arrows = _main(part), [], []
        for size, rates in main.items():
            points.append((_spot(rates), f"{part['system']}, main-{size}"))
        for label, rates in part["suites"].items():
            base = main.get(_varied(label) or 0)
            if base is None:
                continue
            told = f"{part['system']}, {label}"
            points.append((_spot(rates), told))
            arrows.append((_spot(base), _spot(rates), told))
            cells = [
                Cell(number(rates[key]), aside=signed(rates[key] - base[key], 3)) for key in METRICS
            ]
            rows.append([SYSTEM.cell(part), label, str(rates["tasks"]), *cells])
        clouds.append(Cloud(part["system"], points, arrows))
    if not rows:
        return []
    axis = "task accuracy (up: all-edge F1)"
    note = "Beside each figure its difference to the main suite of the same size."
    head = ["system", "suite, regime", "tasks", *METRICS.values()]
    return [
        square("the main suite and its variations", clouds, axis),
        Table("Against the main suite", head, rows, left=2, note=note),
    ]


def _spot(rates: Rates) -> tuple[float, float]:
    return rates["accuracy"], rates["edge_f1_full"]


def _main(part: Part) -> dict[int, Rates]:
    """The main suites of the reference setting by graph size."""
    found = {}
    for label, rates in part["suites"].items():
        if (match := _MAIN.fullmatch(label)) is not None:
            found[int(match.group(1))] = rates
    return found


def _varied(label: str) -> int | None:
    """The size of the main suite that a suite varies; ``None`` for main and scaling suites."""
    if _MAIN.fullmatch(label) or _SCALING.fullmatch(label):
        return None
    match = _VARIED.fullmatch(label)
    if match is None or match.group(3):
        return None
    name, size = match.group(1), match.group(2)
    return _BASE_SIZE if size is None or name.startswith("hidden") else int(size)
