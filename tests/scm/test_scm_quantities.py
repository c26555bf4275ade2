"""True quantities against plain Monte Carlo on simulated units, and against identities."""

import numpy as np
import pytest

from builder.causal.graph import LatentDAG
from builder.scm import quantities
from builder.scm.association import associations
from builder.scm.noise import Noise
from builder.scm.quantities import Quantity, contrast, effect
from builder.scm.rqmc import BoundNotMet, estimated
from builder.scm.sampling import sample_world
from builder.scm.world import Node, World

UNITS = 60_000


def close(quantity: Quantity, value: float, se: float) -> bool:
    return abs(quantity.value - value) <= 4 * np.hypot(quantity.se, se) + 1e-9


def mean_and_se(column: np.ndarray) -> tuple[float, float]:
    return float(column.mean()), float(column.std() / np.sqrt(len(column)))


def unit_effects(case, x0: float, x1: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Realised Y(x1) - Y(x0) and factual X of n simulated units (no conditional means)."""
    noise = case.world.draw_noise(case.rng(9), n)
    worlds = [case.world.run(noise, {case.x: value}) for value in (x0, x1)]
    return worlds[1][case.y] - worlds[0][case.y], case.world.run(noise)[case.x]


def test_average_effects_agree_with_simulated_interventions(cases) -> None:
    """The truth of every effect task."""
    sources = set()
    for case in cases:
        x0, x1 = contrast(case.world, case.x, case.rng())
        truth = effect("ate", case.world, case.x, case.y, x0, x1, case.rng(1))
        effects, _ = unit_effects(case, x0, x1, UNITS)
        assert close(truth, *mean_and_se(effects)), case.name
        sources.add(truth.source)
    assert sources == {"structural_zero", "closed_form", "rqmc"}


def test_effects_on_the_treated_agree_with_simulated_treated_units(cases) -> None:
    """Binary treatment: the mean effect among units that would have taken it."""
    checked = 0
    for case in cases:
        if case.world.node(case.x).kind == "binary":
            truth = effect("ett", case.world, case.x, case.y, 0.0, 1.0, case.rng(1))
            effects, factual = unit_effects(case, 0.0, 1.0, UNITS)
            assert close(truth, *mean_and_se(effects[factual == 1.0])), case.name
            checked += truth.source == "rqmc"
    assert checked >= 10


def test_continuous_effects_on_the_treated_agree_with_a_tight_window(cases) -> None:
    """Conditioning on X = x1 exactly, against the units that happen to lie within 0.02 of it."""
    checked = 0
    for case in cases:
        x0, x1 = contrast(case.world, case.x, case.rng())
        truth = effect("ett", case.world, case.x, case.y, x0, x1, case.rng(1))
        if truth.source == "density_weighted_rqmc" and checked < 8:
            effects, factual = unit_effects(case, x0, x1, 600_000)
            near = effects[np.abs(factual - x1) < 0.02]
            assert close(truth, *mean_and_se(near)), case.name
            average = effect("ate", case.world, case.x, case.y, x0, x1, case.rng(1))
            checked += abs(average.value - truth.value) > 0.002
    assert checked >= 3


def gauss(scale: float) -> Noise:
    return Noise("gauss", scale, ())


def quadrature_case() -> tuple[World, float, float, dict[str, float]]:
    """Z -> X -> Y, Z -> Y, Z latent, Y binary: world, contrast and truths by Gauss quadrature."""
    graph = LatentDAG(("Z", "X", "Y"), (("Z", "X"), ("Z", "Y"), ("X", "Y")), frozenset(("Z",)))
    linear, bias, spread = "linear_additive", 0.2, 0.6
    nodes = (
        Node("Z", "continuous", (), linear, {"weights": (), "bias": 0.0}, gauss(1.0)),
        Node("X", "continuous", ("Z",), linear, {"weights": (0.8,), "bias": bias}, gauss(spread)),
        Node("Y", "binary", ("Z", "X"), "logistic", {"weights": (1.5, 1.0), "bias": -0.3}, None),
    )
    x0, x1 = -0.5, 0.9
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def outcome(z: np.ndarray, x: np.ndarray | float) -> np.ndarray:
        return 1 / (1 + np.exp(-(1.5 * z + x - 0.3)))

    # X has variance 0.64 + 0.36 = 1, so Z given X = x1 is N(0.8 (x1 - bias), 0.36).
    treated = 0.8 * (x1 - bias) + 0.6 * points
    x = bias + 0.8 * points[:, None] + spread * points[None, :]
    y = outcome(points[:, None], x)
    mean_y = weights @ y @ weights
    covariance = weights @ ((x - bias) * y) @ weights
    truths = {
        "ate": float(weights @ (outcome(points, x1) - outcome(points, x0))),
        "ett": float(weights @ (outcome(treated, x1) - outcome(treated, x0))),
        "correlation": float(covariance / np.sqrt(mean_y * (1 - mean_y))),
    }
    return World(graph, nodes), x0, x1, truths


@pytest.mark.parametrize("name", ["ate", "ett", "correlation"])
def test_standard_errors_are_honest_about_truths_known_by_quadrature(name: str) -> None:
    """With 200 generators the errors, in units of their own se, have to look standard normal."""
    world, x0, x1, truths = quadrature_case()
    scores = []
    for seed in range(200):
        rng = np.random.Generator(np.random.Philox(key=seed))
        if name == "correlation":
            found = associations(world, "X", "Y", (), rng).marginal
        elif name == "ate":
            found = effect("ate", world, "X", "Y", x0, x1, rng)
        else:
            found = effect("ett", world, "X", "Y", x0, x1, rng)
            assert found.source == "density_weighted_rqmc"
        scores.append((found.value - truths[name]) / found.se)
    assert 0.85 < np.sqrt(np.mean(np.square(scores))) < 1.2
    assert abs(np.mean(scores)) < 4 / np.sqrt(200)
    assert np.max(np.abs(scores)) < 4.5


def test_treated_and_untreated_effects_make_up_the_average(cases) -> None:
    """ATE = P(X=1) ETT + P(X=0) ETU; the library's three numbers come from separate integrals."""
    for case in cases:
        if case.world.node(case.x).kind == "continuous":
            continue
        world, x, y = case.world, case.x, case.y
        average = effect("ate", world, x, y, 0.0, 1.0, case.rng(1))
        treated = effect("ett", world, x, y, 0.0, 1.0, case.rng(2))
        untreated = effect("ett", world, x, y, 1.0, 0.0, case.rng(3))
        share, share_se = mean_and_se(world.simulate(case.rng(4), UNITS)[x])
        combined = share * treated.value - (1 - share) * untreated.value
        gap = abs(treated.value + untreated.value)
        se = np.sqrt(treated.se**2 + untreated.se**2 + (gap * share_se) ** 2)
        assert close(average, combined, float(se)), case.name


def test_effect_on_the_treated_follows_from_observed_and_intervened_means(cases) -> None:
    """E[Y(x0)] = E[Y|x0] P(x0) + E[Y(x0)|x1] P(x1): the identity that identifies it."""
    for case in cases:
        if case.world.node(case.x).kind == "continuous":
            continue
        seen = case.world.simulate(case.rng(5), UNITS)
        set_to_0 = case.world.simulate(case.rng(6), UNITS, {case.x: 0.0})[case.y]
        treated, y = seen[case.x] == 1.0, seen[case.y]
        share = treated.mean()
        value = y[treated].mean() - (set_to_0.mean() - np.sum(y[~treated]) / UNITS) / share
        parts = np.where(treated, y - y[treated].mean(), y) / share
        se = np.sqrt((parts.var() + set_to_0.var() / share**2) / UNITS)
        truth = effect("ett", case.world, case.x, case.y, 0.0, 1.0, case.rng(1))
        assert close(truth, float(value), float(se)), case.name


def test_correlations_agree_with_simulated_ones(cases) -> None:
    """The truth of every association task; standard error by the moments of the influence."""
    sources = set()
    for case in cases:
        truth = associations(case.world, case.x, case.y, (), case.rng(1)).marginal
        values = case.world.simulate(case.rng(2), UNITS)
        a, b = ((values[v] - values[v].mean()) / values[v].std() for v in (case.x, case.y))
        r = float(np.mean(a * b))
        se = float(np.std(a * b - 0.5 * r * (a * a + b * b)) / np.sqrt(UNITS))
        assert close(truth, r, se), case.name
        other = associations(case.world, case.y, case.x, (), case.rng(3)).marginal
        assert close(truth, other.value, other.se), case.name
        sources.add(truth.source)
    assert sources == {"structural_zero", "rqmc"}


def test_binary_nodes_anywhere_are_handled() -> None:
    """Six binary nodes: some are summed over, the rest drawn; both must be right."""
    names = tuple(f"V{i}" for i in range(8))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        edges = tuple(
            (a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < 0.5
        )
        edges = tuple(dict.fromkeys((*edges, ("V2", "V7"))))
        kinds = dict.fromkeys(("V0", "V2", "V3", "V4", "V5", "V6"), "binary")
        world = sample_world(rng, LatentDAG(names, edges, frozenset()), kinds, outcome="V7")
        noise = world.draw_noise(rng, UNITS)
        seen = world.run(noise)
        effects = world.run(noise, {"V2": 1.0})["V7"] - world.run(noise, {"V2": 0.0})["V7"]
        truth = effect("ate", world, "V2", "V7", 0.0, 1.0, rng)
        assert close(truth, *mean_and_se(effects))
        truth = effect("ett", world, "V2", "V7", 0.0, 1.0, rng)
        assert close(truth, *mean_and_se(effects[seen["V2"] == 1.0]))
        r = np.corrcoef(seen["V2"], seen["V7"])[0, 1]
        found = associations(world, "V2", "V7", (), rng).marginal
        assert close(found, float(r), 1.2 / np.sqrt(UNITS))


def test_integration_reproduces_the_closed_forms(cases, monkeypatch) -> None:
    """The two routes to an effect share no arithmetic beyond the equations themselves."""
    checked = 0
    for case in cases:
        args = (case.world, case.x, case.y, *contrast(case.world, case.x, case.rng()))
        truths = {name: effect(name, *args, case.rng(1)) for name in ("ate", "ett", "nde", "nie")}
        with monkeypatch.context() as patched:
            patched.setattr(quantities, "_constant_slope", lambda *_: None)
            for name, truth in truths.items():
                if truth.source == "closed_form":
                    found = effect(name, *args, case.rng(2))
                    assert close(found, truth.value, 0.0), (case.name, name)
                    checked += 1
    assert checked >= 80


def test_graph_zeros_are_exactly_zero(cases) -> None:
    """A zero that carries Monte Carlo noise is a wrong label."""
    for case in cases:
        graph, args = case.world.graph, (case.world, case.x, case.y, 0.0, 1.0)
        zero = Quantity(0.0, 0.0, 0, "structural_zero")
        causes = case.y in graph.descendants((case.x,))
        assert (effect("ate", *args, case.rng()) == zero) != causes
        assert (effect("ett", *args, case.rng()) == zero) != causes
        for v in graph.nodes:
            if v != case.x:
                separated = graph.d_separated((case.x,), (v,), ())
                found = associations(case.world, case.x, v, (), case.rng()).marginal
                assert (found == zero) == separated


def test_standard_errors_meet_their_bounds(many_cases) -> None:
    """The promise of the release: se <= 0.002 (1 + |tau|), on 200 worlds."""
    for case in many_cases:
        x0, x1 = contrast(case.world, case.x, case.rng())
        for name in ("ate", "ett"):
            truth = effect(name, case.world, case.x, case.y, x0, x1, case.rng(1))
            assert truth.se <= 0.002 * (1 + abs(truth.value))
            assert (truth.draws == 0) == (truth.source in {"structural_zero", "closed_form"})
        assert associations(case.world, case.x, case.y, (), case.rng(1)).marginal.se <= 0.001


def test_quantities_are_functions_of_the_generator(cases) -> None:
    """A truth that cannot be rebuilt cannot be audited."""
    for case in cases[36:60]:
        x0, x1 = contrast(case.world, case.x, case.rng())
        for name in ("ate", "ett"):
            first, second = (
                effect(name, case.world, case.x, case.y, x0, x1, case.rng(1)) for _ in range(2)
            )
            assert first == second


def test_an_unreachable_bound_is_reported_not_hidden(cases) -> None:
    """A scene whose truth is not known well enough is to be replaced, never shipped."""
    case = next(c for c in cases if c.name.startswith("iv-") and c.world.node(c.y).kind == "binary")
    with pytest.raises(BoundNotMet, match=f"ate of {case.x} on {case.y}: standard error"):
        effect("ate", case.world, case.x, case.y, 0.0, 1.0, case.rng(), bound=1e-12)


def test_senseless_questions_are_refused(cases) -> None:
    """The effect of a variable on itself, or on units that took treatment 0.5."""
    case = next(c for c in cases if c.world.node(c.x).kind == "binary")
    with pytest.raises(ValueError, match="must differ"):
        associations(case.world, case.x, case.x, (), case.rng())
    with pytest.raises(ValueError, match="must differ"):
        effect("ate", case.world, case.x, case.x, 0.0, 1.0, case.rng())
    with pytest.raises(ValueError, match=r"never 0\.5"):
        effect("ett", case.world, case.x, case.y, 0.0, 0.5, case.rng())


def test_errors_of_functions_of_means_are_those_of_the_delta_method() -> None:
    """A wrong error no longer bounds anything: of a ratio, beside its linear approximation."""
    means = np.array([0.6, 1.3]) + 1e-4 * np.random.default_rng(0).standard_normal((32, 2))
    (value,), (se,) = estimated(means, lambda m: m[..., :1] / m[..., 1:])
    assert value == pytest.approx(means[:, 0].mean() / means[:, 1].mean(), rel=1e-14)
    influence = (means[:, 0] - value * means[:, 1]) / means[:, 1].mean()
    assert se == pytest.approx(influence.std(ddof=1) / np.sqrt(32), rel=1e-3)
