"""Worlds: equations, interventions, counterfactuals, JSON, and the ranges that drawn ones keep."""

import json
import pickle

import numpy as np
import pytest
from stored_worlds import world_from_json

from builder.equations import sampling
from builder.equations.mechanisms import Profile
from builder.equations.noise import NOISE_FAMILIES
from builder.equations.sampling import NoWorldFound, sample_world
from builder.graphs.graph import LatentDAG


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


def test_interventions_change_what_they_cause_and_nothing_else(cases) -> None:
    """Only what the treatment causes may differ between worlds of common noise. Setting variables
    to the values they would have had anyway must change nothing."""
    for case in cases:
        noise = case.world.draw_noise(case.rng(), 200)
        factual, counterfactual = case.world.run(noise), case.world.run(noise, {case.x: 1.0})
        assert np.all(counterfactual[case.x] == 1.0)
        for v in case.world.graph.nodes:
            if v not in case.world.graph.descendants((case.x,)):
                assert np.array_equal(factual[v], counterfactual[v])
            again = case.world.run(noise, {v: factual[v]})
            assert all(np.array_equal(again[u], factual[u]) for u in factual)


def test_spreads_lie_in_the_declared_ranges_and_edges_are_visible(cases) -> None:
    """Scores are normalised by sd(Y): a tiny or huge one makes a task trivial or hopeless. An edge
    too weak to see makes the story's graph untestable; a line's strength is the textbook's."""
    lines = 0
    for case in cases:
        values = case.world.simulate(case.rng(), 50_000)
        for spec in case.world.nodes:
            columns, sd = [values[p] for p in spec.parents], float(values[spec.name].std())
            assert 0.3 <= sd <= (3.0 if spec.name == case.y else 10.0), (case.name, spec.name)
            if spec.kind == "binary":
                assert 0.2 <= values[spec.name].mean() <= 0.8, (case.name, spec.name)
            strengths = list(sampling.edge_strengths(spec, columns, sd))
            least = min(strengths, default=1.0)
            assert least >= 0.98 * sampling.MIN_STRENGTH, (case.name, spec.name)
            if spec.parents and spec.affine is not None:
                expected = np.abs(spec.affine.weights) * np.std(columns, axis=1) / sd
                assert np.allclose(strengths, expected, rtol=0.05)
                lines += 1
    assert lines > 50


def test_the_profile_chooses_the_noise_families(cases) -> None:
    """All families are used by default, and only the listed ones otherwise."""
    used = {n.noise.family for case in cases for n in case.world.nodes if n.noise}
    assert used == set(NOISE_FAMILIES)
    graph = LatentDAG(("A", "B"), (("A", "B"),), frozenset())
    profile = Profile(noises=("laplace",))
    world = sample_world(np.random.default_rng(0), graph, {}, outcome="B", profile=profile)
    assert {n.noise.family for n in world.nodes if n.noise} == {"laplace"}


def test_a_graph_that_asks_too_much_is_refused(monkeypatch) -> None:
    graph = LatentDAG(("A", "B"), (("A", "B"),), frozenset())
    monkeypatch.setattr(sampling, "MIN_STRENGTH", 2.0)
    with pytest.raises(NoWorldFound, match="B: no mechanism in range"):
        sample_world(np.random.default_rng(0), graph, {}, outcome="B")
