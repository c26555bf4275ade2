"""Worlds: equations, interventions, counterfactuals, JSON, determinism."""

import json
import pickle

import numpy as np
from stored_worlds import world_from_json

from builder.equations.noise import Noise
from builder.equations.world import Node, World
from builder.graphs.graph import LatentDAG

GAUSS = Noise("gauss", 1.0, ())


def node(name: str, parents: tuple[str, ...], weights: tuple[float, ...]) -> Node:
    equation = {"weights": weights, "bias": 0.5}
    return Node(name, "continuous", parents, "linear_additive", equation, GAUSS)


def mediation() -> World:
    graph = LatentDAG(("X", "M", "Y"), (("X", "M"), ("M", "Y"), ("X", "Y")), frozenset())
    nodes = (node("X", (), ()), node("M", ("X",), (2.0,)), node("Y", ("X", "M"), (-1.0, 3.0)))
    return World(graph, nodes)


def test_structural_equations_are_solved_as_written() -> None:
    """A wrong order of parents or a noise that enters twice would change every number."""
    noise = {"X": np.array([1.0]), "M": np.array([10.0]), "Y": np.array([100.0])}
    values = mediation().run(noise)
    assert values["X"] == 1.5
    assert values["M"] == 0.5 + 2 * 1.5 + 10
    assert values["Y"] == 0.5 - 1.5 + 3 * 13.5 + 100


def test_json_round_trip_is_exact(cases, curved_cases) -> None:
    """A published world could not be audited if its numbers changed on the way to disk."""
    assert any("spread" in json.dumps(case.world.to_json()) for case in curved_cases)
    for case in [*cases, *curved_cases]:
        text = json.dumps(case.world.to_json(), sort_keys=True, allow_nan=False)
        again = world_from_json(json.loads(text))
        assert again == case.world
        assert json.dumps(again.to_json(), sort_keys=True) == text
        first, second = (w.simulate(case.rng(), 50) for w in (case.world, again))
        assert all(first[v].tobytes() == second[v].tobytes() for v in first)
        assert pickle.loads(pickle.dumps(case.world)) == case.world


def test_an_intervention_leaves_non_descendants_untouched(cases) -> None:
    """Common noise means that only what the treatment causes may differ between worlds."""
    for case in cases:
        noise = case.world.draw_noise(case.rng(), 200)
        factual, counterfactual = case.world.run(noise), case.world.run(noise, {case.x: 1.0})
        assert np.all(counterfactual[case.x] == 1.0)
        for v in case.world.graph.nodes:
            if v not in case.world.graph.descendants((case.x,)):
                assert np.array_equal(factual[v], counterfactual[v])


def test_counterfactuals_obey_consistency_and_composition(cases) -> None:
    """Setting variables to the values they would have had anyway must change nothing."""
    for case in cases:
        noise = case.world.draw_noise(case.rng(), 200)
        factual = case.world.run(noise)
        for v in case.world.graph.nodes:
            again = case.world.run(noise, {v: factual[v]})
            assert all(np.array_equal(again[u], factual[u]) for u in factual)
