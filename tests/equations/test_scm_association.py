"""Associations given a further variable, and labels that are given where they are clear."""

import numpy as np
import pytest
from small_worlds import line, switch, world_of

from builder.equations.association import affine_given, associations, zero_partial
from builder.equations.noise import Noise
from builder.equations.quantities import (
    STRUCTURAL_ZERO,
    BoundNotMet,
    Quantity,
    association_margin,
    clear_dominance,
    clear_effect_sign,
    clear_largest_change,
    clear_sign,
)
from builder.equations.world import Node, World

UNITS = 40_000


def bent(name: str, parent: str) -> Node:
    """A step: as far from a line as an equation gets."""
    parameters = {
        "strengths": (1.5,), "steps": (1.0,), "knots": (0.2,), "bias": 0.0,
        "centres": (0.0,), "scales": (1.0,),
    }  # fmt: skip
    return Node(name, "continuous", (parent,), "piecewise", parameters, Noise("gauss", 0.5, ()))


def others(case) -> list[str]:
    return [v for v in case.world.graph.nodes if v not in (case.x, case.y)]


def sample(columns: np.ndarray) -> tuple[float, float]:
    """(r_XY, r_XY.Z) from the inverse of the sample covariance of (X, Y, Z)."""
    covariance = np.cov(columns)
    precision = np.linalg.inv(covariance)
    return (
        covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]),
        -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]),
    )


@pytest.fixture(scope="module")
def associated(curved_cases):
    """What the library says of each of the worlds."""
    return [associations(c.world, c.x, c.y, others(c), c.rng(1)) for c in curved_cases]


def test_partial_correlations_agree_with_precision_matrices_of_samples(curved_cases, associated):
    """Partial ones, changes and marginal ones against 40,000 simulated units."""
    checked = 0
    for case, found in zip(curved_cases, associated, strict=True):
        values = case.world.simulate(case.rng(2), UNITS)
        for z in others(case):
            columns = np.array([values[v] for v in (case.x, case.y, z)])
            r, partial = sample(columns)
            blocks = np.array([sample(b) for b in np.split(columns, 40, axis=1)])
            changes = blocks[:, 1] - blocks[:, 0]
            for truth, value, spread in (
                (found.marginal, r, blocks[:, 0].std()),
                (found.partial[z], partial, blocks[:, 1].std()),
                (found.change[z], partial - r, changes.std()),
            ):
                se = np.hypot(truth.se, spread / np.sqrt(40))
                assert abs(truth.value - value) <= 5 * se + 1e-9, (case.name, z)
                assert truth.se <= 0.001
                checked += truth.source == "rqmc" and truth is not found.marginal
        sd = found.outcome_sd
        assert sd.value == pytest.approx(values[case.y].std(), rel=0.03)
        assert sd.se <= 0.005 * sd.value
    assert checked >= 30


def partial_source(world: World, z: str = "Z") -> tuple[str, str, float]:
    found = associations(world, "X", "Y", (z,), np.random.default_rng(0))
    return found.partial[z].source, found.change[z].source, found.partial[z].value


def test_partial_correlations_are_zero_only_where_a_line_makes_them() -> None:
    """Separation given Z is not enough; an affine mean of X or of Y given Z is."""
    # A line on one side is enough, whatever the noise.
    assert partial_source(world_of(line("Z", {}, "laplace"), line("X", {"Z": 1.0}, "laplace"),
                                   bent("Y", "Z")))[0] == "structural_zero"  # fmt: skip
    # Two bent sides leave something behind.
    source, _, value = partial_source(world_of(line("Z", {}), bent("X", "Z"), bent("Y", "Z")))
    assert source == "rqmc" and abs(value) > 0.03
    # Downstream of a line the mean stays a line; a bend in between ends that.
    assert partial_source(
        world_of(line("Z", {}), line("A", {"Z": 0.9}), line("X", {"A": 0.8}), bent("Y", "Z"))
    )[0] == "structural_zero"  # fmt: skip
    assert partial_source(
        world_of(line("Z", {}), bent("A", "Z"), line("X", {"A": 0.8}), bent("Y", "Z"))
    )[0] == "rqmc"  # fmt: skip
    # Backwards through Z a mean is a line for Gaussians, not for other laws.
    chain = [line("Z", {"X": 0.8}), bent("Y", "Z")]
    assert partial_source(world_of(line("X", {}), *chain))[0] == "structural_zero"
    assert partial_source(world_of(line("X", {}, "laplace"), *chain))[0] == "rqmc"
    # A linear model needs no Gaussian anywhere.
    chain = [line("X", {}, "laplace"), line("Z", {"X": 0.8}, "laplace"), line("Y", {"Z": 1.0})]
    assert partial_source(world_of(*chain))[0] == "structural_zero"


def test_changes_are_zero_where_a_variable_has_nothing_to_do_with_it() -> None:
    """Z apart from both; X apart from Y and Z; but not where only one link is missing."""
    apart = world_of(line("Z", {}), line("X", {}), line("Y", {"X": 1.0}))
    assert partial_source(apart)[:2] == ("rqmc", "structural_zero")
    alone = world_of(line("X", {}), line("Z", {}), bent("Y", "Z"))
    assert partial_source(alone)[:2] == ("structural_zero", "structural_zero")
    instrument = world_of(line("Z", {}), line("X", {"Z": 1.0}), line("Y", {"X": 1.0}))
    assert partial_source(instrument)[1] == "rqmc"
    confounder = world_of(line("Z", {}), line("X", {"Z": 1.0}), bent("Y", "Z"))
    source, change, _ = partial_source(confounder)
    assert (source, change) == ("structural_zero", "rqmc")


def test_a_mean_given_a_binary_variable_is_always_a_line() -> None:
    """Two points have a line through them."""
    world = world_of(switch("Z", {}, 0.4), bent("X", "Z"), bent("Y", "Z"))
    assert affine_given(world, "X", "Z") and zero_partial(world, "X", "Y", "Z")


def test_hopeless_bounds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A truth that is not known well enough is never returned."""
    world = world_of(line("Z", {}), bent("X", "Z"), bent("Y", "Z"))
    monkeypatch.setattr("builder.equations.association.CORRELATION_BOUND", 1e-12)
    with pytest.raises(BoundNotMet, match="associations of X and Y: standard error"):
        associations(world, "X", "Y", ("Z",), np.random.default_rng(0))


ZERO = Quantity(0.0, 0.0, 0, "structural_zero")
SD = Quantity(2.0, 0.001, 4096, "rqmc")
# Four standard errors of 0.005 are 0.02; an outcome's sd of 2 ± 0.1 makes a margin of 0.1 ± 0.005.
LOOSE = Quantity(2.0, 0.1, 4096, "rqmc")


def q(value: float, se: float = 0.0002) -> Quantity:
    return Quantity(value, se, 4096, "rqmc") if value else ZERO


@pytest.mark.parametrize(
    ("value", "measured", "label"),
    [(q(0.031), False, "+"), (q(-0.031), False, "-"), (q(0.029), False, None),
     (q(-0.001), False, None), (q(0.099), True, None), (q(0.101), True, "+"), (ZERO, False, "0"),
     (q(0.049, 0.005), False, None), (q(0.051, 0.005), False, "+"), (q(-0.051, 0.005), False, "-"),
     (Quantity(0.0, 0.0, 0, "closed_form"), False, None)],
)  # fmt: skip
def test_signs_of_associations_have_a_margin(value, measured, label) -> None:
    """It holds with four standard errors."""
    assert clear_sign(value, association_margin(measured=measured)) == label
    assert (value == STRUCTURAL_ZERO) == (label == "0")


@pytest.mark.parametrize(
    ("value", "sd", "label"),
    [(q(0.11), SD, "+"), (q(-0.11), SD, "-"), (q(0.09), SD, None), (q(-0.09), SD, None),
     (ZERO, SD, "0"), (q(0.119, 0.0), LOOSE, None), (q(0.121, 0.0), LOOSE, "+"),
     (q(0.127, 0.005), LOOSE, None), (q(0.129, 0.005), LOOSE, "+")],
)  # fmt: skip
def test_signs_of_effects_are_clear_from_a_twentieth_of_the_outcomes_sd(value, sd, label) -> None:
    """The sd's error counts, too: alone, and with the effect's, 4 sqrt(2) 0.005 = 0.0283."""
    assert clear_effect_sign(value, sd) == label


@pytest.mark.parametrize(
    ("changes", "se", "winner"),
    [({"a": -0.2, "b": 0.1}, 0.0002, "a"), ({"a": 0.1, "b": -0.12}, 0.0002, None),
     ({"a": 0.4}, 0.0002, None), ({"a": 0.0, "b": 0.0}, 0.0002, None), ({}, 0.0002, None),
     ({"a": 0.02, "b": -0.31, "c": 0.27}, 0.0002, "b"),
     ({"a": -0.2, "b": 0.131}, 0.005, None), ({"a": -0.2, "b": 0.129}, 0.005, "a")],
)  # fmt: skip
def test_the_largest_change_must_beat_the_second_by_the_margin(changes, se, winner) -> None:
    """Errors of changes from the same units add up: by 0.03 and 4 (0.005 + 0.005)."""
    found = {z: q(value, se) for z, value in changes.items()}
    assert clear_largest_change(found, 0.03) == winner


@pytest.mark.parametrize(
    ("direct", "indirect", "label"),
    [(1.0, 0.5, "direct"), (0.5, -1.0, "indirect"), (-1.0, 0.5, "direct"), (1.0, 0.9, None),
     (1.0, 1.0, None), (1.0, 0.84, "direct"), (1.0, 0.86, None), (4.0, -4.0, "tie"),
     (4.0, 3.95, "tie"), (4.0, 3.85, None), (0.0, 0.12, "indirect"), (0.0, 0.1, None),
     (0.0, 0.5, "indirect"), (0.0, 0.0, "tie")],
)  # fmt: skip
def test_dominance_keeps_clear_of_both_edges_of_the_tie_band(direct, indirect, label) -> None:
    """Outcome sd 2: a margin of 0.1 around a band of 5% of the larger effect."""
    assert clear_dominance(q(direct), q(indirect), SD) == label


@pytest.mark.parametrize(("indirect", "label"), [(0.816, None), (0.812, "direct")])
def test_dominance_counts_all_three_errors(indirect, label) -> None:
    """0.95 less 0.1 less 4 sqrt((0.95 0.005)^2 + 0.005^2 + 0.005^2) is 0.8159."""
    direct, other = q(1.0, 0.005), q(indirect, 0.005)
    assert clear_dominance(direct, other, LOOSE) == label
    turned = {"direct": "indirect"}.get(str(label), label)
    assert clear_dominance(other, direct, LOOSE) == turned
