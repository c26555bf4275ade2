"""Graphs with latent nodes: construction, closures, projection, d-separation."""

from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from random_queries import networkx_of, random_query
from verdicts import bidirected, directed

from builder.graphs.graph import LatentDAG


def test_edge_order_does_not_change_a_graph() -> None:
    """Two spellings of one graph would be cached, hashed and stored as two."""
    one = LatentDAG(("A", "B", "C"), (("B", "C"), ("A", "B")))
    two = LatentDAG(("A", "B", "C"), (("A", "B"), ("B", "C")))
    assert one == two
    assert hash(one) == hash(two)
    assert one.edges == (("A", "B"), ("B", "C"))


@pytest.mark.parametrize(
    ("nodes", "edges", "latent", "message"),
    [
        (("A", "B"), (("A", "B"), ("B", "A")), frozenset(), "cycle through A, B"),
        (("A", "B"), (("A", "C"),), frozenset(), "'C', which is not among"),
        (("A", "B"), (("A", "A"),), frozenset(), "self-loop"),
        (("A", "B"), (("A", "B"), ("A", "B")), frozenset(), "listed twice"),
        (("A", "A"), (), frozenset(), "'A' is listed twice"),
        (("A", ""), (), frozenset(), "empty name"),
        (("A", "B"), (), frozenset({"U"}), "latent node 'U'"),
    ],
)
def test_a_malformed_graph_is_refused(nodes, edges, latent, message) -> None:
    """A typo in a motif must not become a silently different graph."""
    with pytest.raises(ValueError, match=message):
        LatentDAG(nodes, edges, latent)


def test_unknown_nodes_and_overlapping_sets_are_refused() -> None:
    """A misspelt name that counted as no node would give confident wrong answers."""
    graph = LatentDAG(("A", "B"), (("A", "B"),))
    for ask in (graph.parents, graph.children, graph.ancestors, graph.descendants):
        with pytest.raises(ValueError, match="unknown node 'Z'"):
            ask("Z")
    with pytest.raises(ValueError, match="unknown node 'Z'"):
        graph.d_separated("A", "B", ["Z"])
    with pytest.raises(ValueError, match="disjoint; shared: A"):
        graph.d_separated("A", ["A", "B"])


def test_closures_and_order_agree_with_networkx() -> None:
    """Every verdict rests on these four relations."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        graph, _, _ = random_query(rng)
        peer = networkx_of(graph)
        order = graph.topological_order()
        for v in graph.nodes:
            assert graph.ancestors(v) == nx.ancestors(peer, v) | {v}
            assert graph.descendants(v) == nx.descendants(peer, v) | {v}
            assert set(graph.parents(v)) == set(peer.predecessors(v))
            assert set(graph.children(v)) == set(peer.successors(v))
            assert all(order.index(parent) < order.index(v) for parent in graph.parents(v))
        assert sorted(order) == sorted(graph.nodes)


def test_d_separation_agrees_with_networkx() -> None:
    """Adjustment, front-door and collider labels are all d-separation statements."""
    rng = np.random.default_rng(2)
    for _ in range(600):
        graph, _, _ = random_query(rng)
        parts = rng.integers(0, 4, size=len(graph.nodes))
        placed = [*zip(graph.nodes, parts, strict=True)]
        xs, ys, zs = ({v for v, p in placed if p == k} for k in range(3))
        if xs and ys:
            expected = nx.is_d_separator(networkx_of(graph), xs, ys, zs)
            assert graph.d_separated(xs, ys, zs) == expected, (graph, xs, ys, zs)


def test_projection_follows_its_definition_path_by_path() -> None:
    """A missed bidirected edge would turn an unidentifiable effect into an identifiable one."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        graph, _, _ = random_query(rng)
        peer, projection = networkx_of(graph), graph.projection()
        seen, hidden = graph.observed_nodes, graph.latent

        def joined(a: str, b: str, peer=peer, hidden=hidden) -> bool:
            return any(hidden >= set(path[1:-1]) for path in nx.all_simple_paths(peer, a, b))

        arrows = {pair for pair in permutations(seen, 2) if joined(*pair)}
        causes = [{v for v in seen if joined(u, v)} for u in hidden]
        arcs = {pair for pair in combinations(seen, 2) if any(own >= {*pair} for own in causes)}
        assert set(directed(projection)) == arrows
        assert set(bidirected(projection)) == arcs
