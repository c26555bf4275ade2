"""Equations turned round: another sign of a parent's part, and nothing else."""

from itertools import combinations

import numpy as np
import pytest

from builder.scm.equation import Parent
from builder.scm.mechanisms import MECHANISMS

PARENTS = (Parent(0.3, 1.6), Parent(0.4, 0.49, binary=True), Parent(-0.5, 0.8))
TURNABLE = [name for name, family in MECHANISMS.items() if family.turn is not None]
BY_PARTS = [name for name in TURNABLE if name not in ("product", "neural", "rational")]


def columns() -> list[np.ndarray]:
    """Units of the parents."""
    rng = np.random.default_rng(1)
    return [
        (rng.random(4000) < p.mean).astype(float)
        if p.binary
        else p.mean + p.sd * rng.standard_normal(4000)
        for p in PARENTS
    ]


def moves(name: str, parameters) -> np.ndarray:
    """The mean change of the equation as each parent moves up."""
    units, mean = columns(), MECHANISMS[name].mean
    return np.array([
        np.mean(
            mean(parameters, [*units[:i], units[i] + 0.5, *units[i + 1 :]])
            - mean(parameters, [*units[:i], units[i] - 0.5, *units[i + 1 :]])
        )
        for i in range(len(PARENTS))
    ])  # fmt: skip


@pytest.mark.parametrize("name", BY_PARTS)
def test_only_the_turned_parents_move_the_mean_the_other_way(name) -> None:
    """Otherwise a wanted direction would never come about, or another would be lost by it."""
    turn = MECHANISMS[name].turn
    for seed in range(8):
        drawn = MECHANISMS[name].draw(np.random.default_rng(seed), PARENTS)
        before = moves(name, drawn)
        for which in combinations(range(3), 2):
            turned = turn(drawn, which, PARENTS)
            after = moves(name, turned)
            clear = np.abs(before) > 0.1
            signs = np.array([-1.0 if i in which else 1.0 for i in range(3)])
            assert (np.sign(after) == np.sign(before * signs))[clear].all()
            again = turn(turned, which, PARENTS)
            assert again.keys() == drawn.keys()
            for key, value in drawn.items():
                assert np.allclose(again[key], value, rtol=1e-12, atol=1e-12)


def test_a_network_is_mirrored_in_its_first_layer() -> None:
    """The equation at a parent's mirror image."""
    drawn = MECHANISMS["neural"].draw(np.random.default_rng(4), PARENTS)
    turned = MECHANISMS["neural"].turn(drawn, (0, 2), PARENTS)
    units = columns()
    mirrored = [
        unit if i == 1 else 2.0 * parent.mean - unit
        for i, (unit, parent) in enumerate(zip(units, PARENTS, strict=True))
    ]
    mean = MECHANISMS["neural"].mean
    assert np.allclose(mean(turned, units), mean(drawn, mirrored), atol=1e-9)


def test_a_product_turns_as_a_whole_or_not_at_all() -> None:
    """Its parents have no signs of their own."""
    drawn = MECHANISMS["product"].draw(np.random.default_rng(4), PARENTS)
    turn = MECHANISMS["product"].turn
    assert turn(drawn, (0, 2), PARENTS) is None
    assert turn(drawn, (0, 1, 2), PARENTS)["strength"] == -drawn["strength"]


def test_a_turned_gate_is_open_as_often() -> None:
    """A gate that hardly opens would leave the range that worlds are kept in."""
    for seed in range(6):
        drawn = MECHANISMS["signed_gate"].draw(np.random.default_rng(seed), PARENTS[::2])
        turned = MECHANISMS["signed_gate"].turn(drawn, (0, 1), PARENTS[::2])
        shares = [
            float(np.mean(MECHANISMS["signed_gate"].mean(p, columns()[::2])))
            for p in (drawn, turned)
        ]
        assert shares[0] == pytest.approx(shares[1], abs=0.05)
