"""Mediation, correlations, double sampling and staged interventions against closed forms."""

import numpy as np
import pytest
from numpy.typing import NDArray

from baselines.causalds.desk import completed, correlations, partial
from baselines.causalds.estimators import (
    Chosen,
    Columns,
    Contrast,
    Tables,
    bootstrap_weights,
    draws,
    natural_effect,
    summary,
)
from baselines.causalds.identified import NOTHING, identifiable, natural_covariates, plan_effect
from baselines.taking import ShownScene
from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS, PLANTED

FloatArray = NDArray[np.float64]


def weights(n: int) -> FloatArray:
    return bootstrap_weights(np.random.default_rng(3), n)


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
    w = weights(6000)
    assert summary(
        natural_effect(contrast, ["m"], ["c"], data, w, {}, direct=True)
    ).value == pytest.approx(1.5, abs=0.08)
    assert summary(
        natural_effect(contrast, ["m"], ["c"], data, w, {}, direct=False)
    ).value == pytest.approx(3.0, abs=0.1)


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
        found = natural_effect(
            Contrast("x", "y", 0, 1), ["m"], [], data, weights(8000), {}, direct=direct
        )
        assert found[0] == pytest.approx(expected, abs=0.01)


def test_covariates_block_confounding_of_the_mediator() -> None:
    """A cause of M and Y that is no confounder of X is needed all the same."""
    graph = LatentDAG(("X", "M", "Y", "C"), (("X", "M"), ("M", "Y"), ("X", "Y"), ("C", "M"),
                                             ("C", "Y")))  # fmt: skip
    assert natural_covariates(graph, "X", "Y") == {"C"}
    hidden = LatentDAG(graph.nodes, graph.edges, frozenset({"C"}))
    assert natural_covariates(hidden, "X", "Y") is None
    assert not identifiable(hidden, "X", "Y", "NDE", binary=True)


@pytest.mark.parametrize("name", sorted({**MOTIFS, **PLANTED}))
def test_a_plan_exists_exactly_where_the_effect_is_identifiable(name: str) -> None:
    """A missing plan would abstain without reason; a plan too many would commit without one."""
    motif = {**MOTIFS, **PLANTED}[name]
    x, y = motif.treatment, motif.outcome
    for effect in ("ATE", "ETT", "NDE", "NIE"):
        plan = plan_effect(motif.graph, Contrast(x, y, 0, 1), effect, binary=False)
        found = identifiable(motif.graph, x, y, effect, binary=False)
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
    s = partial(found[:, 0, 1], found[:, 0, 2], found[:, 1, 2])
    assert s[0] == pytest.approx(np.corrcoef(left)[0, 1], abs=1e-12)
    assert partial(np.array([0.0]), np.array([0.6]), np.array([0.5]))[0] == pytest.approx(
        -0.3 / np.sqrt(0.64 * 0.75)
    )


def test_a_constant_column_is_correlated_with_nothing() -> None:
    """A measured binary variable may be predicted as 0 throughout."""
    data = {"x": np.zeros(50), "y": np.arange(50.0)}
    assert correlations(data, ("x", "y"), np.ones((2, 50)))[:, 0, 1].tolist() == [0.0, 0.0]


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
    whole = completed(ShownScene("scene-0", "proxy", "", data, test, known))
    assert set(whole.data) == {"heat", "vent", "load"} and set(whole.test) == {"heat", "vent"}
    assert np.corrcoef(whole.data["heat"], heat[:2000])[0, 1] > 0.93
    assert np.mean(whole.test["vent"] == vent[2000:]) > 0.97
    clean = ShownScene("scene-0", "clean", "", data, test)
    assert completed(clean) is clean  # answered from the very rows that ship
