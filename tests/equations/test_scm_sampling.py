"""Drawn worlds stay inside the declared ranges and keep their edges visible."""

import numpy as np
import pytest

from builder.equations import sampling
from builder.equations.mechanisms import Profile
from builder.equations.noise import NOISE_FAMILIES
from builder.equations.sampling import NoWorldFound, sample_world
from builder.graphs.graph import LatentDAG


def test_population_spreads_lie_in_the_declared_ranges(cases) -> None:
    """Scores are normalised by sd(Y): a tiny or huge one makes a task trivial or hopeless."""
    for case in cases:
        values = case.world.simulate(case.rng(), 50_000)
        for spec in case.world.nodes:
            highest = 3.0 if spec.name == case.y else 10.0
            assert 0.3 <= values[spec.name].std() <= highest, (case.name, spec.name)
            if spec.kind == "binary":
                assert 0.2 <= values[spec.name].mean() <= 0.8, (case.name, spec.name)


def test_every_edge_is_visible(cases) -> None:
    """An edge too weak to see makes the story's graph untestable in the data."""
    for case in cases[:60]:
        values = case.world.simulate(case.rng(), 20_000)
        for spec in case.world.nodes:
            columns = [values[parent] for parent in spec.parents]
            sd = float(values[spec.name].std())
            for strength in sampling.edge_strengths(spec, columns, sd):
                assert strength >= 0.98 * sampling.MIN_STRENGTH, (case.name, spec.name)


def test_strength_of_a_linear_edge_is_its_standardised_coefficient(cases) -> None:
    """The general definition has to reduce to the textbook one."""
    checked = 0
    for case in cases:
        for spec in case.world.nodes:
            if not spec.parents or spec.affine is None:
                continue
            values = case.world.simulate(case.rng(), 10_000)
            columns, sd = [values[p] for p in spec.parents], float(values[spec.name].std())
            strengths = list(sampling.edge_strengths(spec, columns, sd))
            expected = np.abs(spec.affine.weights) * np.std(columns, axis=1) / sd
            assert np.allclose(strengths, expected, rtol=0.05)
            checked += 1
    assert checked > 50


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
