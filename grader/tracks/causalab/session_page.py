"""One finished laboratory session as a page (paper Figure 7): graphs, metrics by step, readings.

Self-contained like the leaderboard's page: no script, nothing fetched, all text escaped. It shows
the truth, so callers ask for it only where the truth is public or ``--reveal`` was given.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any, Final

from grader import __version__
from grader.draw.svg import text
from grader.show.page import headed, whole
from grader.tracks.causalab.diagnostics import equivalence_sizes, trajectory
from grader.tracks.causalab.metrics import prediction_metrics
from grader.tracks.causalab.scoring import Told

Edge = tuple[str, str]

_STYLE: Final = """
.pair { display:flex; flex-wrap:wrap; gap:18px } .pair section { flex:1 1 400px }
svg .label { font-size:11.5px } svg .node { fill:var(--card); stroke:var(--ink) }
svg .target { stroke:var(--mark); stroke-width:2.5 }
svg .right { stroke:var(--good); fill:none; stroke-width:1.8 }
svg .wrong { stroke:var(--bad); fill:none; stroke-width:1.8; stroke-dasharray:6 4 }
svg .open { stroke:var(--soft); fill:none; stroke-width:1.8; stroke-dasharray:2 4 }
svg .tip { fill:context-stroke }
"""

_CURVES: Final = (
    ("edge_f1", "all-edge F1", "", 214),
    ("freq_edge_f1", "freq.-edge F1", "7 4", 145),
    ("coefficient_f1", "coefficient F1", "2 3", 18),
    ("root_f1", "root F1", "9 3 2 3", 280),
)


def page(told: Told) -> str:
    """The page of one session; the true graph on the left, the final hypothesis on the right."""
    episode, final = told.episode, told.final
    outcome = prediction_metrics(episode, told.prediction)
    said = "none" if told.prediction is None else f"{told.prediction:g}"
    verdict = "within" if outcome["accurate"] else "not within"
    missing = [edge for edge in episode.edges if edge not in final.edges]
    undecided = len(episode.undecided)
    graphs = (
        '<div class="pair">'
        f"<section><h2>True graph</h2>{_graph(told, episode.edges, final.edges)}</section>"
        f"<section><h2>Final hypothesis</h2>{_graph(told, final.edges, episode.edges)}</section>"
        "</div>"
    )
    legend = (
        '<p class="note">Solid: in both graphs. Dashed: in this one only '
        f"({len(missing)} missing, {len(final.edges - episode.edges)} extra or reversed). "
        f"Dotted: an edge that no legal experiment decides ({undecided} ordered pairs).</p>"
    )
    sections = [
        ("Metrics by step", _curves(trajectory(episode, told.hypotheses), told.evidence.steps)),
        ("Hypotheses", _hypothesis_rows(told)),
        ("Interventions and readings", _reading_rows(told)),
    ]
    return whole(
        episode.task_id,
        _STYLE,
        f'<h1>{text(episode.task_id)}</h1><p class="sub">{episode.family}, mode {episode.mode}, '
        f"{told.evidence.steps} of {episode.budget} interventions; predicted {said}, true "
        f"{episode.frequency:g}: {verdict} ±{episode.tolerance:g}</p>{graphs}{legend}"
        f"{headed(sections)}"
        f"<footer>Drawn by causal-exams {text(__version__)} from a replayed session.</footer>",
    )


def _graph(told: Told, edges: Collection[Edge], other: Collection[Edge]) -> str:
    """Nodes on a circle, the target at the bottom; ``other`` tells which edges are shared."""
    episode = told.episode
    size, radius = 380, 140
    middle = size / 2
    order = [episode.target, *episode.names]
    places = {
        node: (
            middle + radius * math.sin(2 * math.pi * k / len(order)),
            middle + radius * math.cos(2 * math.pi * k / len(order)),
        )
        for k, node in enumerate(order)
    }
    parts = [
        f'<svg viewBox="0 0 {size} {size}" role="img" xmlns="http://www.w3.org/2000/svg">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
    ]
    for parent, child in sorted(edges):
        kind = "right" if (parent, child) in other else "wrong"
        if (parent, child) in episode.undecided:
            kind = "open"
        (x1, y1), (x2, y2) = places[parent], places[child]
        length = math.hypot(x2 - x1, y2 - y1) or 1
        dx, dy = 42 * (x2 - x1) / length, 42 * (y2 - y1) / length
        parts.append(
            f'<line class="{kind}" x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" '
            f'y2="{y2 - dy:.1f}" marker-end="url(#tip)"><title>{text(parent)} → {text(child)}'
            "</title></line>"
        )
    for node, (x, y) in places.items():
        kind = "node target" if node == episode.target else "node"
        parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="40"/>'
            f'<text class="label" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{text(node, 12)}'
            f"<title>{text(node)}</title></text>"
        )
    return "".join([*parts, "</svg>"])


def _curves(rows: Sequence[dict[str, Any]], last: int) -> str:
    """F1s of the hypothesis held after each step; a line style each, so colour is not needed."""
    if not rows:
        return ""
    left, top, width, height = 48, 12, 600, 220
    span = max(last, 1)
    parts = [
        f'<svg viewBox="0 0 {left + width + 190} {top + height + 50}" role="img" '
        'aria-label="metrics by step" xmlns="http://www.w3.org/2000/svg">'
    ]
    for tick in (0, 0.5, 1):
        y = top + height * (1 - tick)
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}"/>'
            f'<text class="axis" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    for step in sorted({0, span // 2, span}):
        parts.append(
            f'<text class="axis" x="{left + width * step / span:.1f}" y="{top + height + 20}" '
            f'text-anchor="middle">{step}</text>'
        )
    parts.append(
        f'<text class="axis" x="{left + width / 2}" y="{top + height + 40}" text-anchor="middle">'
        "interventions made</text>"
    )
    for k, (key, label, dash, colour) in enumerate(_CURVES):
        line = _steps(
            [
                (left + width * row["step"] / span, top + height * (1 - row[key]) + 2 * k)
                for row in rows
            ],
            left + width,
        )
        y = top + 12 + 24 * k
        style = (
            f'stroke="hsl({colour} 62% 52%)" stroke-width="2" fill="none" stroke-dasharray="{dash}"'
        )
        parts.append(
            f'<polyline points="{line}" {style}/>'
            f'<line x1="{left + width + 16}" y1="{y}" x2="{left + width + 52}" y2="{y}" {style}/>'
            f'<text x="{left + width + 60}" y="{y + 4}">{label}</text>'
        )
    return "".join([*parts, "</svg>"])


def _steps(points: Sequence[tuple[float, float]], end: float) -> str:
    """A line that keeps its height until the next point, and the last one until ``end``."""
    line, height = [], points[0][1]
    for x, y in points:
        line += [f"{x:.1f},{height:.1f}", f"{x:.1f},{y:.1f}"]
        height = y
    return " ".join([*line, f"{end:.1f},{height:.1f}"])


def _hypothesis_rows(told: Told) -> str:
    sizes = equivalence_sizes(told.evidence)
    head = ["after", "edge P", "edge R", "edge F1", "skeleton F1", "SHD", "freq. edge F1",
            "coefficient F1", "base error", "root F1", "class size"]  # fmt: skip
    keys = ("edge_precision", "edge_recall", "edge_f1", "skeleton_f1", "shd", "freq_edge_f1",
            "coefficient_f1", "base_error", "root_f1")  # fmt: skip
    rows = [
        [str(row["step"]), *(_number(row[key]) for key in keys), _number(sizes[row["step"]])]
        for row in trajectory(told.episode, told.hypotheses)
    ]
    return _table(head, rows) if rows else ""


def _reading_rows(told: Told) -> str:
    nodes = told.episode.nodes
    opening = told.episode.public["opening"]
    rows = [["opening", *(f"{opening[node]:g}" for node in nodes)]] if opening else []
    for name, value, reading in told.evidence.settings:
        label = f"{text(name)} := {value:g}"
        rows.append([label, *(f"{reading[node]:g}" for node in nodes)])
    return _table(["set", *(text(node) for node in nodes)], rows) if rows else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        first, *rest = cells
        return f'<{tag} class="l">{first}</{tag}>' + "".join(f"<{tag}>{c}</{tag}>" for c in rest)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f"<table><thead><tr>{row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"
