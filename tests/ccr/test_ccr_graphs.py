"""Graphs with cutpoints and cut trees, exact quantities by two routes, inductive questions, the
paper's own graph.
"""

import json
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import prod
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from ccr_worlds import FIGURE_4, figure_4, random_context
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import ccr_simulations as simulations
from benchmarks.ccr_simulations import appendix_c
from builder.splits.config import load_config
from builder.splits.settings import TomlTable
from builder.tracks import TRACKS
from builder.tracks.ccr import model as ccr_model
from builder.tracks.ccr.plan import VERDICTS, ContextPlan, Design, draw_kinds, parse_settings
from builder.tracks.ccr.quantities import (
    exact_quantities,
    linear_effect,
    path_sum,
    total_effect,
    twin_quantities,
)
from builder.tracks.ccr.questions import check_deduction, compose
from builder.tracks.ccr.sampling import sample_additive, sample_context
from builder.tracks.ccr.text import decimal
from builder.tracks.ccr.track import TRACK
from grader.tracks.ccr.algorithm import paths


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(ccr_model.KINDS), st.integers(3, 8))
def test_a_component_is_biconnected_with_one_source_and_sink(seed, kind, size):
    """A component with a cutpoint inside would give two cut-tree edges where one is meant."""
    edges = ccr_model.component_edges(kind, size, np.random.default_rng(seed))
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
    kinds = [ccr_model.KINDS[k] for k in rng.integers(0, 3, count)]
    dag = ccr_model.chain(kinds, rng.integers(2, 6, count).tolist(), rng)
    tree = ccr_model.cut_tree(dag)
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
    tree = ccr_model.cut_tree(ccr_model.sorted_graph(list(pairwise(names))))
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
        (["AB", "BA"], "cycle"),
    ],
)
def test_graphs_outside_the_assumptions_are_refused(edges: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ccr_model.cut_tree(ccr_model.sorted_graph([(edge[0], edge[1]) for edge in edges]))


@pytest.mark.parametrize("seed", range(60))
def test_exact_quantities_equal_those_of_node_elimination_as_fractions(seed: int) -> None:
    """A truth that is off in the last digit is a truth nobody can check."""
    context = random_context(np.random.default_rng(seed))
    tree = ccr_model.cut_tree(context.dag)
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
    powers = {"XC": 3, "XD": 4, "XY": 7, "CD": 1, "CY": 4, "DY": 3}
    assert pns == pytest.approx({(a, b): 0.3**power for (a, b), power in powers.items()})


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
    # Equation C.7: past X3 there is X1, X5, X6, Y alone, 1.5 cubed; through it the product.
    path = ("X1", "X3", "Y")
    assert linear_effect(trap, "nde", path) == Fraction(27, 8)
    assert linear_effect(trap, "nie", path) == linear_effect(trap, "ate", path) == product
    assert linear_effect(context, "nde", path) == 0


def test_natural_effects_of_500_contexts_have_one_value_by_two_routes() -> None:
    """Example 3.2: nested counterfactuals, and sums over the paths that avoid a mediator or pass
    through it, as fractions; TE = NDE + NIE. None is small enough to be lost in a rounded sum."""
    for seed in range(500):
        rng = np.random.default_rng([seed, 32])
        context, (x, *mediators, y) = sample_additive(
            (4, 4), draw_kinds(ccr_model.KINDS, 2, rng), rng
        )
        total = path_sum(context, x, y)
        assert linear_effect(context, "te", (x, y)) == total and len({x, *mediators, y}) == 4
        for m in mediators:
            direct, indirect = (linear_effect(context, name, (x, m, y)) for name in ("nde", "nie"))
            assert direct == path_sum(context, x, y, avoided=m)
            assert indirect == path_sum(context, x, m) * path_sum(context, m, y)
            assert direct + indirect == total
            sizes = sorted(map(abs, (total, direct, indirect)))
            assert sizes[0] > 0 and sizes[2] <= 5 * sizes[0]


@cache
def sampled(seed: int, count: int) -> tuple[ccr_model.CutTree, dict[ccr_model.Pair, Fraction]]:
    rng = np.random.default_rng([seed, count])
    kinds = draw_kinds(ccr_model.KINDS, count, rng)
    found = sample_context(Design((3,) * count, kinds, "mixed"), rng, "here")
    return found.tree, {pair: values["pns"] for pair, values in found.quantities.items()}


def test_the_verdict_of_an_inductive_question_is_derived_twice() -> None:
    """From the printed givens, whose last digit may be off; and by models that are written down."""
    forms: Counter[tuple[str, int]] = Counter()
    for seed, count, verdict in product(range(30), (2, 3, 4), VERDICTS):
        if count == 2 and verdict == "inconsistent":
            continue
        tree, values = sampled(seed, count)
        question = compose(tree, values, verdict, np.random.default_rng([seed, count, 1]))
        assert question.target == tree.global_pair
        assert tree.global_pair not in question.givens
        printed = {pair: Fraction(decimal(value)) for pair, value in question.givens.items()}
        found, value = check_deduction(tree.nodes, printed, tree.global_pair, bounded=True)
        assert found == question.verdict == verdict
        forms[verdict, len(printed) - len(tree.components)] += 1
        fits = [fit(tree, values, question.givens, other) for other in (1, Fraction(1, 3))]
        if verdict == "value":
            assert value == pytest.approx(float(values[tree.global_pair]), rel=5e-3)
            assert question.value == fits[0] == values[tree.global_pair]
        elif verdict == "insufficient":
            low, high = sorted(whole for whole in fits if whole is not None)
            assert high > 2 * low
        else:
            assert fits[0] is None
    assert forms["value", 1] and forms["inconsistent", 1] and forms["insufficient", 0]
    assert forms["value", -1] and forms["value", 0] and forms["insufficient", -1]


def fit(
    tree: ccr_model.CutTree,
    values: dict[ccr_model.Pair, Fraction],
    givens: Mapping[ccr_model.Pair, Fraction],
    factor: Fraction | int,
) -> Fraction | None:
    """The whole of a model with the givens, in which what nothing is given about is changed by a
    factor; ``None`` where it does not have them."""
    told = {edge for pair in givens for edge in pairwise(tree.nodes) if inside(tree, edge, pair)}
    model = {e: values[e] * (1 if e in told else factor) for e in pairwise(tree.nodes)}
    for pair, value in givens.items():
        covered = [v for e, v in model.items() if inside(tree, e, pair)]
        if prod(covered, start=Fraction(1)) != value:
            return None
    return prod(model.values(), start=Fraction(1))


def inside(tree: ccr_model.CutTree, edge: ccr_model.Pair, given: ccr_model.Pair) -> bool:
    place = tree.nodes.index
    return place(given[0]) <= place(edge[0]) and place(edge[1]) <= place(given[1])


def test_contexts_of_the_later_purposes_follow_and_change_no_other() -> None:
    """Exams that were there keep their instances."""
    few = {"simulation": 3, "direct": 2, "deductive": 4, "linear": 3}
    configs = (parse_settings(TomlTable({**few, **more}, "x."))
               for more in ({}, {"inductive": 5, "stated": 2}))  # fmt: skip
    old, new = (TRACK.plan(config, "dev", b"root", False) for config in configs)
    assert new[: len(old)] == old and len(new) == len(old) + 7
    plans = [ContextPlan.from_json(spec.config_json) for spec in new[len(old) :]]
    assert [plan.purpose for plan in plans] == ["inductive"] * 5 + ["stated"] * 2
    assert all(len(plan.design.sizes) > 2 for plan in plans if plan.purpose == "inductive")


def test_the_papers_own_graph_has_its_edges_and_its_values(root: Path) -> None:
    """Figure 4 and Equation G.1: or throughout, every probability 0.7."""
    kinds, sizes = zip(*ccr_model.PAPER_GRAPHS["figure-4"], strict=True)
    dag = ccr_model.chain(kinds, sizes, np.random.default_rng(0))
    place = {name: str(k) for k, name in enumerate("XABCDEFY")}
    assert {*dag.edges} == {(place[a], place[b]) for a, b in FIGURE_4}
    (split,) = load_config(root / "splits" / "ccr-paper.toml", TRACKS).splits
    specs = TRACK.plan(dict(split.tracks)["ccr"], "dev", b"root", False)
    purposes = [ContextPlan.from_json(spec.config_json).purpose for spec in specs]
    counts = {"simulation": 2, "deductive": 8, "inductive": 8, "stated": 4}
    assert Counter(purposes) == counts
    spec, stated = (specs[purposes.index(purpose)] for purpose in ("simulation", "stated"))
    made = TRACK.build(spec)
    world = json.loads(str(made.rows["ccr_worlds"][0]["world_json"]))
    x, c, d, y = world["tree"]
    pns = {(q["cause"], q["effect"]): Fraction(q["pns"]) for q in world["quantities"]}
    assert pns[x, c] == pns[d, y] == Fraction(27, 1000) and pns[c, d] == Fraction(3, 10)
    assert pns[x, y] == Fraction(3, 10) ** 7 and len(made.rows["ccr"]) == 6
    inputs = [json.loads(str(row["inputs_json"])) for row in made.rows["ccr"]]
    assert {one["cause"] for one in inputs} == {x, c, d}
    assert len(TRACK.build(stated).rows["ccr"]) == 1


def test_bounds_of_ones_own_are_kept() -> None:
    bounds = {"local_pns": [0.05, 0.15], "global_pns": 0.001}
    config = parse_settings(TomlTable({"simulation": 6, "components": [2, 3], **bounds}, "x."))
    for spec in TRACK.plan(config, "dev", b"root", False):
        plan = ContextPlan.from_json(spec.config_json)
        found = sample_context(plan.design, np.random.default_rng(spec.index), "here")
        local = [found.quantities[pair]["pns"] for pair in pairwise(found.tree.nodes)]
        assert all(Fraction(5, 100) <= value <= Fraction(15, 100) for value in local)
        assert found.quantities[found.tree.global_pair]["pns"] >= Fraction(1, 1000)
    assert ccr_model.cut_tree(found.context.dag) == found.tree


def test_the_papers_simulations_converge() -> None:
    """Appendices C and E: of equal quantities none has a sample in common with another, all come
    near the exact value, and nearer with a hundred times the sample."""
    rng = np.random.default_rng(3)
    either, both = simulations.figure_4("or", 4), simulations.figure_4("and", 8)
    cases = [
        (simulations.sampled_pns(either), ("X", "Y"), Fraction(6, 10) ** 7),
        (simulations.sampled_pns(both), ("X", "C"), Fraction(8, 10) ** 3),
    ]
    for estimate, pair, truth in cases:
        errors = [[abs(estimate(pair, size, rng) / float(truth) - 1) for _ in range(20)]
                  for size in (500, 50_000)]  # fmt: skip
        assert np.mean(errors[1]) < np.mean(errors[0]) / 4 and max(errors[1]) < 0.15
    for bypass, whole in ((False, 20.25), (True, 23.625)):
        context = simulations.appendix_c(bypass)
        own = simulations.regression_coefficient(context, {("X3", "Y"): ["X5"]} if bypass else {})
        parts = own(("X1", "X3"), 40_000, rng) * own(("X3", "Y"), 40_000, rng)
        assert parts == pytest.approx(20.25, rel=0.03)
        assert own(("X1", "Y"), 40_000, rng) == pytest.approx(whole, rel=0.03)
    unadjusted = simulations.regression_coefficient(simulations.appendix_c(True), {})
    assert abs(unadjusted(("X3", "Y"), 40_000, rng) - 4.5) > 0.3, "X5 is a common cause there"
    tree = ("X", "C", "D", "Y")
    assert [one.text for one in simulations.inductive(tree)] == ["XY", "XC·CY", "XD·DY", "XC·CD·DY"]
    value = {("X", "C"): 2.0, ("C", "D"): 3.0, ("D", "Y"): 5.0, ("X", "D"): 6.0, ("C", "Y"): 15.0,
             ("X", "Y"): 30.0}  # fmt: skip
    assert {one.compute(value.__getitem__) for one in simulations.inductive(tree)} == {30.0}
    for group in simulations.deductive(tree):
        assert len({one.compute(value.__getitem__) for one in group}) == 1
