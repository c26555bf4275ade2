"""Graphs with latent nodes, drawn and grown, and the definition of an open path."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

import networkx as nx
import numpy as np

from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import AUXILIARY, MOTIFS, Motif, anchors, graft


def graph_of(edges: str, latent: str = "") -> LatentDAG:
    """The graph of edges such as "X>M M>Y", nodes in order of first mention."""
    pairs = tuple(tuple(edge.split(">")) for edge in edges.split())
    nodes = tuple(dict.fromkeys(node for pair in pairs for node in pair))
    return LatentDAG(nodes, pairs, frozenset(latent.split()))


def single_grafts(host: Motif) -> Iterator[Motif]:
    for name in AUXILIARY:
        for role in MOTIFS[name].graph.observed_nodes:
            for anchor in anchors(host):
                yield graft(host, MOTIFS[name], role, anchor, 1)


def random_query(
    rng: np.random.Generator, nodes: tuple[int, int] = (4, 8), latent: tuple[int, int] = (0, 3)
) -> tuple[LatentDAG, str, str]:
    """Draw a graph, a treatment and, later in order, an outcome; `nodes` and `latent` are inclusive
    count ranges. Each pair is joined with one probability per graph, between 0.2 and 0.6. In a
    third of the graphs the latent nodes may lie anywhere, in a third they have no parents (common
    causes), and in a third no parents and exactly two children (plain bidirected edges)."""
    size = int(rng.integers(nodes[0], nodes[1] + 1))
    hidden = min(int(rng.integers(latent[0], latent[1] + 1)), size - 2)
    names = tuple(f"V{i}" for i in range(size))
    density = rng.uniform(0.2, 0.6)
    coins = rng.random((size, size)) < density
    joined = ((a, b) for a in range(size) for b in range(a + 1, size) if coins[a, b])
    edges = tuple((names[a], names[b]) for a, b in joined)
    unobserved = set(names[:hidden])
    style = rng.integers(3)
    if style == 0:
        unobserved = {names[int(i)] for i in rng.permutation(size)[:hidden]}
    else:
        edges = tuple((a, b) for a, b in edges if b not in unobserved)
    if style == 2:
        edges = tuple((a, b) for a, b in edges if a not in unobserved)
        for cause in names[:hidden]:
            pair = rng.choice(size - hidden, 2, replace=False) + hidden
            edges += tuple((cause, names[int(i)]) for i in pair)
    graph = LatentDAG(names, edges, frozenset(unobserved))
    first, second = sorted(int(i) for i in rng.choice(len(graph.observed_nodes), 2, replace=False))
    return graph, graph.observed_nodes[first], graph.observed_nodes[second]


def networkx_of(graph: LatentDAG) -> "nx.DiGraph[str]":
    peer: nx.DiGraph[str] = nx.DiGraph(list(graph.edges))
    peer.add_nodes_from(graph.nodes)
    return peer


def is_open(peer: "nx.DiGraph[str]", path: Sequence[str], given: Collection[str]) -> bool:
    """Whether a path of the skeleton is open given some nodes (Pearl 2009, definition 1.2.3)."""
    for (before, node), (_, after) in pairwise(pairwise(path)):
        if peer.has_edge(before, node) and peer.has_edge(after, node):
            if not {node, *nx.descendants(peer, node)} & {*given}:
                return False
        elif node in given:
            return False
    return True
