"""The functions that ``page.toml`` names: rows and charts of CausaLab; and the page of a session.

The main suites are those of the reference setting with two records and a budget of 4(k - 1) for k
nodes (A.1). Regimes of a suite differ in observation and intervention alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import write_hypothesis
from grader.laboratory.session import Laboratory
from grader.pages.charts import Axis, clouds, dots, lines
from grader.pages.graph import Edge, Explanation, Graph, Kind, layered_graph, proofs
from grader.pages.page import Block, Fold, Paragraph, Section, SideBySide, Strong, non_empty, page
from grader.pages.specification import Format, Specification, TrackPages
from grader.pages.svg import Point, Svg
from grader.pages.systems import SYSTEM, Part, rows_of
from grader.pages.table import Cell, Table
from grader.pages.words import edge_changes, number, signed_number
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.shape import Task
from grader.tracks.causalab import metrics
from grader.tracks.causalab.shapes import true_hypothesis
from grader.version import __version__

Rows = list[dict[str, Any]]

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
_DRAWN: Final = 6

_FORMATS: Final[Mapping[str, Format]] = {
    "beside": lambda value, base: Cell(number(value), aside=signed_number(value - base, 3))
}


def _spot(rates: Mapping[str, Any]) -> Point:
    return rates["accuracy"], rates["edge_f1"]


def _cloud(title: str, rows: Rows, arrows: Rows) -> Svg:
    spots = [{**row, "value": _spot(row)} for row in rows]
    return clouds(title, spots, Axis("task accuracy"), Axis("all-edge F1"), arrows=arrows)


def accuracy_against_edges(parts: Sequence[Part]) -> list[Svg]:
    """Draw task accuracy against all-edge F1, a mark per suite and regime (Figure 3).

    Where a system has both regimes of a graph size, an arrow leads from the mean of observation
    only to the mean of observation with intervention.
    """
    rows = [
        {**row, "series": row[SYSTEM],
         "hover": f"{row[SYSTEM]}, {row['level']}: {row['accuracy']:.3f}, {row['edge_f1']:.3f}"}
        for row in rows_of(parts, "suites")
    ]  # fmt: skip
    arrows = [
        {"series": part[SYSTEM], "from": start, "value": end,
         "hover": f"{part[SYSTEM]}, {size} nodes: observation only to mixed"}
        for part in parts
        for size, start, end in _regime_means(part["suites"])
    ]  # fmt: skip
    return [_cloud("task accuracy against edge F1", rows, arrows)]


def _regime_means(suites: Mapping[str, Any]) -> Iterator[tuple[str, Point, Point]]:
    """Yield (nodes as text, mean place observed, mixed) of scaling suites with both regimes."""
    found: dict[str, tuple[Rows, Rows]] = {}
    for label, rates in suites.items():
        if (match := _SCALING.fullmatch(label)) and int(match[1]):
            found.setdefault(match[3], ([], []))[int(match[2]) > 0].append(rates)
    for nodes, (observed, mixed) in sorted(found.items()):
        if observed and mixed:
            yield nodes, _mean(observed), _mean(mixed)


def _mean(rows: Rows) -> Point:
    """Return (task accuracy, all-edge F1) over the tasks of all rows."""
    tasks = sum(row["tasks"] for row in rows)
    accuracy, f1 = (
        sum(row[key] * row["tasks"] for row in rows) / tasks for key in ("accuracy", "edge_f1")
    )
    return accuracy, f1


def _main_size(label: str) -> int | None:
    """Return the nodes of "suite regime" if main: two records, a budget of 4(k - 1); or None."""
    match = _MAIN.fullmatch(label)
    size, seen, budget = map(int, match.groups()) if match else (0, 0, 0)
    return size if match and (seen, budget) == (2, 4 * (size - 1)) else None


def main_suites(parts: Sequence[Part]) -> Rows:
    """Return the rows of the main suites of the first ``_DRAWN`` systems, with ``size``, sorted by
    it; [] without two sizes."""
    found = ({**row, "size": _main_size(row["level"])} for row in rows_of(parts[:_DRAWN], "suites"))
    rows = sorted((row for row in found if row["size"] is not None), key=itemgetter("size"))
    return rows if len({row["size"] for row in rows}) > 1 else []


def by_size(parts: Sequence[Part]) -> list[Svg]:
    """Draw each figure over the sizes of the main suites (Figures 6 and 10); [] without two."""
    rows = [
        {**row, "series": row[SYSTEM], "level": f"{row['size']} nodes"}
        for row in main_suites(parts)
    ]
    shown = {**METRICS, "shd": "SHD, lower is better"} if rows else {}
    return [
        lines(label, [{**row, "value": row[key]} for row in rows], None if key == "shd" else 1)
        for key, label in shown.items()
    ]


def gaps(parts: Sequence[Part]) -> Rows:
    """Return the ``gap``, the first system minus each other in percentage points, by ``figure`` and
    ``size`` (Figure 5)."""
    first, *others = [part[SYSTEM] for part in parts]
    rows = {(row[SYSTEM], row["size"]): row for row in main_suites(parts)}
    return [
        {SYSTEM: name, "figure": label, "size": size, "first": first,
         "gap": 100 * (rows[first, size][key] - rows[name, size][key])}
        for name in others
        for key, label in METRICS.items()
        for size in dict.fromkeys(size for _, size in rows)
        if {(first, size), (name, size)} <= rows.keys()
    ]  # fmt: skip


def gaps_chart(parts: Sequence[Part]) -> list[Svg]:
    """Draw the gaps of the first other system that differs; [] without two systems and sizes."""
    rows = gaps(parts)
    shown = next((row for row in rows if row["gap"]), rows[0] if rows else {})
    drawn = [
        {"name": row["figure"], "series": f"{row['size']} nodes", "value": row["gap"]}
        for row in rows
        if row[SYSTEM] == shown[SYSTEM]
    ]
    return [dots(f"{shown['first']} minus {shown[SYSTEM]}", drawn, 100, -100)] if rows else []


def _regimes(part: Part) -> dict[str, Rows]:
    """Return by family of suites, if it has several regimes, their rows.

    ``series`` is what is varied, and ``level`` how much of it; rows are sorted by both.
    """
    found = defaultdict[str, Rows](list)
    for label, rates in part["suites"].items():
        suite, _, regime = label.rpartition(" ")
        match = _SCALING.fullmatch(label) or _OTHER.fullmatch(label)
        if match is None:
            continue
        seen, budget = int(match.group(1)), int(match.group(2))
        family = suite if match.re is _OTHER else f"{match.group(3)} nodes"
        mode = f"{seen} records and interventions" if seen else "interventions"
        place = {"series": mode if budget else "records", "level": budget or seen}
        found[family].append({**rates, **place, "hover": f"{family}, {regime}"})
    return {
        family: sorted(rows, key=itemgetter("series", "level"))
        for family, rows in sorted(found.items())
        if len(rows) > 1
    }


def scaling(parts: Sequence[Part]) -> list[Block]:
    """Draw accuracy and edge F1 of each family over records or interventions (Figures 12, 13)."""
    blocks: list[Block] = []
    for part in parts[:_DRAWN]:
        drawn = []
        for family, rows in _regimes(part).items():
            ordered = sorted(rows, key=itemgetter("level"))
            for key in ("accuracy", "edge_f1"):
                shown = [{**row, "value": row[key]} for row in ordered]
                title = f"{METRICS[key]}, {family}"
                drawn.append(lines(title, shown, 1, "records, or interventions"))
        blocks += [Fold(part[SYSTEM], drawn, len(parts) == 1)] if drawn else []
    return blocks


def paths(parts: Sequence[Part]) -> list[Block]:
    """Draw accuracy against edge F1, an arrow from each budget to the next (Figure 11)."""
    blocks: list[Block] = []
    for part in parts[:_DRAWN]:
        drawn = []
        for family, rows in _regimes(part).items():
            arrows = [
                {**second, "from": _spot(first), "value": _spot(second)}
                for first, second in pairwise(rows)
                if first["series"] == second["series"]
            ]
            drawn.append(_cloud(f"{part[SYSTEM]}, {family}", rows, arrows))
        blocks += [Fold(f"{part[SYSTEM]}: regimes in order of budget", drawn)] if drawn else []
    return blocks


def stopping(parts: Sequence[Part]) -> Iterator[Svg]:
    """Draw figures of stopping after right and wrong predictions, a chart a system (Figure 14)."""
    for part in parts[:_DRAWN]:
        rows = [
            {"name": label, "series": f"{outcome} predictions", "value": part["metrics"][name]}
            for key, label in STOPPING.items()
            for outcome, name in (("right", f"{key}_accurate"), ("wrong", f"{key}_inaccurate"))
        ]
        if any(row["value"] is not None for row in rows):
            yield dots(part[SYSTEM], rows)


def variations(parts: Sequence[Part]) -> Rows:
    """Return suites that vary a main suite, which is their ``base`` (Tables 3 to 6)."""
    rows = rows_of(parts[:_DRAWN], "suites")
    main = {(row[SYSTEM], size): row for row in rows if (size := _main_size(row["level"]))}
    pairs = ((row, main.get((row[SYSTEM], _size_of_base(row["level"]) or 0))) for row in rows)
    return [{**row, "base": base} for row, base in pairs if base is not None]


def against_main(parts: Sequence[Part]) -> list[Svg]:
    """Draw an arrow from each main suite to each of its variations (Figures 2, 4, 8, 9)."""
    found = variations(parts)
    main = [row for row in rows_of(parts[:_DRAWN], "suites") if _main_size(row["level"])]
    rows = [
        {**row, "series": row[SYSTEM], "hover": f"{row[SYSTEM]}, {row['level']}"}
        for row in [*main, *found]
    ]
    arrows = [
        {**row, "from": _spot(row["base"]), "value": _spot(row)} for row in rows if "base" in row
    ]
    return [_cloud("the main suite and its variations", rows, arrows)] if found else []


def _size_of_base(label: str) -> int | None:
    """Return the size of the main suite that a suite varies (4 for hidden ones, and those whose
    names have none); None for main, scaling, wide."""
    match = _VARIED.fullmatch(label)
    if match is None or _main_size(label) is not None or _SCALING.fullmatch(label):
        return None
    name, size = match.groups()
    if name.endswith("-wide"):
        return None
    return 4 if size is None or name.startswith("hidden") else int(size)


_CURVES: Final = {
    "edge_f1": "all-edge F1",
    "freq_edge_f1": "freq.-edge F1",
    "coefficient_f1": "coefficient F1",
    "root_f1": "root F1",
}

_COLUMNS: Final = {
    "edge_precision": "edge P",
    "edge_recall": "edge R",
    "edge_f1": "edge F1",
    "skeleton_f1": "skeleton F1",
    "shd": "SHD ↓",
    "freq_edge_f1": "freq. edge F1",
    "coefficient_f1": "coefficient F1",
    "base_error": "base error",
    "root_f1": "root F1",
    "class_size": "class size",
}


def session_page(laboratory: Laboratory) -> str:
    """Return the page of one session (Figure 7): true graph on the left, final hypothesis on the
    right. It shows the truth: it is for those alone who may see that."""
    episode, final = laboratory.episode, laboratory.final_hypothesis
    outcome = metrics.prediction_metrics(episode, laboratory.prediction)
    said = "none" if laboratory.prediction is None else f"{laboratory.prediction:g}"
    verdict = "within" if outcome["accurate"] else "not within"
    missing, extra = episode.edges - final.edges, final.edges - episode.edges
    legend = (
        "Solid: in both graphs. Dashed: in this one only "
        f"({len(missing)} missing, {len(extra)} extra or reversed)."
    )
    graphs = SideBySide([
        _graph(episode, "True graph", episode.edges, final.edges),
        _graph(episode, "Final hypothesis", final.edges, episode.edges),
    ])  # fmt: skip
    steps = metrics.trajectory(episode, laboratory.hypotheses)
    return page(
        episode.task_id,
        f"{episode.family}, mode {episode.mode}, {len(laboratory.readings)} of {episode.budget} "
        f"interventions; predicted {said}, true {episode.frequency:g}: {verdict} "
        f"±{episode.tolerance:g}",
        [
            Section("True graph, and final hypothesis", [graphs, Paragraph(legend, note=True)]),
            Section("Metrics by step", [_curves(steps, len(laboratory.readings))] if steps else []),
            Section("Hypotheses", non_empty(_hypotheses(laboratory, steps))),
            Section("Interventions and readings", non_empty(_readings(laboratory))),
        ],
        f"Drawn by causal-exams {__version__} from a replayed session.",
    )


def _graph(episode: Episode, title: str, edges: Set[Edge], other: Set[Edge]) -> list[Block]:
    """Draw ``edges``, dashed where ``other`` lacks one, under a title."""
    graph = Graph(episode.nodes, sorted(edges), {episode.target: "outcome"}, edges - other)
    return [Paragraph([Strong(title)]), layered_graph(graph)]


def _curves(rows: Sequence[Mapping[str, Any]], last: int) -> Svg:
    """Draw the F1s held after 0 to ``last`` interventions, from the first hypothesis on."""
    held = [[row for row in rows if row["step"] <= step][-1:] for step in range(last + 1)]
    drawn = [
        {"series": label, "level": step, "value": row[0][key] if row else None}
        for key, label in _CURVES.items()
        for step, row in enumerate(held)
    ]
    return lines("metrics by step", drawn, 1, "interventions made")


def _hypotheses(laboratory: Laboratory, steps: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of hypotheses, each with the size of the equivalence class at its step."""
    evidence = metrics.Evidence(laboratory.episode, laboratory.readings)
    sizes = metrics.equivalence_sizes(evidence)
    found = [{**row, "class_size": sizes[row["step"]]} for row in steps]
    cells = [[row[key] for key in _COLUMNS] for row in found]
    shown = [["–" if value is None else f"{value:.3g}" for value in row] for row in cells]
    rows = [[str(row["step"]), *texts] for row, texts in zip(found, shown, strict=True)]
    return Table("Hypotheses", ["after", *_COLUMNS.values()], rows)


def _readings(laboratory: Laboratory) -> Table:
    opening = laboratory.episode.public["opening"]
    lines = [("opening", opening)] if opening else []
    lines += [(f"{name} := {value:g}", reading) for name, value, reading in laboratory.readings]
    nodes = laboratory.episode.nodes
    rows = [[label, *(f"{reading[node]:g}" for node in nodes)] for label, reading in lines]
    return Table("Interventions and readings", ["set", *nodes], rows)


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


SPECIFICATION: Final = Specification.read(
    Path(__file__).with_name("page.toml"), globals(), _FORMATS
)


PAGES: Final = TrackPages(
    explain_task=explain_task,
    diagnose=diagnose,
    draw_answer=lambda task, truth, verified: session_page(verified.answer.laboratory),
    tables=SPECIFICATION.in_terminal,
    sections=SPECIFICATION.of_reports,
)
