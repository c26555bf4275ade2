"""Graphs of tests: all grafts of one fragment, and which graphs differ in names alone."""

import hashlib
from collections.abc import Iterator, Mapping

from builder.graphs.graph import LatentDAG
from builder.graphs.growth import AUXILIARY, anchors, graft
from builder.graphs.motifs import MOTIFS, Motif


def single_grafts(host: Motif) -> Iterator[Motif]:
    """Every graft of one fragment onto ``host``."""
    for name in AUXILIARY:
        for role in MOTIFS[name].graph.observed:
            for anchor in anchors(host):
                yield graft(host, MOTIFS[name], role, anchor, 1)


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
