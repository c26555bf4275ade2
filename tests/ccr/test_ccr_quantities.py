"""Exact quantities: two routes agree, compositions hold, the paper's numbers come out."""

from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
import pytest
from ccr_worlds import figure_4, random_context

from benchmarks.ccr_simulations import appendix_c
from builder.tracks.ccr.graph import KINDS, cut_tree
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
