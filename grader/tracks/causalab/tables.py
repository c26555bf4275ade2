"""The functions that ``page.toml`` names: rows and charts of CausaLab.

The main suites are those of the reference setting with two records and a budget of 4(k - 1) for k
nodes (A.1). Regimes of a suite differ in observation and intervention alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from grader.laboratory.hypothesis import write_hypothesis
from grader.pages.charts import Cloud, Dot, DotRow, Level, clouds, dot_rows, lines
from grader.pages.graph import Explanation, Graph, Kind, proofs
from grader.pages.page import Block, Fold
from grader.pages.specification import Specification, TrackPages
from grader.pages.svg import Axis, Point, Svg
from grader.pages.systems import SYSTEM, Part, rows_of
from grader.pages.table import Cell, Table
from grader.pages.words import edge_changes, number, signed_number
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.shape import Task
from grader.tracks.causalab.session_page import session_page
from grader.tracks.causalab.shapes import true_hypothesis

Rates = Mapping[str, Any]

METRICS: Final = {
    "accuracy": "task accuracy",
    "edge_f1": "all-edge F1",
    "freq_edge_f1": "freq. edge F1",
    "coefficient_f1": "coefficient F1",
    "root_f1": "root F1",
    "skeleton_f1": "skeleton F1",
}
"""The figures that are drawn, with their names; edge F1 comes before all else of the graph."""

STOPPING: Final = {
    "budget_share": "budget used",
    "consistent": "the final equation fits what was read",
    "premature": "predicted too early, with budget left",
}
"""The figures of stopping, with their names (Figure 14)."""

_MAIN: Final = re.compile(r"main-(\d+) (\d+)o(\d+)i")
_SCALING: Final = re.compile(r"(\d+)o(\d+)i-(\d+) \S+")
_OTHER: Final = re.compile(r"\S+ (\d+)o(\d+)i")
_VARIED: Final = re.compile(r"(.+?)(?:-(\d+))? \d+o\d+i")
_BASE_SIZE: Final = 4
"""The size of suites whose names have none (hidden and quadratic ones)."""
_DRAWN: Final = 6
_ACROSS, _UPWARDS = Axis("task accuracy"), Axis("all-edge F1")


def experimenting(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the rows of suites in which interventions were made, of all systems."""
    return [row for row in rows_of(parts, "suites") if row["used"]]


def _spot(rates: Rates) -> Point:
    """Return a suite's place in the figure: (task accuracy, all-edge F1)."""
    return rates["accuracy"], rates["edge_f1"]


def accuracy_against_edges(parts: Sequence[Part]) -> list[Svg]:
    """Draw task accuracy against all-edge F1, a mark per suite and regime (Figure 3).

    Where a system has both regimes of a graph size, an arrow leads from the mean of observation
    only to the mean of observation with intervention.
    """
    found = []
    for part in parts:
        name = part["system"]
        points = [
            (_spot(rates), f"{name}, {label}: {rates['accuracy']:.3f}, {rates['edge_f1']:.3f}")
            for label, rates in part["suites"].items()
        ]
        arrows = [
            (start, end, f"{name}, {size} nodes: observation only to mixed")
            for size, start, end in _regime_means(part["suites"])
        ]
        found.append(Cloud(name, points, arrows))
    return [clouds("task accuracy against edge F1", found, _ACROSS, _UPWARDS)]


def _regime_means(suites: Mapping[str, Rates]) -> Iterator[tuple[str, Point, Point]]:
    """Yield (nodes as text, mean place observed, mixed) of scaling suites with both regimes."""
    found: dict[str, tuple[list[Rates], list[Rates]]] = {}
    for label, rates in suites.items():
        if (match := _SCALING.fullmatch(label)) and int(match[1]):
            found.setdefault(match[3], ([], []))[int(match[2]) > 0].append(rates)
    for nodes, (observed, mixed) in sorted(found.items()):
        if observed and mixed:
            yield nodes, _mean(observed), _mean(mixed)


def _mean(rows: Sequence[Rates]) -> Point:
    """Return (task accuracy, all-edge F1) over the tasks of all rows."""
    tasks = sum(row["tasks"] for row in rows)
    accuracy, f1 = (
        sum(row[key] * row["tasks"] for row in rows) / tasks for key in ("accuracy", "edge_f1")
    )
    return accuracy, f1


def _sizes(parts: Sequence[Part]) -> tuple[list[int], list[tuple[str, dict[int, Rates]]]]:
    """Return, of the first ``_DRAWN`` parts alone, the sorted sizes of their main suites, and
    (system, rates by size) of each.
    """
    found = [(part["system"], _main(part)) for part in parts[:_DRAWN]]
    return sorted({size for _, suites in found for size in suites}), found


def by_size(parts: Sequence[Part]) -> list[Svg]:
    """Draw each figure over the sizes of the main suites (Figures 6 and 10); [] without two."""
    sizes, found = _sizes(parts)
    names = [f"{size} nodes" for size in sizes]
    drawn = []
    for key, label in {**METRICS, "shd": "SHD, lower is better"}.items():
        series = [
            (name, [Level(suites[size][key]) if size in suites else None for size in sizes])
            for name, suites in found
        ]
        ceiling = None if key == "shd" else 1
        drawn.append(lines(label, names, series, ceiling).with_caption(label))
    return drawn if len(sizes) > 1 else []


def gaps(parts: Sequence[Part]) -> list[Block]:
    """Return the first system minus each other, in percentage points, by size (Figure 5).

    Above the table the first other that differs is drawn. [] without two systems and two sizes.
    """
    sizes, ((first, best), *others) = _sizes(parts)
    if not others or len(sizes) < 2:
        return []
    found = {
        (name, key): {s: best[s][key] - suites[s][key] for s in sizes if s in best and s in suites}
        for name, suites in others
        for key in METRICS
    }
    rows = [
        (
            [Cell(name, "name"), METRICS[key]],
            {s: signed_number(100 * gap) for s, gap in row.items()},
        )
        for (name, key), row in found.items()
    ]
    note = f"{first} minus the system, percentage points, by number of nodes."
    table = Table.pivot("Gap by graph size", ["system", "figure"], sizes, rows, note)
    second = next((name for (name, _), row in found.items() if any(row.values())), others[0][0])
    drawn = [
        DotRow(METRICS[key], [Dot(sizes.index(s), gap) for s, gap in found[second, key].items()])
        for key in METRICS
    ]
    names = [f"{size} nodes" for size in sizes]
    title = f"{first} minus {second}"
    return [dot_rows(title, drawn, names, start=-1).with_caption(title), table]


Regimes = Mapping[str, Mapping[str, Mapping[int, tuple[str, Rates]]]]
"""Family of suites -> what is varied -> how much of it -> the regime and its rates."""


def _regimes(part: Part) -> Regimes:
    """Return the families of suites with several regimes: sorted by family, mode and amount."""
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
    """Draw accuracy and edge F1 of each family over records or interventions (Figures 12, 13)."""
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
                title, across = f"{METRICS[key]}, {family}", "records, or interventions"
                drawn.append(
                    lines(title, [*map(str, steps)], series, 1, across).with_caption(title)
                )
        blocks += [Fold(part["system"], drawn, len(parts) == 1)] if drawn else []
    return blocks


def paths(parts: Sequence[Part]) -> list[Block]:
    """Draw accuracy against edge F1, an arrow from each budget to the next (Figure 11)."""
    blocks: list[Block] = []
    for part in parts[:_DRAWN]:
        drawn: list[Block] = []
        for family, modes in _regimes(part).items():
            found = []
            for mode, row in modes.items():
                spots = [(_spot(rates), f"{family}, {regime}") for regime, rates in row.values()]
                arrows = [(a, b, hover) for (a, _), (b, hover) in pairwise(spots)]
                found.append(Cloud(mode, spots, arrows))
            title = f"{part['system']}, {family}"
            drawn.append(clouds(title, found, _ACROSS, _UPWARDS).with_caption(title))
        blocks += [Fold(f"{part['system']}: regimes in order of budget", drawn)] if drawn else []
    return blocks


def stopping(parts: Sequence[Part]) -> list[Block]:
    """Draw figures of stopping after right and wrong predictions, a chart a system (Figure 14)."""
    blocks: list[Block] = []
    for part in parts[:_DRAWN]:
        rows = []
        for key, label in STOPPING.items():
            ends = [part["metrics"][f"{key}_{outcome}"] for outcome in ("accurate", "inaccurate")]
            rows.append(
                DotRow(label, [Dot(k, end) for k, end in enumerate(ends) if end is not None])
            )
        if any(row.dots for row in rows):
            series = ("right predictions", "wrong predictions")
            blocks.append(dot_rows(part["system"], rows, series).with_caption(part["system"]))
    return blocks


def against_main(parts: Sequence[Part]) -> list[Block]:
    """Return suites beside their main suite (Tables 3 to 6, Figures 2, 4, 8, 9); or []."""
    rows, found = [], []
    for part in parts[:_DRAWN]:
        name, main = part["system"], _main(part)
        points = [(_spot(rates), f"{name}, main-{size}") for size, rates in main.items()]
        arrows = []
        for label, rates in part["suites"].items():
            base = main.get(_size_of_base(label) or 0)
            if base is None:
                continue
            points.append((_spot(rates), f"{name}, {label}"))
            arrows.append((_spot(base), _spot(rates), f"{name}, {label}"))
            cells = [
                Cell(number(rates[key]), aside=signed_number(rates[key] - base[key], 3))
                for key in METRICS
            ]
            rows.append([Cell(part[SYSTEM], "name"), label, str(rates["tasks"]), *cells])
        found.append(Cloud(name, points, arrows))
    note = "Beside each figure its difference to the main suite of the same size."
    head = ["system", "suite, regime", "tasks", *METRICS.values()]
    picture = clouds("the main suite and its variations", found, _ACROSS, _UPWARDS)
    table = Table("Against the main suite", head, rows, left=2, note=note)
    return [picture, table] if rows else []


def _main(part: Part) -> dict[int, Rates]:
    """Return the rates of the main suites by graph size."""
    sizes = {_main_size(label): rates for label, rates in part["suites"].items()}
    return {size: rates for size, rates in sizes.items() if size is not None}


def _main_size(label: str) -> int | None:
    """Return the nodes of "suite regime" if main: two records, a budget of 4(k - 1); or None."""
    match = _MAIN.fullmatch(label)
    size, seen, budget = map(int, match.groups()) if match else (0, 0, 0)
    return size if match and (seen, budget) == (2, 4 * (size - 1)) else None


def _size_of_base(label: str) -> int | None:
    """Return the size of the main suite that a suite varies; None for main, scaling, wide."""
    match = _VARIED.fullmatch(label)
    if match is None or _main_size(label) is not None or _SCALING.fullmatch(label):
        return None
    name, size = match.groups()
    if name.endswith("-wide"):
        return None
    return _BASE_SIZE if size is None or name.startswith("hidden") else int(size)


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return the hidden mechanism as a graph with its equations, all from the truth row."""
    equations = truth.target["equations"]
    edges = [(term["parent"], child) for child, terms in equations.items() for term in terms]
    nodes = list(dict.fromkeys([*(a for a, _ in edges), *equations]))
    kinds: dict[str, Kind] = {"frequency": "outcome"} if "frequency" in equations else {}
    facts = [(child, _sum(terms)) for child, terms in sorted(equations.items()) if terms]
    return Explanation(Graph(nodes, edges, kinds), {}, facts, proofs(__file__)["session"])


def _sum(terms: list[Mapping[str, Any]]) -> str:
    """Return the right-hand side of an equation as text; its base is written "base"."""
    parts = []
    for term in terms:
        if term["linear"]:
            parts.append(f"{term['linear']:g}·{term['parent']}")
        if term["quadratic"]:
            parts.append(f"{term['quadratic']:g}·{term['parent']}²")
    return "base + " + " + ".join(parts)


def diagnose(task: Task, truth: Truth, checked: CheckedAnswer) -> list[tuple[str, str]]:
    """Return lines on a session's last hypothesis: edges, and terms of the wrong sign."""
    session = checked.answer.laboratory
    episode, stated = session.episode, session.final_hypothesis
    written = write_hypothesis(episode.target, episode.family, (), stated.base, stated.terms)
    given, true = written["coefficients"], true_hypothesis(episode)["coefficients"]
    signs = [f"{n} {given[n]:g}, not {x:g}" for n, x in true.items() if (given.get(n) or 0) * x < 0]
    lines = [("edges", edge_changes(stated.edges, episode.edges))]
    return [*lines, ("wrong sign", "; ".join(signs))] if signs else lines


SPECIFICATION: Final = Specification.read(Path(__file__).with_name("page.toml"), globals())


PAGES: Final = TrackPages(
    explain_task=explain_task,
    diagnose=diagnose,
    draw_answer=lambda task, truth, verified: session_page(verified.answer.laboratory),
    tables=SPECIFICATION.in_terminal,
    sections=SPECIFICATION.of_reports,
)
