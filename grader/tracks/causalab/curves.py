"""The paper's curves over graph sizes and budgets, and what a change of the main suite does."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from grader.draw.charts import Cloud, Dot, DotRow, Level, dot_rows, lines, radar, square
from grader.draw.page import Block, Fold
from grader.draw.svg import Svg
from grader.draw.table import Cell, Table
from grader.draw.words import number, signed
from grader.show.systems import SYSTEM, Part

Rates = Mapping[str, Any]

METRICS: Final = {
    "accuracy": "task accuracy",
    "edge_f1": "all-edge F1",
    "freq_edge_f1": "freq. edge F1",
    "coefficient_f1": "coefficient F1",
    "root_f1": "root F1",
    "skeleton_f1": "skeleton F1",
}
"""What is drawn, edge F1 before anything else of the graph."""

_MAIN: Final = re.compile(r"main-(\d+) (\d+)o(\d+)i")
_SCALING: Final = re.compile(r"(\d+)o(\d+)i-(\d+) \S+")
_OTHER: Final = re.compile(r"\S+ (\d+)o(\d+)i")
_VARIED: Final = re.compile(r"(.+?)(?:-(\d+))?(-wide)? \d+o\d+i")
_BASE_SIZE: Final = 4
"""The size of suites whose names have none (hidden and quadratic ones)."""
_DRAWN: Final = 6
_CORNERS: Final = 3
"""The fewest graph sizes that make a figure with corners."""


def by_size(parts: Sequence[Part]) -> list[Block]:
    """Figure 10: each figure over the graph sizes of the main suites; and the gap between the first
    system and each other one (Figure 5)."""
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
    return [*pictures, *(_gap(found, sizes) if len(found) > 1 else [])]


def _captioned(draw: Callable[..., Svg], caption: str, *parts: Any, **more: Any) -> Svg:
    """A picture under its title."""
    return replace(draw(caption, *parts, **more), caption=caption)


def _gap(found: Sequence[tuple[str, Mapping[int, Rates]]], sizes: Sequence[int]) -> list[Block]:
    """Figure 5: the first system minus each other one, in percentage points; the first that there
    is a gap to is drawn."""
    (first, best), *others = found
    gaps = {
        (name, key): [best[s][key] - suites[s][key] if s in best and s in suites else None
                      for s in sizes]
        for name, suites in others
        for key in METRICS
    }  # fmt: skip
    rows: list[list[str | Cell]] = [
        [Cell(name, "name"), METRICS[key],
         *("–" if gap is None else signed(100 * gap) for gap in row)]
        for (name, key), row in gaps.items()
    ]  # fmt: skip
    names = [f"{size} nodes" for size in sizes]
    note = f"{first} minus the system, percentage points."
    table = Table("Gap by graph size", ["system", "figure", *names], rows, left=2, note=note)
    apart = (name for (name, _), row in gaps.items() if any(row))
    second = next(apart, others[0][0])
    drawn = {key: gaps[second, key] for key in METRICS}
    shown = [
        DotRow(METRICS[key], [Dot(k, gap) for k, gap in enumerate(row) if gap is not None])
        for key, row in drawn.items()
    ]
    least = min((gap for row in drawn.values() for gap in row if gap is not None), default=0)
    start = min(0, math.floor(5 * least) / 5)
    return [_captioned(dot_rows, f"{first} minus {second}", shown, names, start=start), table]


def radars(parts: Sequence[Part]) -> list[Block]:
    """Figure 6: all systems in each figure of the main suites, a vertex for each graph size; SHD is
    a share of the largest there is."""
    found = [(part["system"], _main(part)) for part in parts[:_DRAWN]]
    sizes = sorted({size for _, suites in found for size in suites})
    whole = [(name, suites) for name, suites in found if suites.keys() >= {*sizes}]
    if len(sizes) < _CORNERS or not whole:
        return []
    names = [f"{size} nodes" for size in sizes]
    worst = max(suites[size]["shd"] for _, suites in whole for size in sizes)
    shares = [(key, label, 1.0) for key, label in METRICS.items()]
    shares += [("shd", f"SHD as a share of {number(worst)}, lower is better", worst or 1.0)]
    return [
        _captioned(
            radar,
            label,
            names,
            [(name, [(suites[s][key] or 0) / most for s in sizes]) for name, suites in whole],
        )
        for key, label, most in shares
    ]


Regimes = Mapping[str, Mapping[str, Mapping[int, tuple[str, Rates]]]]
"""Family of suites -> what is varied -> how much of it -> the regime and its rates."""


def _regimes(part: Part) -> Regimes:
    """The suites of a system that differ in observation and intervention alone: those of the
    scaling suites of a size, and any other suite that has several regimes."""
    found: dict[str, dict[str, dict[int, tuple[str, Rates]]]] = {}
    for label, rates in part["suites"].items():
        suite, _, regime = label.rpartition(" ")
        match = _SCALING.fullmatch(label) or _OTHER.fullmatch(label)
        if match is None:
            continue
        seen, budget = int(match.group(1)), int(match.group(2))
        family = suite if match.re is _OTHER else f"{match.group(3)} nodes"
        mode = f"{seen} records and interventions" if seen else "interventions"
        place = (mode, budget) if budget else ("records", seen)
        found.setdefault(family, {}).setdefault(place[0], {})[place[1]] = regime, rates
    return {
        family: {mode: dict(sorted(row.items())) for mode, row in sorted(modes.items())}
        for family, modes in sorted(found.items())
        if sum(map(len, modes.values())) > 1
    }


def scaling(parts: Sequence[Part]) -> list[Block]:
    """Figures 12 and 13: accuracy and all-edge F1 over how much is observed or set, a line for each
    mode, by family of suites."""
    blocks: list[Block] = []
    for part in parts[:_DRAWN]:
        drawn: list[Block] = []
        for family, modes in _regimes(part).items():
            steps = sorted({step for row in modes.values() for step in row})
            for key in ("accuracy", "edge_f1"):
                series = [
                    (mode, [Level(row[s][1][key]) if s in row else None for s in steps])
                    for mode, row in modes.items()
                ]
                told, across = f"{METRICS[key]}, {family}", "records, or interventions"
                drawn.append(_captioned(lines, told, [*map(str, steps)], series, 1, across))
        blocks += [Fold(part["system"], drawn, len(parts) == 1)] if drawn else []
    return blocks


def paths(parts: Sequence[Part]) -> list[Block]:
    """Figure 11: accuracy against all-edge F1 of all scaling suites, an arrow from each budget to
    the next, by mode."""
    axis = "task accuracy (up: all-edge F1)"
    blocks: list[Block] = []
    for part in parts[:_DRAWN]:
        pictures: list[Block] = []
        for family, modes in _regimes(part).items():
            clouds = []
            for mode, row in modes.items():
                spots = [(_spot(rates), f"{family}, {regime}") for regime, rates in row.values()]
                arrows = [(a, b, told) for (a, _), (b, told) in pairwise(spots)]
                clouds.append(Cloud(mode, spots, arrows))
            pictures.append(_captioned(square, f"{part['system']}, {family}", clouds, axis))
        if pictures:
            blocks.append(Fold(f"{part['system']}: regimes in order of budget", pictures))
    return blocks


STOPPING: Final = {
    "budget_share": "budget used",
    "consistent": "the final equation fits what was read",
    "premature": "predicted too early, with budget left",
}
"""What a session did before it ended (Figure 14)."""


def stopping(parts: Sequence[Part]) -> list[Block]:
    """Figure 14: of each system, sessions with a right prediction beside those with a wrong one."""
    outcomes = ("accurate", "inaccurate")
    blocks: list[Block] = []
    for part in parts[:_DRAWN]:
        rates = part["metrics"]
        rows = [
            DotRow(label, [Dot(k, rates[f"{key}_{outcome}"]) for k, outcome in enumerate(outcomes)
                           if rates[f"{key}_{outcome}"] is not None])
            for key, label in STOPPING.items()
        ]  # fmt: skip
        if any(row.dots for row in rows):
            series = ("right predictions", "wrong predictions")
            blocks.append(_captioned(dot_rows, part["system"], rows, series))
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
    return rates["accuracy"], rates["edge_f1"]


def _main(part: Part) -> dict[int, Rates]:
    """The main suites of the reference setting by graph size, in the paper's regime."""
    return {
        size: rates
        for label, rates in part["suites"].items()
        if (size := _papers_main(label)) is not None
    }


def _papers_main(label: str) -> int | None:
    """The size of a main suite with two records and a budget of 4(k - 1) (A.1), else ``None``."""
    match = _MAIN.fullmatch(label)
    size, seen, budget = map(int, match.groups()) if match else (0, 0, 0)
    return size if match and (seen, budget) == (2, 4 * (size - 1)) else None


def _varied(label: str) -> int | None:
    """The size of the main suite that a suite varies; ``None`` for main and scaling suites."""
    if _papers_main(label) is not None or _SCALING.fullmatch(label):
        return None
    match = _VARIED.fullmatch(label)
    if match is None or match.group(3):
        return None
    name, size = match.group(1), match.group(2)
    return _BASE_SIZE if size is None or name.startswith("hidden") else int(size)
