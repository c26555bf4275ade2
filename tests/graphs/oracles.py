"""The verdict of another program, y0, on the same question (an optional package)."""

from importlib import import_module
from typing import Any

from builder.graphs.graph import LatentDAG, Projection, members


def directed(projection: Projection) -> list[tuple[str, str]]:
    """The pairs (a, b) with a -> b."""
    pairs = enumerate(projection.parent_masks)
    return [(projection.nodes[a], projection.nodes[b]) for b, mask in pairs for a in members(mask)]


def bidirected(projection: Projection) -> list[tuple[str, str]]:
    """The pairs (a, b) with a <-> b, once each, in node order."""
    pairs = enumerate(projection.sibling_masks)
    nodes = projection.nodes
    return [(nodes[a], nodes[b]) for a, mask in pairs for b in members(mask) if a < b]


def y0_identifies(g: LatentDAG, x: str, y: str) -> bool:
    """Ask y0's ID algorithm about P(y | do(x))."""
    dsl, identify = import_module("y0.dsl"), import_module("y0.algorithm.identify")
    found = identify.identify_outcomes(_y0_graph(g), dsl.Variable(x), dsl.Variable(y))
    return found is not None


def _y0_graph(g: LatentDAG) -> Any:
    """Return the latent projection as y0's mixed graph, isolated nodes included."""
    variable, graph = import_module("y0.dsl").Variable, import_module("y0.graph").NxMixedGraph()
    projection = g.projection()
    for name in projection.nodes:
        graph.add_node(variable(name))
    for a, b in directed(projection):
        graph.add_directed_edge(variable(a), variable(b))
    for a, b in bidirected(projection):
        graph.add_undirected_edge(variable(a), variable(b))
    return graph
