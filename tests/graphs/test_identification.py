"""Graphs with latent nodes, and identification: named cases; every verdict on motifs, grafts and
random graphs, by definition and by the program of others."""

from functools import partial
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from random_queries import graph_of, networkx_of, random_query, single_grafts
from verdicts import QUESTIONS, Query, bidirected, check, directed

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import (
    forbidden_controls,
    frontdoor_sets,
    identification_method,
    is_identifiable,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.graphs.motifs import HOSTS, MOTIFS, PLANTED, add_confounder

BOW = graph_of("X>Y U>X U>Y", "U")


def test_direct_and_indirect_effects_vanish_without_their_paths() -> None:
    """A structurally zero effect is identified even in a hopelessly confounded graph."""
    confounded_chain = graph_of("X>M M>Y U>X U>M U>Y", "U")
    assert not is_identifiable(confounded_chain, "X", "Y", "ate")
    assert is_identifiable(confounded_chain, "X", "Y", "nde")
    assert not is_identifiable(confounded_chain, "X", "Y", "nie")
    assert is_identifiable(BOW, "X", "Y", "nie")
    assert not is_identifiable(BOW, "X", "Y", "nde")
    assert is_identifiable(BOW, "Y", "X", "ett")


def test_an_unseen_mediator_beside_the_direct_edge_blocks_mediation() -> None:
    """The projection merges the two routes, so its criterion alone would say yes."""
    g = graph_of("X>L L>Y X>Y", "L")
    assert is_identifiable(g, "X", "Y", "ate")
    assert not is_identifiable(g, "X", "Y", "nde")
    only_unseen = graph_of("X>L L>Y", "L")
    assert is_identifiable(only_unseen, "X", "Y", "nde")
    assert is_identifiable(only_unseen, "X", "Y", "nie")


@pytest.mark.parametrize(
    "ask",
    [
        valid_adjustment_sets,
        minimal_adjustment_sets,
        forbidden_controls,
        identification_method,
        lambda *query: list(frontdoor_sets(*query)),
        *(partial(is_identifiable, effect=effect) for effect in ("ate", "ett", "nde", "nie")),
    ],
)
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ("U", "Y", "treatment 'U' is latent"),
        ("X", "U", "outcome 'U' is latent"),
        ("X", "X", "must differ"),
        ("X", "Q", "unknown node 'Q'"),
    ],
)
def test_impossible_questions_are_refused(ask, x: str, y: str, message: str) -> None:
    """An exception is a failed build; a made-up verdict would be a wrong label."""
    with pytest.raises(ValueError, match=message):
        ask(BOW, x, y)


def named_queries() -> list[Query]:
    """Return the motifs, the planted structures, all single grafts; and each with X <- L -> Y."""
    grafts = [grown for name in HOSTS for grown in single_grafts(MOTIFS[name])]
    plain = [*MOTIFS.values(), *PLANTED.values(), *grafts]
    return [one.effect for motif in plain for one in (motif, add_confounder(motif))]


def random_queries(number: int, seed: int) -> list[Query]:
    return [random_query(np.random.default_rng([seed, i])) for i in range(number)]


def test_every_verdict_of_a_small_run_is_proved() -> None:
    """The same run at full size is the evidence behind the labels."""
    named = named_queries()
    counts = check([*named[:28], *named[28::18], *random_queries(40, 2)], 2)
    assert all(counts[*question, verdict] > 4 for question in QUESTIONS for verdict in (0, 1))


@pytest.mark.slow
def test_every_verdict_on_20000_graphs_is_proved() -> None:
    """The published count: each yes by its value, each no by twin models."""
    check([*named_queries(), *random_queries(20_000, 1)], 1)


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
