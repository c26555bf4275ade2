"""Pictures of a scene as SVG text: its graph, and how well measured variables can be recovered."""

from collections.abc import Mapping, Sequence
from html import escape
from textwrap import wrap
from typing import Any, Final

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 150, 52, 50, 46
_TARGET_WINDOW: Final = (0.3, 0.8)


def graph_svg(record: Mapping[str, Any]) -> str:
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
    width = 40 + len(layers) * (_WIDTH + _GAP_X)
    height = 80 + tallest * (_HEIGHT + _GAP_Y)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
        f'width="{width}" role="img" aria-label="causal graph" font-family="sans-serif">',
        '<defs><marker id="tip" markerWidth="9" markerHeight="7" refX="8" refY="3.5" '
        'orient="auto"><path d="M0,0 L9,3.5 L0,7 z" fill="#444"/></marker></defs>',
        *(_edge(place[a], place[b]) for a, b in edges),
        *(_box(record, node, place[node]) for node in nodes),
    ]
    return "".join(parts) + "</svg>"


def recovery_svg(bars: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Naive and joint recoverability of each variable, with the gap and the target window.

    ``bars`` are variable names with the numbers of ``builder.causalds.make.recover``. This is the
    picture of paper Fig. 6.
    """
    left, row, full = 190, 46, 420
    height = 40 + row * len(bars)
    low, high = (left + full * value for value in _TARGET_WINDOW)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + full + 110} {height}" '
        f'width="{left + full + 110}" role="img" aria-label="recoverability" '
        'font-family="sans-serif" font-size="12">',
        f'<rect x="{low}" y="8" width="{high - low}" height="{height - 34}" fill="#f2ead0"/>',
    ]
    for i, (name, found) in enumerate(bars):
        y = 14 + row * i
        parts.append(f'<text x="{left - 8}" y="{y + 20}" text-anchor="end">{escape(name)}</text>')
        for key, colour, offset in (("naive", "#9ec5e8", 0), ("joint", "#1f5a99", 16)):
            size = full * min(max(found[key], 0.0), 1.0)
            parts.append(
                f'<rect x="{left}" y="{y + offset}" width="{size:.1f}" height="14" fill="{colour}">'
                f"<title>{key} {found[key]:.3f}</title></rect>"
            )
        parts.append(f'<text x="{left + full + 8}" y="{y + 20}">Δ {found["gap"]:.2f}</text>')
    for tick in range(6):
        x = left + full * tick / 5
        parts.append(
            f'<text x="{x:.0f}" y="{height - 8}" text-anchor="middle">{tick / 5:.1f}</text>'
        )
    return "".join(parts) + "</svg>"


def _depths(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Length of the longest directed path into each node."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for a, b in edges:
            depth[b] = max(depth[b], depth[a] + 1)
    return depth


def _box(record: Mapping[str, Any], node: str, at: tuple[float, float]) -> str:
    latent = node in record["world"]["latent"]
    fill = {record["treatment"]: "#cfe3f7", record["outcome"]: "#f9dcc4"}.get(node, "#ffffff")
    style = 'stroke="#888" stroke-dasharray="5 4"' if latent else 'stroke="#222"'
    x, y = at
    lines = wrap(record["variables"][node]["name"], 22)[:2]
    text = "".join(
        f'<tspan x="{x + _WIDTH / 2}" dy="{0 if i == 0 else 14}">{escape(line)}</tspan>'
        for i, line in enumerate(lines)
    )
    top = y + _HEIGHT / 2 + (4 if len(lines) == 1 else -3)
    return (
        f'<g><title>{escape(node)}</title><rect x="{x}" y="{y}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" rx="12" fill="{fill}" {style}/>'
        f'<text x="{x + _WIDTH / 2}" y="{top}" font-size="12" text-anchor="middle">{text}</text>'
        "</g>"
    )


def _edge(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1, x2, y2 = start[0] + _WIDTH, start[1] + _HEIGHT / 2, end[0], end[1] + _HEIGHT / 2
    bend = 30 if x2 - x1 <= _GAP_X + 1 else -0.35 * (x2 - x1)
    middle = (y1 + y2) / 2 + (0 if bend == 30 else bend)
    return (
        f'<path d="M{x1},{y1} Q{(x1 + x2) / 2},{middle} {x2 - 2},{y2}" fill="none" '
        'stroke="#444" stroke-width="1.3" marker-end="url(#tip)"/>'
    )
