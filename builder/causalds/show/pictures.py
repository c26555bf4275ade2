"""Pictures of a scene: its graph, and how well measured variables can be recovered."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from grader.draw.svg import Scale, Svg, arrow, element, words

Point = tuple[float, float]

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 150, 52, 50, 46
_TARGET_WINDOW: Final = (0.3, 0.8)


def graph_picture(record: Mapping[str, Any]) -> Svg:
    """The causal graph, causes left of effects; latent variables dashed, X and Y coloured."""
    nodes = [node["name"] for node in record["world"]["nodes"]]
    edges = [(a, b) for a, b in record["world"]["edges"]]
    depth = _depths(nodes, edges)
    layers: dict[int, list[str]] = {}
    for node in nodes:
        layers.setdefault(depth[node], []).append(node)
    tallest = max(len(layer) for layer in layers.values())
    place = {
        node: (
            20 + depth[node] * (_WIDTH + _GAP_X),
            # A half step down in every second layer keeps long edges off the boxes between.
            24 + (tallest - len(layer)) * (_HEIGHT + _GAP_Y) / 2
            + i * (_HEIGHT + _GAP_Y) + (depth[node] % 2) * 24,
        )
        for layer in layers.values()
        for i, node in enumerate(layer)
    }  # fmt: skip
    middle = _HEIGHT / 2
    ends = [
        ((place[a][0] + _WIDTH, place[a][1] + middle), (place[b][0] - 1, place[b][1] + middle))
        for a, b in edges
    ]
    # A curve reaches half as high as its bend lies over its ends.
    peaks = [(min(a[1], b[1]) + _bend(a, b)[1]) / 2 for a, b in ends]
    top = min(0, *peaks) - 10
    width = 40 + len(layers) * (_WIDTH + _GAP_X)
    height = max(y for _, y in place.values()) + _HEIGHT + 20 - top
    style = "stroke:var(--soft);fill:var(--soft);stroke-width:1.3"
    drawn = [arrow(a, b, "", 9, _bend(a, b), style=style) for a, b in ends]
    drawn += [_box(record, node, place[node]) for node in nodes]
    return Svg("causal graph", width, height, drawn, top=top)


def recovery_picture(bars: Sequence[tuple[str, Mapping[str, float]]]) -> Svg:
    """Naive and joint recoverability of each variable, with the gap and the target window.

    ``bars`` are variable names with the numbers of ``builder.causalds.make.recover``. This is the
    picture of paper Fig. 6.
    """
    left, row = 190, 46
    height = 40 + row * len(bars)
    x = Scale(0, 1, left, left + 420)
    low, high = map(x, _TARGET_WINDOW)
    window = "fill:var(--fair);fill-opacity:.2"
    parts = [element("rect", x=low, y=8, width=high - low, height=height - 34, style=window)]
    for i, (name, found) in enumerate(bars):
        y = 14 + row * i
        parts.append(words(left - 8, y + 20, name, anchor="end", room=left - 16))
        for key, opacity, offset in (("naive", 0.4, 0), ("joint", 1, 16)):
            size = x(min(max(found[key], 0.0), 1.0)) - left
            style = f"fill:var(--mark);fill-opacity:{opacity}"
            hover = f"{key} {found[key]:.3f}"
            parts.append(element("rect", "", hover, x=left, y=y + offset, width=size, height=14,
                                 style=style))  # fmt: skip
        parts.append(words(x.end + 8, y + 20, f"Δ {found['gap']:.2f}"))
    for tick in range(6):
        parts.append(words(x(tick / 5), height - 8, f"{tick / 5:.1f}", "axis", "middle"))
    return Svg("recoverability", x.end + 110, height, parts)


def _depths(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Length of the longest directed path into each node."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for a, b in edges:
            depth[b] = max(depth[b], depth[a] + 1)
    return depth


def _box(record: Mapping[str, Any], node: str, at: Point) -> str:
    x, y = at
    fills = {
        record["treatment"]: "fill:var(--mark);fill-opacity:.2",
        record["outcome"]: "fill:var(--other);fill-opacity:.25",
    }
    style = f"{fills.get(node, 'fill:var(--card)')};stroke:var(--ink)"
    if node in record["world"]["latent"]:
        style += ";stroke-dasharray:5 4"
    box = element("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=12, style=style)
    lines = wrap(record["variables"][node]["name"], 22)[:2]
    top = y + _HEIGHT / 2 + (4 if len(lines) == 1 else -3)
    name = (
        words(x + _WIDTH / 2, top + 14 * i, line, anchor="middle", size=12)
        for i, line in enumerate(lines)
    )
    return element("g", box + "".join(name), node)


def _bend(start: Point, end: Point) -> Point:
    """Where an edge bends: over the boxes between its ends; straight to the next layer."""
    length = end[0] - start[0]
    up = 0 if length <= _GAP_X else 0.35 * length
    return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - up
