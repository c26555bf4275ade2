"""Estimators, formulas and plans against closed forms, plain Monte Carlo and scikit-learn."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from baselines.causalds import estimators
from baselines.causalds.analysis import correlations, partial_correlation, predict_measured
from baselines.causalds.effect_plan import (
    NOTHING,
    is_effect_identifiable,
    natural_covariates,
    plan_effect,
)
from baselines.causalds.estimators import (
    Chosen,
    Contrast,
    Estimate,
    Tables,
    bootstrap_weights,
    draws,
    natural_effect,
    summary,
)
from baselines.causalds.regression import Columns, fit, make_basis, term_ladder
from baselines.exam import FloatArray, ShownScene
from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS, PLANTED


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
    assert all(("b", "b") not in terms for terms in term_ladder(columns, "c"))


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
def test_bootstrap_intervals_cover_as_often_as_they_say(draw):
    """Sixty samples with effect one: fewer than 52 covered has probability below 0.01 at 95%."""
    rng = np.random.default_rng(11)
    covered = sum((e := draw(rng)[1]).low <= 1.0 <= e.high for _ in range(60))
    assert covered >= 52


def mediated(n: int, interaction: float = 0.0) -> Columns:
    """X → M → Y, X → Y, C → all: M = X + C + noise, Y = 0.5 X + 2 M + interaction X M − C."""
    c, e, f, g = np.random.default_rng(8).standard_normal((4, n))
    x = 0.5 * c + e
    m = x + c + f
    y = 0.5 * x + 2 * m + interaction * x * m - c + 0.5 * g
    return {"c": c, "x": x, "m": m, "y": y}


def test_with_an_interaction_the_two_effects_use_the_levels_they_name() -> None:
    """NDE = 0.5 + E[M(1)] = 0.5 + 1 (x0 = 1); NIE = 2 + x0 = 3: other levels give other numbers."""
    data, contrast = mediated(6000, interaction=1.0), Contrast("x", "y", 1.0, 2.0)
    for direct, expected, error in ((True, 1.5, 0.08), (False, 3.0, 0.1)):
        found = natural_effect(contrast, ["m"], ["c"], data, weights(6000), {}, direct=direct)
        assert summary(found).value == pytest.approx(expected, abs=error)


def test_a_binary_mediator_by_summing_over_its_two_values() -> None:
    """Y is the exclusive or of X and M: the formula in closed form from cell frequencies."""
    rng = np.random.default_rng(8)
    x = (rng.random(8000) < 0.5).astype(float)
    m = (rng.random(8000) < 0.2 + 0.6 * x).astype(float)
    y = (rng.random(8000) < 0.1 + 0.7 * np.abs(x - m)).astype(float)
    cells = {(a, b): y[(x == a) & (m == b)].mean() for a in (0, 1) for b in (0, 1)}
    chance = {a: m[x == a].mean() for a in (0, 1)}

    def mean(a: int, b: int) -> float:
        return float(chance[b] * cells[a, 1] + (1 - chance[b]) * cells[a, 0])

    data = {"x": x, "m": m, "y": y}
    for direct, expected in ((True, mean(1, 0) - mean(0, 0)), (False, mean(0, 1) - mean(0, 0))):
        contrast, w = Contrast("x", "y", 0, 1), weights(8000)
        found = natural_effect(contrast, ["m"], [], data, w, {}, direct=direct)
        assert found[0] == pytest.approx(expected, abs=0.01)


def test_covariates_block_confounding_of_the_mediator() -> None:
    """A cause of M and Y that is no confounder of X is needed all the same."""
    graph = LatentDAG(("X", "M", "Y", "C"), (("X", "M"), ("M", "Y"), ("X", "Y"), ("C", "M"),
                                             ("C", "Y")))  # fmt: skip
    assert natural_covariates(graph, "X", "Y") == {"C"}
    hidden = LatentDAG(graph.nodes, graph.edges, frozenset({"C"}))
    assert natural_covariates(hidden, "X", "Y") is None
    assert not is_effect_identifiable(hidden, "X", "Y", "NDE", binary=True)


@pytest.mark.parametrize("name", sorted({**MOTIFS, **PLANTED}))
def test_a_plan_exists_exactly_where_the_effect_is_identifiable(name: str) -> None:
    """A missing plan would abstain without reason; a plan too many would commit without one."""
    motif = {**MOTIFS, **PLANTED}[name]
    x, y = motif.treatment, motif.outcome
    for effect in ("ATE", "ETT", "NDE", "NIE"):
        plan = plan_effect(motif.graph, Contrast(x, y, 0, 1), effect, binary=False)
        found = is_effect_identifiable(motif.graph, x, y, effect, binary=False)
        assert (plan is not None) == found
        if plan is not None and y not in motif.graph.descendants(x):
            assert plan is NOTHING
        if plan is not None and effect in ("ATE", "NDE", "NIE"):
            assert plan.widen == 1.0 or name == "napkin"  # every other formula is known


def test_correlations_agree_with_numpy_and_partial_ones_with_residuals() -> None:
    """The prompt's formula is the correlation of what two linear fits leave."""
    rng = np.random.default_rng(9)
    z, e, f = rng.standard_normal((3, 500))
    data = {"x": z + e, "y": f - z + 0.3 * e, "z": z}
    found = correlations(data, ("x", "y", "z"), np.ones((1, 500)))
    assert np.allclose(found[0], np.corrcoef([data[name] for name in "xyz"]), atol=1e-12)
    left = [data[name] - np.polyval(np.polyfit(z, data[name], 1), z) for name in "xy"]
    s = partial_correlation(found[:, 0, 1], found[:, 0, 2], found[:, 1, 2])
    assert s[0] == pytest.approx(np.corrcoef(left)[0, 1], abs=1e-12)
    (s,) = partial_correlation(*np.array([[0.0], [0.6], [0.5]]))
    assert s == pytest.approx(-0.3 / np.sqrt(0.64 * 0.75))
    # A measured binary variable may be predicted as 0 throughout.
    flat = {"x": np.zeros(50), "y": np.arange(50.0)}
    assert correlations(flat, ("x", "y"), np.ones((2, 50)))[:, 0, 1].tolist() == [0.0, 0.0]


def test_double_sampling_is_right_where_prediction_alone_is_not_and_tighter_than_few_rows() -> None:
    """Over 40 samples: the mean of squares, its rows predicted with half the variance gone."""

    def squares(data: Columns, w: FloatArray, chosen: Chosen) -> FloatArray:
        return np.asarray((w * data["x"] ** 2).mean(axis=1))

    rng = np.random.default_rng(15)
    both, few, predicted = [], [], []
    for _ in range(40):
        signal, rest = rng.standard_normal((2, 600))
        x = np.sqrt(0.8) * signal + np.sqrt(0.2) * rest
        places = np.arange(60)
        tables = Tables({"x": np.sqrt(0.8) * signal}, {"x": x[:60]}, places, frozenset({"x"}), True)
        both.append(draws(tables, frozenset({"x"}), squares, weights(600))[0])
        few.append(np.mean(x[:60] ** 2))
        predicted.append(np.mean(0.8 * signal**2))
    assert abs(np.mean(both) - 1) < 0.06 < 0.15 < 1 - np.mean(predicted)
    assert np.std(both) < 0.9 * np.std(few)


def test_without_measurements_there_is_one_sample_alone() -> None:
    """Clean scenes must not pay for a calibration they do not need."""
    tables = Tables({"x": np.arange(4.0)}, {}, np.zeros(0), frozenset(), True)
    w = np.ones((3, 4))
    found = draws(tables, frozenset({"x"}), lambda data, w, _: w @ data["x"], w)
    assert found.tolist() == [6.0, 6.0, 6.0]


def test_measured_variables_take_the_place_of_their_measurements() -> None:
    """An analyst asks for a variable by its name; without a column of it the baseline crashed."""
    rng = np.random.default_rng(4)
    heat = rng.normal(size=2300)
    vent = (rng.random(2300) < 0.4).astype(float)
    columns = {
        "heat_meas_a": 3 * heat + rng.normal(size=2300),
        "heat_meas_b": np.tanh(heat) + 0.3 * rng.normal(size=2300),
        "vent_meas_a": vent + 0.2 * rng.normal(size=2300),
        "load": heat + vent,
    }
    known = {name: v[:200] for name, v in {**columns, "heat": heat, "vent": vent}.items()}
    data = {name: values[:2000] for name, values in columns.items()}
    test = {name: values[2000:] for name, values in columns.items() if name != "load"}
    whole = predict_measured(ShownScene("scene-0", "proxy", "", data, test, known))
    assert set(whole.data) == {"heat", "vent", "load"} and set(whole.test) == {"heat", "vent"}
    assert np.corrcoef(whole.data["heat"], heat[:2000])[0, 1] > 0.93
    assert np.mean(whole.test["vent"] == vent[2000:]) > 0.97
    clean = ShownScene("scene-0", "clean", "", data, test)
    assert predict_measured(clean) is clean  # answered from the very rows that ship
