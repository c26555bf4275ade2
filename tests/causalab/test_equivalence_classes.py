"""Interventional equivalence classes against brute force over every directed acyclic graph.

The brute force adds a node per intervention and compares skeletons and v-structures of the
augmented graphs, which is the definition; the implementation uses the criterion that follows.
"""

import random
from collections.abc import Iterable, Sequence
from itertools import combinations, product

import pytest

from grader.tracks.causalab.diagnostics import class_size

Graph = frozenset[tuple[str, str]]
NODES = "abcde"


def acyclic(edges: Graph) -> bool:
    nodes = {end for edge in edges for end in edge}
    while nodes:
        sinks = {n for n in nodes if not any(a == n and b in nodes for a, b in edges)}
        if not sinks:
            return False
        nodes -= sinks
    return True


def every_dag(nodes: Sequence[str]) -> list[Graph]:
    found = []
    pairs = list(combinations(nodes, 2))
    for choice in product((0, 1, 2), repeat=len(pairs)):
        edges = frozenset(
            (a, b) if way == 1 else (b, a) for (a, b), way in zip(pairs, choice, strict=True) if way
        )
        if acyclic(edges):
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
def test_sizes_agree_with_brute_force_for_every_graph_and_set_of_targets(
    size: int, count: int
) -> None:
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
