"""Graphs with cutpoints and cut trees, and exact quantities by two routes."""

from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from ccr_worlds import figure_4, random_context
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.ccr_simulations import appendix_c
from builder.tracks.ccr.graph import KINDS, chain, component_edges, cut_tree, sorted_graph
from builder.tracks.ccr.plan import draw_kinds
from builder.tracks.ccr.quantities import (
    exact_quantities,
    linear_effect,
    path_sum,
    total_effect,
    twin_quantities,
)
from builder.tracks.ccr.sampling import sample_additive
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


@pytest.mark.parametrize("seed", range(60))
def test_exact_quantities_equal_those_of_node_elimination_as_fractions(seed: int) -> None:
    """A truth that is off in the last digit is a truth nobody can check."""
    context = random_context(np.random.default_rng(seed))
    tree = cut_tree(context.dag)
    exact = exact_quantities(context)
    assert exact == {pair: twin_quantities(context, pair) for pair in tree.pairs}
    pns = {pair: values["pns"] for pair, values in exact.items()}
    for pair in tree.pairs:
        for path in paths(tree.nodes, pair):
            assert prod(pns[step] for step in pairwise(path)) == pns[pair]
        assert exact[pair]["ate"] == exact[pair]["pns"]


def test_node_elimination_is_right_where_the_factorisation_cannot_help() -> None:
    """The second derivation must be able to disagree: a pair across the cut tree's grain."""
    context = figure_4(4)
    found = twin_quantities(context, ("A", "C"))
    # A raises C exactly when C's own bit, X and B are all zero: 0.6 ** 3.
    assert found["pns"] == Fraction(6, 10) ** 3
    assert found["pn"] != found["pns"]  # X confounds A and C: PN is not PNS / P(y_x)


def test_the_running_example_has_the_stated_values() -> None:
    """All *or* with p = 0.7: powers of 0.3, too small for 1,000 samples."""
    pns = {pair: float(v["pns"]) for pair, v in exact_quantities(figure_4()).items()}
    assert pns == pytest.approx(
        {
            ("X", "C"): 0.027,
            ("X", "D"): 0.0081,
            ("X", "Y"): 0.3**7,
            ("C", "D"): 0.3,
            ("C", "Y"): 0.0081,
            ("D", "Y"): 0.027,
        }
    )


def test_the_linear_example_of_appendix_c() -> None:
    """4.5, 20.25, and 23.625 when an edge bypasses the cutpoint (Eq. C.8 to C.11)."""
    context = appendix_c(bypass=False)
    exact = exact_quantities(context)
    assert exact["X1", "X3"]["ate"] == exact["X3", "Y"]["ate"] == Fraction(9, 2)
    assert exact["X1", "Y"]["ate"] == Fraction(81, 4)
    assert {pair: {"ate": path_sum(context, *pair)} for pair in exact} == exact
    trap = appendix_c(bypass=True)
    assert total_effect(trap, "X1", "Y") == path_sum(trap, "X1", "Y") == Fraction(189, 8)
    product = total_effect(trap, "X1", "X3") * total_effect(trap, "X3", "Y")
    assert product == Fraction(81, 4)
    with pytest.raises(ValueError, match="no cutpoint"):
        exact_quantities(trap)


def test_natural_effects_of_500_contexts_have_one_value_by_two_routes() -> None:
    """Example 3.2: nested counterfactuals, and sums over the paths that avoid a mediator or pass
    through it, as fractions; TE = NDE + NIE. None is small enough to be lost in a rounded sum."""
    for seed in range(500):
        rng = np.random.default_rng([seed, 32])
        context, (x, *mediators, y) = sample_additive((4, 4), draw_kinds(KINDS, 2, rng), rng)
        total = path_sum(context, x, y)
        assert linear_effect(context, "te", (x, y)) == total and len({x, *mediators, y}) == 4
        for m in mediators:
            direct, indirect = (linear_effect(context, name, (x, m, y)) for name in ("nde", "nie"))
            assert direct == path_sum(context, x, y, avoided=m)
            assert indirect == path_sum(context, x, m) * path_sum(context, m, y)
            assert direct + indirect == total
            sizes = sorted(map(abs, (total, direct, indirect)))
            assert sizes[0] > 0 and sizes[2] <= 5 * sizes[0]


def test_the_natural_effects_of_appendix_c() -> None:
    """Equation C.7: past X3 there is X1, X5, X6, Y alone, 1.5 cubed; through it the product."""
    trap, path = appendix_c(bypass=True), ("X1", "X3", "Y")
    assert linear_effect(trap, "nde", path) == Fraction(27, 8)
    assert linear_effect(trap, "nie", path) == linear_effect(trap, "ate", path) == Fraction(81, 4)
    assert linear_effect(appendix_c(bypass=False), "nde", path) == 0
