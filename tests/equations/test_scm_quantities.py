"""True quantities against quadrature, closed forms, simulated units and nested counterfactuals."""

from itertools import combinations

import numpy as np
import pytest
from small_worlds import line, switch, world_of

from builder.equations import quantities
from builder.equations.association import associations
from builder.equations.quantities import BoundNotMet, Quantity, contrast, effect, jackknife
from builder.equations.sampling import sample_world
from builder.equations.world import World
from builder.graphs.graph import LatentDAG

UNITS = 60_000


def close(quantity: Quantity, value: float, se: float) -> bool:
    return abs(quantity.value - value) <= 4 * np.hypot(quantity.se, se) + 1e-9


def quadrature_case() -> tuple[World, float, float, dict[str, float]]:
    """Z -> X -> Y, Z -> Y, Z latent, Y binary: world, contrast and truths by Gauss quadrature."""
    bias, spread = 0.2, 0.6
    world = world_of(
        line("Z", {}, bias=0.0, scale=1.0),
        line("X", {"Z": 0.8}, bias=bias, scale=spread),
        switch("Y", {"Z": 1.5, "X": 1.0}, -0.3),
        latent=frozenset({"Z"}),
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
    return world, x0, x1, truths


@pytest.mark.parametrize("name", ["ate", "ett", "correlation"])
def test_standard_errors_are_honest_about_truths_known_by_quadrature(name: str) -> None:
    """With 90 generators the errors, in units of their own se, have to look standard normal."""
    world, x0, x1, truths = quadrature_case()
    scores = []
    for seed in range(90):
        rng = np.random.Generator(np.random.Philox(key=seed))
        if name == "correlation":
            found = associations(world, "X", "Y", (), rng).marginal
        else:
            found = effect(name, world, "X", "Y", x0, x1, rng)
            assert name == "ate" or found.source == "density_weighted_rqmc"
        scores.append((found.value - truths[name]) / found.se)
    assert 0.8 < np.sqrt(np.mean(np.square(scores))) < 1.25
    assert abs(np.mean(scores)) < 4 / np.sqrt(90)
    assert np.max(np.abs(scores)) < 4.5


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
    assert checked >= 60


def test_graph_zeros_are_exactly_zero(cases) -> None:
    """A zero that carries Monte Carlo noise is a wrong label."""
    for case in cases:
        graph, args = case.world.graph, (case.world, case.x, case.y, 0.0, 1.0)
        found = {name: effect(name, *args, case.rng(1)) for name in ("ate", "ett", "nde", "nie")}
        causes, edge = case.y in graph.descendants((case.x,)), case.x in graph.parents(case.y)
        between = bool(graph.mediators(case.x, case.y))
        nonzero = {name for name, quantity in found.items() if quantity != ZERO}
        expected = {"ate": causes, "ett": causes, "nde": edge, "nie": between}
        assert nonzero == {name for name, present in expected.items() if present}
        assert between or found["nde"] == found["ate"]
        assert edge or found["nie"] == found["ate"]
        for v in graph.nodes:
            if v != case.x:
                separated = graph.d_separated((case.x,), (v,), ())
                marginal = associations(case.world, case.x, v, (), case.rng()).marginal
                assert (marginal == ZERO) == separated


def test_an_unreachable_bound_is_reported_not_hidden(cases, monkeypatch) -> None:
    """A scene whose truth is not known well enough is to be replaced, never shipped."""
    case = next(c for c in cases if c.name.startswith("iv-") and c.world.node(c.y).kind == "binary")
    monkeypatch.setattr("builder.equations.quantities.EFFECT_BOUND", 1e-12)
    with pytest.raises(BoundNotMet, match=f"ate of {case.x} on {case.y}: standard error"):
        effect("ate", case.world, case.x, case.y, 0.0, 1.0, case.rng())


def test_errors_of_functions_of_means_are_those_of_the_delta_method() -> None:
    """A wrong error no longer bounds anything: of a ratio, beside its linear approximation."""
    means = np.array([0.6, 1.3]) + 1e-4 * np.random.default_rng(0).standard_normal((32, 2))
    (value,), (se,) = jackknife(means, lambda m: m[..., :1] / m[..., 1:])
    assert value == pytest.approx(means[:, 0].mean() / means[:, 1].mean(), rel=1e-14)
    influence = (means[:, 0] - value * means[:, 1]) / means[:, 1].mean()
    assert se == pytest.approx(influence.std(ddof=1) / np.sqrt(32), rel=1e-3)


def test_total_coefficient_sums_over_directed_paths() -> None:
    """Wright's rule by walking every path, against the recursion."""

    def walk(world: World, start: str) -> float:
        if start == "V6":
            return 1.0
        steps = ((child, world.node(child)) for child in world.graph.children(start))
        return sum(
            node.parameters["weights"][node.parents.index(start)] * walk(world, child)
            for child, node in steps
        )

    names = tuple(f"V{i}" for i in range(7))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        edges = tuple(pair for pair in combinations(names, 2) if rng.random() < 0.4)
        world = sample_world(rng, LatentDAG(names, edges, frozenset({"V1"})), {}, outcome="V6")
        for name in names[:6]:
            found = effect("ate", world, name, "V6", 0.0, 1.0, rng)
            assert found.value == pytest.approx(walk(world, name), rel=1e-12, abs=1e-14)
            assert found.source in {"closed_form", "structural_zero"}


def test_no_closed_form_is_claimed_past_a_binary_node() -> None:
    """A logistic node is not affine: a closed form through it would be a wrong truth."""
    edges = (("Z", "X"), ("X", "M"), ("M", "Y"), ("Z", "Y"))
    graph = LatentDAG(("Z", "X", "M", "Y"), edges, frozenset())
    rng = np.random.default_rng(0)
    mediator = sample_world(rng, graph, {"M": "binary"}, outcome="Y")
    assert effect("ate", mediator, "X", "Y", 0.0, 1.0, rng).source == "rqmc"
    treatment = sample_world(rng, graph, {"X": "binary"}, outcome="Y")
    assert effect("ate", treatment, "X", "Y", 0.0, 1.0, rng).source == "closed_form"


def test_contrasts_are_rounded_quartiles_or_zero_and_one(cases) -> None:
    """Prompts print these numbers; truths must be about the printed ones, and they must differ."""
    for case in cases:
        first, second = (contrast(case.world, case.x, case.rng(k)) for k in (1, 1))
        assert first == second
        if case.world.node(case.x).kind == "binary":
            assert first == (0.0, 1.0)
            continue
        assert first[0] < first[1]
        assert all(value == float(f"{value:.3g}") for value in first)
        values = case.world.simulate(case.rng(3), UNITS)[case.x]
        other = contrast(case.world, case.x, case.rng(2))
        for a, b, p in zip(first, other, (0.25, 0.75), strict=True):
            unit = 10.0 ** (np.floor(np.log10(abs(a))) - 2)
            assert abs(a - b) <= 1.01 * unit + 0.002 * values.std()
            slack = np.mean(np.abs(values - a) <= 0.51 * unit + 0.002 * values.std())
            assert abs(np.mean(values <= a) - p) <= slack + 4 * np.sqrt(p * (1 - p) / UNITS)


ZERO = Quantity(0.0, 0.0, 0, "structural_zero")


def nested(case, name: str, x0: float, x1: float, seed: int, n: int = 40_000) -> np.ndarray:
    """Realised differences of n units, every world run node by node."""
    world, x, y = case.world, case.x, case.y
    noise = world.draw_noise(case.rng(seed), n)
    base, moved = world.run(noise, {x: x0}), world.run(noise, {x: x1})
    inner, level = (base, x1) if name == "nde" else (moved, x0)
    held = {m: inner[m] for m in world.graph.mediators(x, y)}
    return world.run(noise, {x: level, **held})[y] - base[y]


def test_natural_effects_agree_with_explicitly_nested_counterfactuals(curved_cases) -> None:
    """The truth of every mediation task, on worlds of all profiles."""
    sources = set()
    for case in curved_cases:
        x0, x1 = contrast(case.world, case.x, case.rng())
        for name in ("nde", "nie"):
            truth = effect(name, case.world, case.x, case.y, x0, x1, case.rng(1))
            found = nested(case, name, x0, x1, 7)
            se = np.hypot(truth.se, found.std() / np.sqrt(len(found)))
            assert abs(truth.value - found.mean()) <= 4.5 * se + 1e-9, (case.name, name)
            assert truth.se <= 0.002 * (1 + abs(truth.value))
            sources.add((name, truth.source))
    kinds = {"structural_zero", "closed_form", "rqmc"}
    assert sources == {(name, kind) for name in ("nde", "nie") for kind in kinds}


def test_latent_mediators_are_mediators_too() -> None:
    """What is not observed still carries an effect; whether it can be told apart is not asked."""
    nodes = (line("X", {}), line("L", {"X": 0.9}), line("Y", {"X": 0.5, "L": -0.6}))
    world = world_of(*nodes, latent=frozenset({"L"}))
    rng = np.random.default_rng(4)
    assert effect("nde", world, "X", "Y", 0.0, 1.0, rng).value == pytest.approx(0.5)
    assert effect("nie", world, "X", "Y", 0.0, 1.0, rng).value == pytest.approx(-0.54)


def test_binary_mediators_are_run_like_others() -> None:
    """A mediator that is a coin in both worlds: by hand."""
    world = world_of(
        switch("X", {}, 0.0), switch("M", {"X": 1.3}, -0.4), switch("Y", {"X": 0.9, "M": 1.7}, -1.1)
    )

    def p(t: float) -> float:
        return float(1 / (1 + np.exp(-t)))

    def outcome(x: float, under: float) -> float:
        share = p(1.3 * under - 0.4)
        return share * p(0.9 * x + 0.6) + (1 - share) * p(0.9 * x - 1.1)

    rng = np.random.default_rng(5)
    direct = effect("nde", world, "X", "Y", 0.0, 1.0, rng)
    indirect = effect("nie", world, "X", "Y", 0.0, 1.0, rng)
    assert direct.value == pytest.approx(outcome(1, 0) - outcome(0, 0), abs=4 * direct.se)
    assert indirect.value == pytest.approx(outcome(0, 1) - outcome(0, 0), abs=4 * indirect.se)
    assert 0.0 < direct.se < 0.002 and 0.0 < indirect.se < 0.002
