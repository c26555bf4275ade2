"""Estimators against closed forms, plain Monte Carlo and scikit-learn."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from baselines.causalds import estimators
from baselines.causalds.estimators import Contrast, Estimate, bootstrap_weights, summary
from baselines.causalds.regression import fit, make_basis, term_ladder

FloatArray = NDArray[np.float64]
Columns = dict[str, FloatArray]


def backdoor(data: Columns, contrast: Contrast, given: list[str], w: FloatArray) -> Estimate:
    return summary(estimators.backdoor(contrast, given, data, w, {}))


def frontdoor(data: Columns, contrast: Contrast, through: list[str], w: FloatArray) -> Estimate:
    return summary(estimators.frontdoor(contrast, through, data, w, {}))


def weights(n: int, replicates: int = 100) -> FloatArray:
    return bootstrap_weights(np.random.default_rng(5), n, replicates)


def test_weighted_logistic_regression_agrees_with_scikit_learn() -> None:
    """A Newton step that stops early would bias every binary outcome."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((500, 2))
    y = (rng.random(500) < expit(x @ [1.0, -2.0] + 0.5)).astype(float)
    w = rng.random(500)
    model = LogisticRegression(C=1e6, tol=1e-10, max_iter=1000).fit(x, y, sample_weight=w)
    found = fit(np.column_stack([np.ones(500), x]), y, w[None], True)[0]
    assert np.allclose(found, [model.intercept_[0], *model.coef_[0]], atol=5e-3)


def test_separated_classes_give_finite_coefficients() -> None:
    """A bootstrap sample with one class would turn the interval into NaN."""
    x = np.linspace(-1, 1, 50)
    design = np.column_stack([np.ones(50), x])
    for y in ((x > 0).astype(float), np.zeros(50)):
        assert np.isfinite(fit(design, y, np.ones((1, 50)), True)).all()


def test_a_basis_is_applied_with_the_constants_of_the_sample_it_was_made_on() -> None:
    """Held-out rows would be standardised by themselves and shift every prediction."""
    train = {"a": np.array([0.0, 2.0, 4.0])}
    basis = make_basis(train, [(), ("a",)])
    assert np.allclose(basis({"a": np.array([2.0])}), [[1.0, 0.0]])


def test_two_valued_columns_get_no_squares() -> None:
    """The design would be singular."""
    columns = {"b": np.array([0.0, 1.0, 1.0]), "c": np.array([0.1, 0.2, 0.3])}
    assert all(("b", "b") not in terms for terms in term_ladder(columns))


def heterogeneous(n: int, rng: np.random.Generator, binary_x: bool) -> Columns:
    """Z → X, Z → Y, X → Y with an effect of 1 + Z per unit of X."""
    z = rng.standard_normal(n)
    x = (rng.random(n) < expit(z)).astype(float) if binary_x else z + rng.standard_normal(n)
    return {"z": z, "x": x, "y": (1 + z) * x + z + 0.5 * rng.standard_normal(n)}


def test_the_effect_on_the_treated_differs_from_the_average_where_it_should() -> None:
    """Reporting the ATE for the ETT would pass every test without interactions."""
    data = heterogeneous(6000, np.random.default_rng(3), True)
    big = heterogeneous(400_000, np.random.default_rng(4), True)
    treated = 1 + float(big["z"][big["x"] == 1].mean())
    w = weights(6000)
    ate = backdoor(data, Contrast("x", "y", 0, 1), ["z"], w)
    ett = backdoor(data, Contrast("x", "y", 0, 1, treated=True), ["z"], w)
    assert ate.value == pytest.approx(1.0, abs=0.06)
    assert ett.value == pytest.approx(treated, abs=0.06) and treated > 1.3


def test_the_effect_on_the_treated_of_a_continuous_treatment_conditions_on_its_level() -> None:
    """E[Z | X = 2] = 1 here, so the effect per unit among those units is 2, not 1."""
    data = heterogeneous(6000, np.random.default_rng(5), False)
    contrast = Contrast("x", "y", 1.0, 2.0, treated=True)
    assert backdoor(data, contrast, ["z"], weights(6000)).value == pytest.approx(2.0, abs=0.08)


def hidden_cause(n: int, rng: np.random.Generator, do: float | None = None) -> Columns:
    """U → X → M → Y ← U with logistic Y; ``y`` under ``do`` keeps the noise of the natural run."""
    u, e, f, g = rng.standard_normal((4, n))
    x = 0.8 * u + e if do is None else np.full(n, do)
    m = 0.7 * x + 0.6 * f
    return {"x": x, "m": m, "y": (g < 1.2 * m + 1.2 * u).astype(float), "natural": 0.8 * u + e}


def test_the_front_door_formula_undoes_hidden_confounding() -> None:
    """Standardisation alone would report twice the effect."""
    low, high = (hidden_cause(400_000, np.random.default_rng(7), v)["y"] for v in (-0.8, 0.8))
    effect = float(high.mean() - low.mean())
    data = hidden_cause(6000, np.random.default_rng(8))
    w = weights(6000)
    found = frontdoor(data, Contrast("x", "y", -0.8, 0.8), ["m"], w)
    assert found.value == pytest.approx(effect, abs=0.04)
    assert backdoor(data, Contrast("x", "y", -0.8, 0.8), [], w).value > effect + 0.2


def test_the_front_door_effect_on_the_treated_keeps_their_own_hidden_cause() -> None:
    """The units with X = 0.8 have a larger U than the population."""
    worlds = [hidden_cause(400_000, np.random.default_rng(9), v) for v in (-0.8, 0.8)]
    near = np.abs(worlds[0]["natural"] - 0.8) < 0.05
    effect = float(worlds[1]["y"][near].mean() - worlds[0]["y"][near].mean())
    data = hidden_cause(6000, np.random.default_rng(10))
    contrast = Contrast("x", "y", -0.8, 0.8, treated=True)
    assert frontdoor(data, contrast, ["m"], weights(6000)).value == pytest.approx(effect, abs=0.04)


def linear(rng: np.random.Generator) -> tuple[Columns, Estimate]:
    z, e, f = rng.standard_normal((3, 300))
    data = {"z": z, "x": z + e, "y": z + e - z + f}
    return data, backdoor(data, Contrast("x", "y", 0, 1), ["z"], weights(300))


def through(rng: np.random.Generator) -> tuple[Columns, Estimate]:
    u, e, f, g = rng.standard_normal((4, 300))
    x = u + e
    data = {"x": x, "m": x + f, "y": x + f + u + g}
    return data, frontdoor(data, Contrast("x", "y", 0, 1), ["m"], weights(300))


@pytest.mark.parametrize("draw", [linear, through], ids=["back-door", "front-door"])
def test_bootstrap_intervals_cover_as_often_as_they_say(
    draw: Callable[[np.random.Generator], tuple[Columns, Estimate]],
) -> None:
    """Sixty samples with effect one: fewer than 52 covered has probability below 0.01 at 95%."""
    rng = np.random.default_rng(11)
    covered = sum((e := draw(rng)[1]).low <= 1.0 <= e.high for _ in range(60))
    assert covered >= 52
