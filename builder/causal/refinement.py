"""Graphs that are the same up to the names of their nodes."""

import hashlib
from collections.abc import Mapping

from builder.causal.graph import LatentDAG


def shape_of(graph: LatentDAG, colours: Mapping[str, str]) -> str:
    """Equal for graphs that renaming their nodes turns into one another; ``colours`` and latency of
    the nodes count.

    Colour refinement in both directions of the edges (Weisfeiler & Leman 1968): enough to tell
    apart the small sparse graphs of scenes.
    """
    refined = {node: f"{colours[node]} {node in graph.latent}" for node in graph.nodes}
    for _ in graph.nodes:
        seen = {
            node: "/".join(
                [
                    refined[node],
                    "<" + ",".join(sorted(refined[v] for v in graph.parents(node))),
                    ">" + ",".join(sorted(refined[v] for v in graph.children(node))),
                ]
            )
            for node in graph.nodes
        }
        refined = {
            node: hashlib.sha256(colour.encode()).hexdigest()[:16] for node, colour in seen.items()
        }
    return ",".join(sorted(refined.values()))
