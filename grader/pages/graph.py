"""What a person sees of a task beside its prompt: the hidden graph in layers, causes above effects,
why its truth is true, and how its columns are distributed."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import Final, Literal

from grader.pages.svg import Svg, arrow, element, line, words

Kind = Literal["", "treatment", "outcome", "latent"]
Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph: the names of its nodes, edges from cause to effect, and what some are."""

    nodes: Sequence[str]
    edges: Sequence[Edge]
    kinds: Mapping[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A task with its world open.

    ``graph`` is the hidden causal graph, ``None`` where the task has none; ``told`` are sentences
    of the story with the edges they tell; ``facts`` are named facts about the world, ``proof`` says
    how the truth was worked out and how it was derived a second time.
    """

    graph: Graph | None = None
    told: Mapping[str, Sequence[Edge]] = field(default_factory=dict)
    facts: Sequence[tuple[str, str]] = ()
    proof: str = ""


def proofs(track: str) -> Mapping[str, str]:
    """Return how each kind of truth of a track is proved, given a file in its folder."""
    found: Mapping[str, str] = tomllib.loads(
        Path(track).with_name("look.toml").read_text(encoding="utf-8")
    )
    return found


Point = tuple[float, float]

_BOX_X, _BOX_Y, _GAP_X, _GAP_Y = 116.0, 42.0, 18.0, 46.0
_FILLS: Final[Mapping[Kind, str]] = {
    "": "fill:var(--card)",
    "treatment": "fill:var(--mark);fill-opacity:.2",
    "outcome": "fill:var(--other);fill-opacity:.25",
    "latent": "fill:var(--card);stroke-dasharray:5 4",
}
_LONGEST: Final = 17
"""Characters of a line in a box."""


def layered_graph(graph: Graph, title: str = "causal graph") -> Svg:
    """The graph in layers: every node lies below all of its causes.

    The k-th edge has the class ``e<k>``, so that a page can tie it to words.
    """
    nodes = list(dict.fromkeys(graph.nodes))
    edges = [(a, b) for a, b in graph.edges if a in nodes and b in nodes]
    layers = _layers(nodes, edges)
    widest = max((len(layer) for layer in layers), default=1)
    step = _BOX_X + _GAP_X
    # Long edges may pass beside all boxes.
    margin = 8.0 + _GAP_X
    place = {
        node: (
            margin + (widest - len(layer)) * step / 2 + k * step,
            10 + row * (_BOX_Y + _GAP_Y),
        )
        for row, layer in enumerate(layers)
        for k, node in enumerate(layer)
    }
    width = 2 * margin + widest * step - _GAP_X
    height = 20 + len(layers) * (_BOX_Y + _GAP_Y) - _GAP_Y
    parts = []
    for k, (cause, effect) in enumerate(graph.edges):
        if cause in place and effect in place:
            between = [p for p in place.values() if place[cause][1] < p[1] < place[effect][1]]
            parts.append(_edge(place[cause], place[effect], between, k, f"{cause} → {effect}"))
    parts += [_box(node, place[node], graph.kinds.get(node, "")) for node in nodes]
    return Svg(title, width, height, parts, inline=True)


def _layers(nodes: Sequence[str], edges: Sequence[Edge]) -> list[list[str]]:
    """Nodes by the length of the longest path into them, near their causes in each layer."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:  # so many rounds are enough, and no more are made of what has a circle
        for a, b in edges:
            depth[b] = max(depth[b], min(depth[a] + 1, len(nodes) - 1))
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    layers = [layer for layer in layers if layer]
    position = {node: k - len(layers[0]) / 2 for k, node in enumerate(layers[0])} if layers else {}
    for layer in layers[1:]:
        centre = {}
        for node in layer:
            above = [position[a] for a, b in edges if b == node and a in position]
            centre[node] = math.fsum(above) / len(above) if above else 0.0
        layer.sort(key=lambda node: centre[node])
        position |= {node: k - len(layer) / 2 for k, node in enumerate(layer)}
    return layers


def _edge(start: Point, end: Point, between: Sequence[Point], number: int, hover: str) -> str:
    """From the lower edge of a box to the upper edge of another; past the boxes in between."""
    a = (start[0] + _BOX_X / 2, start[1] + _BOX_Y)
    b = (end[0] + _BOX_X / 2, end[1] - 1)
    bend = None
    if between:
        middle = (a[0] + b[0]) / 2
        # A curve reaches half as far as its bend lies from its ends.
        bend = (2 * _gap(middle, [x for x, _ in between]) - middle, (a[1] + b[1]) / 2)
    style = "stroke:var(--soft);fill:var(--soft);stroke-width:1.4"
    return arrow(a, b, hover, 8, bend, kind=f"edge e{number}", style=style)


def _gap(middle: float, boxes: Sequence[float]) -> float:
    """The place nearest to ``middle`` where no box stands, given their left ends."""
    beside = _GAP_X / 2
    places = [middle, *(x - beside for x in boxes), *(x + _BOX_X + beside for x in boxes)]
    free = [p for p in places if all(p < x - 4 or p > x + _BOX_X + 4 for x in boxes)]
    return min(free, key=lambda place: abs(place - middle))


def _box(name: str, at: Point, kind: Kind) -> str:
    x, y = at
    style = f"{_FILLS[kind]};stroke:var(--ink)"
    box = element("rect", x=x, y=y, width=_BOX_X, height=_BOX_Y, rx=10, style=style)
    lines = wrap(name, _LONGEST)[:2] or [""]
    top = y + _BOX_Y / 2 + (4 if len(lines) == 1 else -3)
    told = "".join(
        words(x + _BOX_X / 2, top + 14 * k, text, anchor="middle", room=_BOX_X - 8, size=12)
        for k, text in enumerate(lines)
    )
    return element("g", box + told, name)


_BINS: Final = 16
_PLOT_X, _PLOT_Y = 132.0, 54.0


def histogram(name: str, values: Sequence[float]) -> Svg:
    """How the values of a column are distributed, with its least and its largest below."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    # A column of two values has a bar for each.
    bins = _BINS if len(set(finite)) > 2 else max(1, len(set(finite)))
    counts = [0] * bins
    for value in finite:
        share = (value - low) / (high - low) if high > low else 0.0
        counts[min(bins - 1, int(share * bins))] += 1
    tallest = max(counts) or 1
    size = _PLOT_X / bins
    parts = []
    for k, number in enumerate(counts):
        height = (_PLOT_Y - 4) * number / tallest
        box = {"x": 4 + k * size, "y": _PLOT_Y - height, "width": max(1.0, size - 1.5)}
        style = "fill:var(--mark);fill-opacity:.75"
        hover = f"{number:,} of {len(values):,}"
        parts.append(element("rect", "", hover, height=height, style=style, **box))
    base = _PLOT_Y
    parts.append(line((4, base), (4 + _PLOT_X, base), kind="grid"))
    parts.append(words(4, base + 14, f"{low:.4g}", "axis"))
    parts.append(words(4 + _PLOT_X, base + 14, f"{high:.4g}", "axis", "end"))
    return Svg(f"values of {name}", _PLOT_X + 8, base + 20, parts, inline=True, caption=name)
