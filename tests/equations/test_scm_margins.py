"""Labels are given where they are clear, and nowhere else."""

import pytest

from builder.equations.margins import (
    association_margin,
    clear_dominance,
    clear_effect_sign,
    clear_largest_change,
    clear_sign,
    is_structural_zero,
)
from builder.equations.quantities import Quantity

ZERO = Quantity(0.0, 0.0, 0, "structural_zero")
SD = Quantity(2.0, 0.001, 4096, "rqmc")


def q(value: float, se: float = 0.0002) -> Quantity:
    return Quantity(value, se, 4096, "rqmc")


@pytest.mark.parametrize(
    ("value", "measured", "label"),
    [(0.031, False, "+"), (-0.031, False, "-"), (0.029, False, None), (-0.001, False, None),
     (0.099, True, None), (0.101, True, "+"), (0.0, False, None)],
)  # fmt: skip
def test_signs_of_associations_have_a_margin(value: float, measured: bool, label: str) -> None:
    assert clear_sign(q(value), association_margin(measured=measured)) == label


def test_a_zero_is_a_label_only_by_construction() -> None:
    """An estimate that happens to be small, or is printed as 0, is no zero."""
    assert clear_sign(ZERO, 0.03) == "0" and is_structural_zero(ZERO)
    assert clear_effect_sign(ZERO, SD) == "0"
    assert clear_sign(Quantity(0.0, 0.0, 0, "closed_form"), 0.03) is None


@pytest.mark.parametrize(
    ("value", "label"), [(0.11, "+"), (-0.11, "-"), (0.09, None), (-0.09, None)]
)
def test_signs_of_effects_are_clear_from_a_twentieth_of_the_outcomes_sd(value, label) -> None:
    assert clear_effect_sign(q(value), SD) == label


@pytest.mark.parametrize(
    ("changes", "winner"),
    [({"a": -0.2, "b": 0.1}, "a"), ({"a": 0.1, "b": -0.12}, None), ({"a": 0.4}, None),
     ({"a": 0.0, "b": 0.0}, None), ({"a": 0.02, "b": -0.31, "c": 0.27}, "b"), ({}, None)],
)  # fmt: skip
def test_the_largest_change_must_beat_the_second_by_the_margin(changes, winner) -> None:
    found = {z: q(value) if value else ZERO for z, value in changes.items()}
    assert clear_largest_change(found, 0.03) == winner


@pytest.mark.parametrize(
    ("direct", "indirect", "label"),
    [(1.0, 0.5, "direct"), (0.5, -1.0, "indirect"), (-1.0, 0.5, "direct"), (1.0, 0.9, None),
     (1.0, 1.0, None), (1.0, 0.84, "direct"), (1.0, 0.86, None), (4.0, -4.0, "tie"),
     (4.0, 3.95, "tie"), (4.0, 3.85, None), (0.0, 0.12, "indirect"), (0.0, 0.1, None)],
)  # fmt: skip
def test_dominance_keeps_clear_of_both_edges_of_the_tie_band(direct, indirect, label) -> None:
    """Outcome sd 2: a margin of 0.1 around a band of 5% of the larger effect."""
    assert clear_dominance(q(direct), q(indirect), SD) == label


# Four standard errors of 0.005 are 0.02; an outcome's sd of 2 ± 0.1 makes a margin of 0.1 ± 0.005.
LOOSE = Quantity(2.0, 0.1, 4096, "rqmc")


@pytest.mark.parametrize(("value", "label"), [(0.049, None), (0.051, "+"), (-0.051, "-")])
def test_an_associations_margin_holds_with_four_standard_errors(value, label) -> None:
    """Left out of the bound, the error would make the promise a matter of luck."""
    assert clear_sign(q(value, 0.005), 0.03) == label


@pytest.mark.parametrize(
    ("value", "se", "label"),
    [(0.119, 0.0, None), (0.121, 0.0, "+"), (0.127, 0.005, None), (0.129, 0.005, "+")],
)
def test_an_effects_margin_counts_the_error_of_the_sd_too(value, se, label) -> None:
    """Alone, and combined with the effect's: 4 sqrt(2) 0.005 = 0.0283."""
    assert clear_effect_sign(q(value, se), LOOSE) == label


@pytest.mark.parametrize(("second", "winner"), [(0.131, None), (0.129, "a")])
def test_errors_of_changes_from_the_same_units_add_up(second, winner) -> None:
    """0.2 beats it by 0.03 and 4 (0.005 + 0.005)."""
    found = {"a": q(-0.2, 0.005), "b": q(second, 0.005)}
    assert clear_largest_change(found, 0.03) == winner


@pytest.mark.parametrize(("indirect", "label"), [(0.816, None), (0.812, "direct")])
def test_dominance_counts_all_three_errors(indirect, label) -> None:
    """0.95 less 0.1 less 4 sqrt((0.95 0.005)^2 + 0.005^2 + 0.005^2) is 0.8159."""
    direct, other = q(1.0, 0.005), q(indirect, 0.005)
    assert clear_dominance(direct, other, LOOSE) == label
    turned = {"direct": "indirect"}.get(str(label), label)
    assert clear_dominance(other, direct, LOOSE) == turned


def test_two_structural_zeros_tie() -> None:
    assert clear_dominance(ZERO, ZERO, SD) == "tie"
    assert clear_dominance(ZERO, q(0.5), SD) == "indirect"
