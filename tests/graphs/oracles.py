"""Verdicts of other people's programs on the same question (optional packages).

Each function returns "yes" or "no".
"""

from importlib import import_module
from importlib.util import find_spec
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


def available(package: str) -> bool:
    return find_spec(package) is not None


def y0_ate(g: LatentDAG, x: str, y: str) -> str:
    """Ask y0's ID algorithm about P(y | do(x))."""
    dsl, identify = import_module("y0.dsl"), import_module("y0.algorithm.identify")
    found = identify.identify_outcomes(_y0_graph(g), dsl.Variable(x), dsl.Variable(y))
    return "no" if found is None else "yes"


def pyagrum_ate(g: LatentDAG, x: str, y: str) -> str:
    """Ask pyAgrum's do-calculus about P(y | do(x)), on the latent projection."""
    gum = import_module("pyagrum")
    projection = g.projection()
    net = gum.BayesNet()
    for name in projection.nodes:
        net.add(gum.LabelizedVariable(name, name, 2))
    for a, b in directed(projection):
        net.addArc(a, b)
    net.generateCPTs()
    causes = [(f"L{i}", pair) for i, pair in enumerate(bidirected(projection))]
    model = gum.CausalModel(net, causes, True)
    impact, _, _ = gum.causalImpact(model, on=y, doing=x)
    return "yes" if impact.isIdentified() else "no"


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
