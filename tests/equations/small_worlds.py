"""Worlds of a few nodes, written by hand."""

from collections.abc import Mapping

from builder.equations.noise import Noise
from builder.equations.world import Node, World
from builder.graphs.graph import LatentDAG


def line(name: str, parents: Mapping[str, float], family="gauss", bias=0.2, scale=0.9) -> Node:
    """A continuous node, affine in its parents."""
    parameters = {"weights": tuple(parents.values()), "bias": bias}
    law = Noise(family, scale, ())
    return Node(name, "continuous", tuple(parents), "linear_additive", parameters, law)


def switch(name: str, parents: Mapping[str, float], bias: float) -> Node:
    """A binary node with log-odds affine in its parents."""
    parameters = {"weights": tuple(parents.values()), "bias": bias}
    return Node(name, "binary", tuple(parents), "logistic", parameters, None)


def world_of(*nodes: Node, latent: frozenset[str] = frozenset()) -> World:
    """The world of these nodes."""
    edges = tuple((parent, node.name) for node in nodes for parent in node.parents)
    return World(LatentDAG(tuple(node.name for node in nodes), edges, latent), nodes)
