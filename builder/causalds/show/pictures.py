"""Pictures of a scene: its graph, and how well measured variables can be recovered."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.draw.graph import layered
from grader.draw.svg import Scale, Svg, element, words
from grader.look import Graph, Kind

_TARGET_WINDOW: Final = (0.3, 0.8)


def graph_picture(record: Mapping[str, Any]) -> Svg:
    """The causal graph, causes above effects; latent variables dashed, X and Y coloured."""
    names = {node: variable["name"] for node, variable in record["variables"].items()}
    kinds: dict[str, Kind] = {names[node]: "latent" for node in record["world"]["latent"]}
    kinds |= {names[record["treatment"]]: "treatment", names[record["outcome"]]: "outcome"}
    nodes = [names[node["name"]] for node in record["world"]["nodes"]]
    edges = [(names[a], names[b]) for a, b in record["world"]["edges"]]
    return layered(Graph(nodes, edges, kinds))


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
