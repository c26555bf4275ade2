"""Contexts that can be measured, and units whose right answers give the exact value."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from builder.splits.settings import TomlTable
from builder.tracks.ccr.ask import answer_bits
from builder.tracks.ccr.check import unit_weights
from builder.tracks.ccr.graph import KINDS, ancestors, chain
from builder.tracks.ccr.model import BooleanContext, evaluate, patterns
from builder.tracks.ccr.plan import Design, best_component, check_design, draw_kinds, parse_settings
from builder.tracks.ccr.quantities import component_response
from builder.tracks.ccr.sampling import measurable, references, sample_context
from builder.tracks.ccr.units import MAX_UNITS, pair_units
from grader.errors import UsageError
from grader.tracks.ccr.algorithm import paths

ONE = {"simulation": 1}


def design(count: int, size: int = 3, operators: str = "random") -> Design:
    kinds = draw_kinds(KINDS, count, np.random.default_rng(count))
    return Design((size,) * count, kinds, operators)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("operators", ["random", "mixed"])
def test_sampled_contexts_keep_the_bounds(count: int, operators: str) -> None:
    """Below the bounds a relative error of 0.1 cannot be told from noise."""
    rng = np.random.default_rng(count)
    for _ in range(10):
        sampled = sample_context(design(count, 4, operators), rng, "here")
        tree = sampled.tree
        adjacent = list(pairwise(tree.nodes))
        for pair in adjacent:
            assert Fraction(15, 100) <= sampled.quantities[pair]["pns"] <= Fraction(85, 100)
        assert sampled.quantities[tree.global_pair]["pns"] >= Fraction(2, 100)
        assert measurable(tree, sampled.quantities) == tree.pairs
        assert references(tree, sampled.quantities) == (tree.global_pair,)


def test_nine_components_ask_only_what_can_be_measured() -> None:
    """The global PNS of nine components is exact, and far too small to ask about."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        sampled = sample_context(design(9), rng, "here")
        tree, exact = sampled.tree, sampled.quantities
        asked, counted = measurable(tree, exact), references(tree, exact)
        assert exact[tree.global_pair]["pns"] < Fraction(2, 100) and tree.global_pair not in asked
        assert all(tree.span(p) <= 5 and exact[p]["pns"] >= Fraction(2, 100) for p in asked)
        assert counted and all(2 <= tree.span(pair) <= 5 for pair in counted)
        for pair in counted:
            for path in paths(tree.nodes, pair):
                assert set(pairwise(path)) <= set(asked)


@pytest.mark.parametrize("operators", ["or", "and", "random", "mixed"])
@pytest.mark.parametrize(("kind", "size"), [("cycle", 2), ("cycle", 3), ("cycle", 4), ("wheel", 4)])
@pytest.mark.parametrize("tenths", [(2, 8), (4, 8), (3, 5)])
def test_the_best_attainable_pns_is_that_of_brute_force(operators, kind, size, tenths):
    """A bound that is too low refuses good designs; one too high samples in vain."""
    dag = chain([kind], [size], np.random.default_rng(0))
    both = ("or", "and")
    choices = {"or": [("or",) * size], "and": [("and",) * size]}.get(
        operators, list(product(both, repeat=size))
    )
    best = Fraction(0)
    for own in choices:
        for among in choices if operators == "mixed" and size < 4 else [own]:
            for ends in product(tenths, repeat=size - 1):
                context = BooleanContext(dag, own, among, (5, *ends))  # type: ignore[arg-type]
                best = max(best, component_response(context, tuple(range(size))).pns)
    assert best_component(size, operators, tenths) == best


def test_an_unattainable_design_is_refused_with_its_bound() -> None:
    """Sampling in vain for minutes is no way to say that sizes are wrong."""
    with pytest.raises(UsageError, match=r"splits.dev.ccr: a wheel of 5 .* at most 0.1296"):
        check_design(Design((3, 5), ("cycle", "wheel"), "or", (4, 8)), "splits.dev.ccr")
    with pytest.raises(UsageError, match=r"global PNS of at most 0.01"):
        check_design(Design((5,) * 5, ("cycle",) * 5, "or"), "splits.dev.ccr")
    check_design(Design((5, 5), ("wheel", "wheel"), "or"), "splits.dev.ccr")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, "simulation: no context"),
        ({"simulation": -1}, "simulation: must be a whole number from 0"),
        ({**ONE, "theme": []}, "unknown key"),
        ({**ONE, "components": [1, 3]}, "components: must be two whole numbers from 2"),
        ({**ONE, "nodes": [4, 3]}, "4 is more than 3"),
        ({**ONE, "kinds": ["weel"]}, 'unknown name "weel"; did you mean'),
        ({**ONE, "probability": [0.25, 0.8]}, "probability: must be tenths"),
        ({**ONE, "operators": ["or"], "nodes": [3, 10]}, "at most 0.1342"),
        ({"long": 1, "nodes": [3, 12]}, "more than the 77 variables"),
        ({**ONE, "graph": "figure-5"}, 'graph: unknown name "figure-5"; did you mean'),
        ({**ONE, "graph": "figure-4", "nodes": [3, 4]}, "nodes: cannot be had with graph"),
        ({**ONE, "graph": "figure-4", "linear": 3}, "linear: cannot be had with graph"),
        ({**ONE, "graph": "figure-4", "operators": ["or"], "probability": [0.7, 0.7]},
         "at most 0.027, below 0.15; use fewer nodes or other operators, or a lower bound"),
        ({**ONE, "local_pns": [0.5]}, "local_pns: must be two numbers from 0.0001 to 1"),
        ({**ONE, "global_pns": 0}, "global_pns: must be a number from 1e-06 to 1"),
        ({**ONE, "global_pns": 0.9}, "below 0.9; use fewer or smaller ones, or a lower bound"),
        ({"inductive": -1}, "inductive: must be a whole number from 0"),
        ({"additive": 0.5}, "additive: must be a whole number from 0"),
        ({**ONE, "graph": "figure-4", "additive": 3}, "additive: cannot be had with graph"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_in_one_line(change: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_settings(TomlTable(change, "mini.toml: splits.dev.ccr."))
    assert problem in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(("count", "size"), [(2, 3), (3, 3), (4, 4), (9, 3)])
def test_right_answers_give_every_exact_quantity(count: int, size: int) -> None:
    """Exhaustive or stratified: no sampling error in the estimate of a perfect reasoner."""
    rng = np.random.default_rng(count)
    sampled = sample_context(design(count, size), rng, "here")
    context, exact = sampled.context, sampled.quantities
    for pair in measurable(sampled.tree, exact):
        units = pair_units(context, sampled.tree, pair, rng)
        answers = {"do_true": answer_bits(units.high), "do_false": answer_bits(units.low)}
        weights = unit_weights({"weights": units.weights, "answers": answers})
        count = 2 ** len(ancestors(context.dag, context.dag.index[pair[1]]))
        exhaustive = "numerators" in units.weights
        assert exhaustive == (count <= MAX_UNITS)
        assert len(weights) == (count if exhaustive else MAX_UNITS)
        assert sum(weights) == 1
        cells = list(zip(weights, units.high, units.low, strict=True))
        pns = sum(w for w, high, low in cells if high and not low)
        above = sum(w for w, high, _ in cells if high)
        below = sum(w for w, _, low in cells if low)
        found = {"pns": pns, "pn": pns / above, "ps": pns / (1 - below), "ate": above - below}
        assert found == exact[pair]


def test_stratified_units_follow_their_distribution_within_a_cell() -> None:
    """Units drawn from the wrong conditional would bias every noisy reasoner's estimate."""
    rng = np.random.default_rng(11)
    sampled = sample_context(design(4, 4, "mixed"), rng, "here")
    context, tree = sampled.context, sampled.tree
    effect = context.dag.index[tree.nodes[-1]]
    everything = patterns(len(context.dag.nodes))
    odds = np.array(context.tenths)[:, None] / 10
    mass = np.where(everything, odds, 1 - odds).prod(axis=0)
    high, low = (evaluate(context, everything, {0: level})[effect] for level in (True, False))
    sums = {name: np.zeros(len(context.dag.nodes)) for name in ("11", "10", "00")}
    counts = dict.fromkeys(sums, 0)
    for _ in range(30):
        units = pair_units(context, tree, tree.global_pair, rng)
        for name in sums:
            inside = (units.high == (name[0] == "1")) & (units.low == (name[1] == "1"))
            sums[name] += units.bits[:, inside].sum(axis=1)
            counts[name] += int(inside.sum())
    for name, total in sums.items():
        inside = (high == (name[0] == "1")) & (low == (name[1] == "1"))
        expected = (everything[:, inside] * mass[inside]).sum(axis=1) / mass[inside].sum()
        spread = np.sqrt(np.clip(expected * (1 - expected), 1e-9, None) / counts[name])
        assert np.abs(total / counts[name] - expected).max() <= (4.5 * spread + 1e-9).max()
