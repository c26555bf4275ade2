"""The graphs of causalab beside Table 1, and their equivalence classes by brute force."""

import random
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from statistics import mean, pvariance

import networkx as nx
import numpy as np
import pytest

from builder.graphs.graph import LatentDAG
from builder.tracks.causalab.equations import sample_equations
from builder.tracks.causalab.plan import FREQUENCY, edge_counts, sample_graphs
from builder.tracks.causalab.show import TABLE_1, colliders, forks
from builder.tracks.causalab.suites import PAPER, REGIMES, SIZES, SUITES
from grader.tracks.causalab.diagnostics import class_size


def graphs(size: int, count: int, acts: bool = False, seed: int = 1) -> list[LatentDAG]:
    return sample_graphs(size, count, acts, np.random.default_rng(seed))


def test_forks_and_colliders_are_counted_with_and_without_a_shield() -> None:
    """By hand: a causes b, c, f; b and c cause f. Forks (a: 3), colliders (f: 3)."""
    edges = [("a", "b"), ("a", "c"), ("a", "f"), ("b", "f"), ("c", "f")]
    assert forks(edges) == 3
    assert colliders(edges) == 3
    assert forks([("a", "b"), ("b", "c")]) == colliders([("a", "b"), ("b", "c")]) == 0


@pytest.mark.parametrize("size", SIZES)
def test_edges_forks_and_colliders_are_near_table_1(size: int) -> None:
    """Over 400 graphs; the paper's own figures are means over 50."""
    found = graphs(size, 100 if size == 3 else 400)
    counts = [len(g.edges) for g in found]
    _, edge_mean, edge_variance, fork_mean, collider_mean = TABLE_1[size]
    error = (edge_variance / 50) ** 0.5
    assert abs(mean(counts) - edge_mean) < 4 * error + 0.15
    assert 0.6 < pvariance(counts) / edge_variance < 1.6
    assert abs(mean(forks(g.edges) for g in found) - fork_mean) < 0.2 * fork_mean + 0.2
    assert abs(mean(colliders(g.edges) for g in found) - collider_mean) < 0.2 * collider_mean + 0.2


def test_edge_counts_have_the_reference_ranges() -> None:
    ends = {size: (edge_counts(size)[0], edge_counts(size)[-1]) for size in SIZES}
    assert ends == {3: (2, 3), 4: (3, 6), 5: (4, 10), 6: (5, 12), 7: (6, 14)}


@pytest.mark.parametrize("acts", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_graphs_differ_are_acyclic_and_reach_frequency_directly(size: int, acts: bool) -> None:
    found = graphs(size, 60, acts)
    assert len({(frozenset(g.nodes), frozenset(g.edges)) for g in found}) == 60
    for graph in found:
        order = graph.topological_order()
        assert all(order.index(a) < order.index(b) for a, b in graph.edges)
        assert graph.parents(FREQUENCY)
        assert acts or all(cause != FREQUENCY for cause, _ in graph.edges)
        assert graph.nodes[-1] == FREQUENCY and len(set(graph.nodes)) == size


def test_frequency_acts_in_some_graphs_where_it_may() -> None:
    found = graphs(4, 60, acts=True)
    acting = sum(any(a == FREQUENCY for a, _ in g.edges) for g in found)
    assert 15 < acting < 55


def test_the_order_of_listing_says_nothing_about_the_causal_order() -> None:
    """In half of all edges the cause is listed first."""
    pairs = [
        (g.nodes.index(a), g.nodes.index(b))
        for g in graphs(6, 200)
        for a, b in g.edges
        if b != FREQUENCY
    ]
    share = sum(a < b for a, b in pairs) / len(pairs)
    assert abs(share - 0.5) < 4 * (0.25 / len(pairs)) ** 0.5


def test_there_are_the_19_suites_of_the_paper_and_its_21_regimes() -> None:
    assert len(PAPER) == 19 and len(REGIMES) == 21 and len(SUITES) == 40
    assert all(s.budget == 4 * (s.size - 1) and s.observations == 2 for s in PAPER if not s.golden)
    assert {s.name for s in REGIMES if s.size == 6} == {
        "5o0i-6", "10o0i-6", "20o0i-6", "0o5i-6", "0o10i-6", "0o20i-6", "5o5i-6", "5o10i-6",
        "5o20i-6",
    }  # fmt: skip
    assert SUITES["3o24i-4"].budget == 24 and SUITES["0o24i-4"].observations == 0


def test_coefficients_are_those_of_their_setting() -> None:
    graph = graphs(7, 30)[-1]
    rng = np.random.default_rng(2)
    reference = [sample_equations(graph, "linear", "reference", rng) for _ in range(40)]
    values = [t.linear for e in reference for ts in e.equations.values() for t in ts]
    assert set(values) == {1.0, 2.0, 3.0}
    assert {e.base for e in reference} <= set(map(float, range(15, 26)))
    wide = [sample_equations(graph, "linear", "wide", rng) for _ in range(40)]
    sizes = [t.linear for e in wide for ts in e.equations.values() for t in ts]
    assert min(map(abs, sizes)) >= 0.5 and max(map(abs, sizes)) <= 3
    assert 0.4 < sum(value > 0 for value in sizes) / len(sizes) < 0.6
    assert all(e.base for e in wide)
    for found in (sample_equations(graph, "quadratic", "reference", rng) for _ in range(40)):
        for terms in found.equations.values():
            for term in terms:
                assert term.quadratic in (0.008, 0.012, 0.016)
                assert 34.99 < -term.linear / (2 * term.quadratic) < 65.01
        floor = sum(t.linear**2 / (4 * t.quadratic) for t in found.equations[FREQUENCY])
        assert 14.9 < found.base - floor < 25.1


Graph = frozenset[tuple[str, str]]
NODES = "abcde"


def every_dag(nodes: Sequence[str]) -> list[Graph]:
    found = []
    pairs = list(combinations(nodes, 2))
    for choice in product((0, 1, 2), repeat=len(pairs)):
        edges = frozenset(
            (a, b) if way == 1 else (b, a) for (a, b), way in zip(pairs, choice, strict=True) if way
        )
        if nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
            found.append(edges)
    return found


def signature(edges: Graph, targets: Iterable[str]) -> tuple[object, object]:
    """Skeleton and v-structures of the graph with one more node per intervention."""
    augmented = edges | {(f"set {target}", target) for target in targets}
    skeleton = frozenset(frozenset(edge) for edge in augmented)
    colliders = frozenset(
        (frozenset((a, b)), c)
        for a, c in augmented
        for b, other in augmented
        if other == c and a != b and frozenset((a, b)) not in skeleton
    )
    return skeleton, colliders


@pytest.mark.parametrize(("size", "count"), [(2, 3), (3, 25), (4, 543)])
def test_sizes_agree_with_brute_force_for_every_graph_and_set_of_targets(size, count):
    nodes = NODES[:size]
    graphs = every_dag(nodes)
    assert len(graphs) == count
    for chosen in range(size + 1):
        for targets in combinations(nodes, chosen):
            classes: dict[object, int] = {}
            for graph in graphs:
                key = signature(graph, targets)
                classes[key] = classes.get(key, 0) + 1
            for graph in graphs:
                expected = classes[signature(graph, targets)]
                assert class_size(nodes, graph, targets) == expected, (graph, targets)


def test_five_nodes_agree_on_a_sample() -> None:
    """29,281 graphs; twenty of them against all."""
    graphs = every_dag(NODES)
    assert len(graphs) == 29281
    generator = random.Random(5)
    sample = generator.sample(graphs, 8)
    targets = [generator.sample(NODES, generator.randint(0, 3)) for _ in sample]
    for graph, chosen in zip(sample, targets, strict=True):
        key = signature(graph, chosen)
        skeleton = {frozenset(edge) for edge in graph}
        same = [g for g in graphs if {frozenset(edge) for edge in g} == skeleton]
        expected = sum(signature(other, chosen) == key for other in same)
        assert class_size(NODES, graph, chosen) == expected


def test_larger_graphs_are_not_enumerated() -> None:
    assert class_size("abcdef", {("a", "b")}, "") is None
