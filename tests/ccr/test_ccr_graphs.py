"""Graphs with cutpoints, their components and cut trees."""

from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from ccr_worlds import figure_4
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.tracks.ccr.graph import (
    KINDS,
    chain,
    component_edges,
    cut_tree,
    sorted_graph,
)
from grader.tracks.ccr.algorithm import paths


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.integers(3, 8))
def test_a_component_is_biconnected_with_one_source_and_sink(
    seed: int, kind: str, size: int
) -> None:
    """A component with a cutpoint inside would give two cut-tree edges where one is meant."""
    edges = component_edges(kind, size, np.random.default_rng(seed))
    graph: nx.Graph[int] = nx.Graph(edges)
    assert nx.is_biconnected(graph) and len(graph) == size
    assert {b for _, b in edges} == set(range(1, size))
    assert {a for a, _ in edges} == set(range(size - 1))
    if kind == "cycle":
        assert len(edges) == size
    if kind == "wheel" and size > 3:
        assert len(edges) == 2 * (size - 1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_components_agree_with_networkx(seed: int, count: int) -> None:
    """The chain is read off reachability; the undirected skeleton says the same."""
    rng = np.random.default_rng(seed)
    kinds = [KINDS[k] for k in rng.integers(0, 3, count)]
    dag = chain(kinds, rng.integers(2, 6, count).tolist(), rng)
    tree = cut_tree(dag)
    found = {frozenset(part) for part in nx.biconnected_components(nx.Graph(dag.edges))}
    ours = {frozenset(dag.nodes[v] for v in part) for part in tree.components}
    assert ours == found
    assert len(tree.components) == count
    for component in tree.components:
        part = nx.DiGraph(dag.edges).subgraph(dag.nodes[v] for v in component)
        assert [v for v in part if not part.pred[v]] == [dag.nodes[component[0]]]
        assert [v for v in part if not part.succ[v]] == [dag.nodes[component[-1]]]


def test_the_running_example_of_figure_4() -> None:
    """Eight variables, three components, the quantities of Table 1, three indirect paths."""
    tree = cut_tree(figure_4().dag)
    assert tree.nodes == ("X", "C", "D", "Y") and len(tree.components) == 3
    assert tree.global_pair == ("X", "Y")
    assert set(tree.local_pairs) == {("X", "C"), ("X", "D"), ("C", "D"), ("C", "Y"), ("D", "Y")}
    direct, *indirect = paths(tree.nodes, tree.global_pair)
    assert direct == ("X", "Y")
    assert set(indirect) == {("X", "C", "Y"), ("X", "D", "Y"), ("X", "C", "D", "Y")}


@pytest.mark.parametrize("nodes", range(3, 12))
def test_counts_of_table_d1(nodes: int, root: Path) -> None:
    """n - 2 cutpoints, C(n, 2) edges, 2^(n - 2) paths for cut trees of 3 to 11 nodes, as the guide
    to the paper prints them: the paper's beside ours."""
    names = [f"N{k}" for k in range(nodes)]
    tree = cut_tree(sorted_graph(list(pairwise(names))))
    assert len(tree.nodes) - 2 == nodes - 2
    assert len(tree.pairs) == nodes * (nodes - 1) // 2
    found = paths(tree.nodes, tree.global_pair)
    assert len(found) == 2 ** (nodes - 2)
    counts = len(tree.nodes) - 2, len(tree.pairs), len(found)
    line = f"| {nodes} | " + " | ".join(f"{count} | {count}" for count in counts) + " |"
    assert line in (root / "docs" / "papers" / "ccr.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    ("edges", "problem"),
    [
        (["AB", "AC", "BC"], "no cutpoint"),
        (["AB"], "no cutpoint"),
        (["AB", "CB", "BD"], "2 roots"),
        (["AB", "BC", "BD"], "2 leaves"),
    ],
)
def test_graphs_outside_the_assumptions_are_refused(edges: list[str], problem: str) -> None:
    dag = sorted_graph([(edge[0], edge[1]) for edge in edges])
    with pytest.raises(ValueError, match=problem):
        cut_tree(dag)


def test_a_cycle_is_no_graph() -> None:
    with pytest.raises(ValueError, match="cycle"):
        sorted_graph([("A", "B"), ("B", "A")])
