"""One finished laboratory session as a page (paper Figure 7): graphs, metrics by step, readings.

It shows the truth, so callers ask for it only where the truth is public or ``--reveal`` was given.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory
from grader.pages import page as draw
from grader.pages.charts import lines
from grader.pages.graph import Graph, layered_graph
from grader.pages.page import Block, Paragraph, Section, SideBySide, Strong, non_empty
from grader.pages.svg import Svg
from grader.pages.table import Table
from grader.tracks.causalab.metrics import (
    Evidence,
    equivalence_sizes,
    prediction_metrics,
    trajectory,
)
from grader.version import __version__

Edge = tuple[str, str]

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
    """Return the page of one session: true graph on the left, final hypothesis on the right."""
    episode, final = laboratory.episode, laboratory.final_hypothesis
    outcome = prediction_metrics(episode, laboratory.prediction)
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
    steps = trajectory(episode, laboratory.hypotheses)
    return draw.page(
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


def _graph(
    episode: Episode, title: str, edges: Collection[Edge], other: Collection[Edge]
) -> list[Block]:
    """Draw ``edges``, dashed where ``other`` lacks one, under a title."""
    odd = set(edges).difference(other)
    graph = Graph(episode.nodes, sorted(edges), {episode.target: "outcome"}, odd)
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
    sizes = equivalence_sizes(Evidence(laboratory.episode, laboratory.readings))
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
