"""Natural effects against explicitly nested counterfactuals and sums by hand."""

import numpy as np
import pytest

from builder.equations.noise import Noise
from builder.equations.quantities import Quantity, contrast, effect
from builder.equations.world import Node, World
from builder.graphs.graph import LatentDAG

UNITS = 40_000
ZERO = Quantity(0.0, 0.0, 0, "structural_zero")


def line(name: str, parents: dict[str, float], bias: float = 0.1) -> Node:
    weights = {"weights": tuple(parents.values()), "bias": bias}
    law = Noise("laplace", 0.7, ())
    return Node(name, "continuous", tuple(parents), "linear_additive", weights, law)


def world_of(*nodes: Node, latent: frozenset[str] = frozenset()) -> World:
    edges = tuple((parent, node.name) for node in nodes for parent in node.parents)
    return World(LatentDAG(tuple(node.name for node in nodes), edges, latent), nodes)


def nested(case, name: str, x0: float, x1: float, seed: int, n: int = UNITS) -> np.ndarray:
    """Realised differences of n units, every world run node by node."""
    world, x, y = case.world, case.x, case.y
    noise = world.draw_noise(case.rng(seed), n)
    base, moved = world.run(noise, {x: x0}), world.run(noise, {x: x1})
    inner, level = (base, x1) if name == "nde" else (moved, x0)
    held = {m: inner[m] for m in world.graph.mediators(x, y)}
    return world.run(noise, {x: level, **held})[y] - base[y]


def both(case, x0: float, x1: float) -> tuple[Quantity, Quantity]:
    args = (case.world, case.x, case.y, x0, x1)
    return (effect("nde", *args, case.rng(1)), effect("nie", *args, case.rng(2)))


def test_natural_effects_agree_with_explicitly_nested_counterfactuals(curved_cases) -> None:
    """The truth of every mediation task, on worlds of all profiles."""
    sources = set()
    for case in curved_cases:
        x0, x1 = contrast(case.world, case.x, case.rng())
        for name, truth in zip(("nde", "nie"), both(case, x0, x1), strict=True):
            found = nested(case, name, x0, x1, 7)
            se = np.hypot(truth.se, found.std() / np.sqrt(UNITS))
            assert abs(truth.value - found.mean()) <= 4.5 * se + 1e-9, (case.name, name)
            assert truth.se <= 0.002 * (1 + abs(truth.value))
            sources.add((name, truth.source))
    kinds = {"structural_zero", "closed_form", "rqmc"}
    assert sources == {(name, kind) for name in ("nde", "nie") for kind in kinds}


def test_missing_paths_make_natural_effects_exactly_zero(cases) -> None:
    """No edge, no direct effect; nothing between, no indirect one; and the other is the whole."""
    for case in cases:
        graph, args = case.world.graph, (case.world, case.x, case.y, 0.0, 1.0)
        edge, between = case.x in graph.parents(case.y), graph.mediators(case.x, case.y)
        direct, indirect = both(case, 0.0, 1.0)
        assert (direct == ZERO) != edge
        assert (indirect == ZERO) != bool(between)
        if not between:
            assert direct == effect("ate", *args, case.rng(1))
        if not edge:
            assert indirect == effect("ate", *args, case.rng(2))


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
        Node("X", "binary", (), "logistic", {"weights": (), "bias": 0.0}, None),
        Node("M", "binary", ("X",), "logistic", {"weights": (1.3,), "bias": -0.4}, None),
        Node("Y", "binary", ("X", "M"), "logistic", {"weights": (0.9, 1.7), "bias": -1.1}, None),
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
