"""Drawings of one task's world: its hidden graph in layers."""

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import Final, Literal

from grader.pages.svg import Svg, arrow, element, words

Kind = Literal["", "treatment", "outcome", "latent"]
Edge = tuple[str, str]
Point = tuple[float, float]


_LARGEST: Final = 500


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph: names of nodes, edges from cause to effect, the kinds of some nodes, and
    the edges that are drawn dashed."""

    nodes: Sequence[str]
    edges: Sequence[Edge]
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    dashed: Collection[Edge] = ()

    def __post_init__(self) -> None:
        """Raise ``ValueError`` where it is too large, and ``TypeError`` for a name that is no text:
        worlds, where graphs come from, have no schema."""
        if max(len(self.nodes), len(self.edges)) > _LARGEST:
            raise ValueError(f"a graph of over {_LARGEST} nodes or edges")
        if not all(isinstance(name, str) for name in chain(self.nodes, *self.edges)):
            raise TypeError("a name of a node is no text")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the hidden world says of a task.

    ``graph`` is the causal graph, None where there is none. ``sentences`` are those of the story
    that tell edges, with these edges. ``facts`` are named facts about the world. ``proof`` says how
    the truth was worked out and how it was derived a second time.
    """

    graph: Graph | None = None
    sentences: Mapping[str, Sequence[Edge]] = field(default_factory=dict)
    facts: Sequence[tuple[str, str]] = ()
    proof: str = ""


def proofs(track: str) -> Mapping[str, str]:
    """Return how each kind of truth is proved, from ``look.toml`` beside the file ``track``."""
    found: Mapping[str, str] = tomllib.loads(
        Path(track).with_name("look.toml").read_text(encoding="utf-8")
    )
    return found


_BOX_X, _BOX_Y, _GAP_X, _GAP_Y = 116.0, 42.0, 18.0, 46.0
_MARGIN: Final = 8.0 + _GAP_X
"""Beside all boxes, where long edges may pass."""
_FILLS: Final[Mapping[Kind, str]] = {
    "": "fill:var(--card)",
    "treatment": "fill:var(--mark);fill-opacity:.2",
    "outcome": "fill:var(--other);fill-opacity:.25",
    "latent": "fill:var(--card);stroke-dasharray:5 4",
}
_SOLID: Final = "stroke:var(--soft);fill:var(--soft);stroke-width:1.4"
_DASHED: Final = "stroke:var(--bad);fill:var(--bad);stroke-width:1.8;stroke-dasharray:6 4"
_LONGEST_LINE: Final = 17
"""Characters of a line in a box."""


def layered_graph(graph: Graph) -> Svg:
    """Draw every node below its causes; the k-th edge has the class ``e<k>``."""
    nodes = list(dict.fromkeys(graph.nodes))
    layers = _layers(nodes, [(a, b) for a, b in graph.edges if a in nodes and b in nodes])
    widest = max((len(layer) for layer in layers), default=1)
    step, drop = _BOX_X + _GAP_X, _BOX_Y + _GAP_Y
    place = {
        node: (_MARGIN + (widest - len(layer)) * step / 2 + k * step, 10 + row * drop)
        for row, layer in enumerate(layers)
        for k, node in enumerate(layer)
    }
    parts = []
    for k, (cause, effect) in enumerate(graph.edges):
        if cause in place and effect in place:
            between = [x for x, y in place.values() if place[cause][1] < y < place[effect][1]]
            style = _DASHED if (cause, effect) in graph.dashed else _SOLID
            look = {"kind": f"edge e{k}", "style": style}
            parts.append(_edge(place[cause], place[effect], between, f"{cause} → {effect}", look))
    parts += [_box(node, place[node], graph.kinds.get(node, "")) for node in nodes]
    width, height = 2 * _MARGIN + widest * step - _GAP_X, 20 + len(layers) * drop - _GAP_Y
    return Svg("causal graph", width, height, parts, inline=True)


def _layers(nodes: Sequence[str], edges: Sequence[Edge]) -> list[list[str]]:
    """Group nodes by the length of the longest path into them, each near its causes."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:  # so many rounds are enough, and no more are made of what has a circle
        for a, b in edges:
            depth[b] = max(depth[b], min(depth[a] + 1, len(nodes) - 1))
    layers: list[list[str]] = []
    position: dict[str, float] = {}
    for row in sorted(set(depth.values())):
        centre = {}
        for node in (node for node in nodes if depth[node] == row):
            above = [position[a] for a, b in edges if b == node and a in position]
            centre[node] = math.fsum(above) / len(above) if above else 0.0
        layers.append(sorted(centre, key=lambda node: centre[node]))
        position |= {node: k - len(centre) / 2 for k, node in enumerate(layers[-1])}
    return layers


def _edge(
    start: Point, end: Point, between: Sequence[float], hover: str, look: Mapping[str, str]
) -> str:
    """Draw an arrow from a box to one below, past the boxes ``between`` given their left ends."""
    a = (start[0] + _BOX_X / 2, start[1] + _BOX_Y)
    b = (end[0] + _BOX_X / 2, end[1] - 1)
    bend = None
    if between:
        middle = (a[0] + b[0]) / 2
        sides = (-_GAP_X / 2, _BOX_X + _GAP_X / 2)
        places = [middle, *(x + side for side in sides for x in between)]
        free = [p for p in places if all(p < x - 4 or p > x + _BOX_X + 4 for x in between)]
        nearest = min(free, key=lambda place: abs(place - middle))
        # A curve reaches half as far as its bend lies from its ends.
        bend = (2 * nearest - middle, (a[1] + b[1]) / 2)
    return arrow(a, b, hover, 8, bend, **look)


def _box(name: str, at: Point, kind: Kind) -> str:
    """Draw a node as a box whose upper left corner is ``at``, its name on at most two lines."""
    x, y = at
    style = f"{_FILLS[kind]};stroke:var(--ink)"
    box = element("rect", x=x, y=y, width=_BOX_X, height=_BOX_Y, rx=10, style=style)
    lines = wrap(name, _LONGEST_LINE)[:2] or [""]
    top = y + _BOX_Y / 2 + (4 if len(lines) == 1 else -3)
    label = "".join(
        words(x + _BOX_X / 2, top + 14 * k, text, anchor="middle", room=_BOX_X - 8, size=12)
        for k, text in enumerate(lines)
    )
    return element("g", box + label, name)
