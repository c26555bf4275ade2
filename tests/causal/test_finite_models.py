"""The yardstick itself: enumerated models against sums done by hand."""

import numpy as np
import pytest
from finite_models import FiniteSCM, joint_distribution, true_effect

from builder.causal.graph import LatentDAG


def test_effects_of_a_mediation_model_worked_by_hand() -> None:
    """If the yardstick were off, everything measured with it would agree on the wrong value.

    X fair; M = X with probability 3/4; Y = X and M, or else 1 with probability 1/5.
    """
    g = LatentDAG(("X", "M", "Y"), (("X", "M"), ("X", "Y"), ("M", "Y")))
    m = np.array([[0, 1], [1, 0]])  # m[x, noise]: noise 1 flips
    y = np.zeros((2, 2, 2), dtype=int)  # y[x, m, noise]
    y[1, 1, :] = 1
    y[..., 1] = 1
    scm = FiniteSCM(
        g,
        {"X": 2, "M": 2, "Y": 2},
        {"X": np.array([0.5, 0.5]), "M": np.array([0.75, 0.25]), "Y": np.array([0.8, 0.2])},
        {"X": np.array([0, 1]), "M": m, "Y": y},
    )
    # E[Y(1)] = .75 + .25/5 = .8, E[Y(0)] = .2, E[Y(1, M(0))] = .25 + .75/5 = .4, E[Y(0, M(1))] = .2
    assert true_effect(scm, "X", "Y", "ate") == pytest.approx(0.6)
    assert true_effect(scm, "X", "Y", "ett") == pytest.approx(0.6)
    assert true_effect(scm, "X", "Y", "nde") == pytest.approx(0.2)
    assert true_effect(scm, "X", "Y", "nie") == pytest.approx(0.0)
    assert true_effect(scm, "X", "Y", "ate", x0=1, x1=0) == pytest.approx(-0.6)
    joint = joint_distribution(scm)
    assert joint[1, 1, 1] == pytest.approx(0.5 * 0.75)
    assert joint[0, 0, 1] == pytest.approx(0.5 * 0.75 * 0.2)


def test_the_effect_on_the_treated_looks_at_the_treated_only() -> None:
    """U causes treatment and moderates the effect: Y = X and U, X = U, so the treated gain 1."""
    g = LatentDAG(("U", "X", "Y"), (("U", "X"), ("U", "Y"), ("X", "Y")), frozenset("U"))
    scm = FiniteSCM(
        g,
        dict.fromkeys(g.nodes, 2),
        {"U": np.array([0.7, 0.3]), "X": np.array([1.0]), "Y": np.array([1.0])},
        {
            "U": np.array([0, 1]),
            "X": np.array([[0], [1]]),
            "Y": np.array([[[0], [0]], [[0], [1]]]),
        },
    )
    assert true_effect(scm, "X", "Y", "ate") == pytest.approx(0.3)
    assert true_effect(scm, "X", "Y", "ett") == pytest.approx(1.0)
