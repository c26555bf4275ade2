"""Worlds and their ranges; every mechanism and profile, against evaluators of other makes."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from some_cases import some_of
from stored_worlds import world_from_json

from builder.equations import sampling
from builder.equations.association import associations
from builder.equations.equation import LOCATION_LIMIT, Parent
from builder.equations.mechanisms import (
    BINARY_PROFILES,
    CONTINUOUS_PROFILES,
    MECHANISMS,
    Profile,
    mixture_weights,
    profile,
)
from builder.equations.noise import NOISE_FAMILIES
from builder.equations.quantities import contrast, effect
from builder.equations.sampling import NoWorldFound, sample_world
from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS
from builder.splits.seeds import stream
from builder.tracks.causalds.check.equations import Population, conditional_mean, noise_scale

KINDS = ("continuous", "binary")
PROFILES = [(c, "shifted_logistic") for c in CONTINUOUS_PROFILES] + [
    ("smooth_handcrafted", b) for b in BINARY_PROFILES
]


def generator(text: str) -> np.random.Generator:
    return stream(b"mechanisms", text)


def worlds(continuous: str, binary: str, count: int = 8):
    """Worlds of one profile pair over motifs and kinds, with their treatment and outcome."""
    motifs = list(MOTIFS.values())
    for i in range(count):
        motif = motifs[(5 * i + len(continuous)) % len(motifs)]
        kinds = {motif.treatment: KINDS[(i + 1) % 2], motif.outcome: KINDS[(i // 2 + 1) % 2]}
        rng, own = generator(f"{continuous}/{binary}/{i}"), profile(continuous, binary)
        world = sample_world(rng, motif.graph, kinds, outcome=motif.outcome, profile=own)
        yield world, motif.treatment, motif.outcome


def drawn(name: str, i: int):
    """One draw of a family with two or three parents, the last of them binary, and columns."""
    rng = generator(f"{name}/{i}")
    parents = [Parent(0.4, 0.8), Parent(-1.0, 2.5), Parent(0.6, 0.49, True)][i % 2 :]
    columns = [p.mean + p.sd * rng.standard_normal(500) for p in parents[:-1]]
    columns.append((rng.random(500) < parents[-1].mean).astype(float))
    return MECHANISMS[name].draw(rng, parents), columns


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_evaluated_alike_by_a_second_reader(name) -> None:
    """A slip in one formula would make the truths those of another world than the audited one."""
    for i in range(12):
        parameters, columns = drawn(name, i)
        node = {"name": "V", "mechanism": name, "parameters": json.loads(json.dumps(parameters))}
        node["noise"] = None if MECHANISMS[name].kind == "binary" else {}
        ours = MECHANISMS[name].mean(parameters, columns)
        assert np.allclose(ours, conditional_mean(node, columns, 500), rtol=1e-10, atol=1e-12)
        far = MECHANISMS[name].mean(parameters, [20.0 * column for column in columns])
        if MECHANISMS[name].kind == "binary":
            low = 0.0 if "logistic" in name else 0.02
            assert far.min() >= low and far.max() <= 1.0 - low
        elif name != "linear_additive":
            assert np.max(np.abs(far)) <= LOCATION_LIMIT


@pytest.mark.parametrize("name", [n for n, f in MECHANISMS.items() if f.slope is not None])
def test_slopes_are_the_derivatives_of_the_means(name) -> None:
    """Fisher information is built on them; central differences know nothing of the formula."""
    family = MECHANISMS[name]
    assert family.slope is not None
    for i in range(20):
        rng = generator(f"slope/{name}/{i}")
        parameters = {**family.draw(rng, [Parent(0.7, 1.8)])}
        if "squares" in parameters:
            parameters["squares"] = (0.2,)
        at = np.linspace(-3.0, 4.0, 101)
        step = 1e-5
        rise = family.mean(parameters, [at + step]) - family.mean(parameters, [at - step])
        assert np.allclose(family.slope(parameters, at), rise / (2 * step), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("continuous", "binary"), some_of(PROFILES, 2))
def test_truths_agree_with_plain_monte_carlo(continuous, binary) -> None:
    """Another sampler, another evaluator and other random numbers must find the same numbers."""
    for i, (world, x, y) in enumerate(worlds(continuous, binary, 2)):
        record = json.loads(json.dumps(world.to_json()))
        population = Population(record, generator(f"plain/{continuous}/{binary}/{i}"))
        rng = generator(f"truth/{continuous}/{binary}/{i}")
        levels = contrast(world, x, rng)
        pairs = [
            (associations(world, x, y, (), rng).marginal, population.correlation(x, y)),
            (effect("ate", world, x, y, *levels, rng), population.ate(x, y, levels)),
            (effect("ett", world, x, y, *levels, rng), population.ett(x, y, levels)),
        ]
        for ours, theirs in pairs:
            assert ours.se <= 0.002 * (1 + abs(ours.value))
            if ours.source == "structural_zero":
                assert ours.value == 0.0 and ours.se == 0.0
                theirs = replace(theirs, se=max(theirs.se, 1e-3))
            assert abs(ours.value - theirs.value) <= 4.5 * np.hypot(ours.se, theirs.se) + 1e-9


def test_noise_whose_scale_varies_is_simulated_weighted_and_read_alike() -> None:
    """The scale enters data, densities and second moments: one of them forgotten is a bias."""
    checked = 0
    for i, (world, _, _) in enumerate(worlds("heteroscedastic", "noisy_or", 6)):
        for node in world.nodes:
            if node.noise is None or node.noise.spread is None:
                continue
            values = world.simulate(generator(f"spread/{i}"), 4000)
            columns = [values[parent] for parent in node.parents]
            record = next(n for n in world.to_json()["nodes"] if n["name"] == node.name)
            scale = noise_scale(record, columns, 4000)
            assert np.allclose(scale, world.noise_scale(node.name, values), rtol=1e-12)
            assert scale.std() > 0
            residual = (values[node.name] - world.conditional_mean(node.name, values)) / scale
            assert abs(residual.std() - 1) < 0.15
            checked += 1
    assert checked >= 3


def test_profiles_use_what_they_say() -> None:
    """A profile that draws something else makes the composition table a fiction."""
    for continuous, binary in PROFILES:
        for world, _, _ in worlds(continuous, binary, 4):
            for node in world.nodes:
                if not node.parents:
                    assert node.mechanism in ("linear_additive", "logistic")
                elif node.kind == "binary":
                    assert node.mechanism in BINARY_PROFILES[binary]
                else:
                    assert node.mechanism in CONTINUOUS_PROFILES[continuous].continuous


def test_the_mixture_gives_three_tenths_to_the_empirical_profiles() -> None:
    """The paper's convex combination, marginally for each kind."""
    for kind, names in (("continuous", CONTINUOUS_PROFILES), ("binary", BINARY_PROFILES)):
        weights = mixture_weights(kind)
        assert list(weights) == [name for name in names if name != "coarsened_continuous"]
        assert sum(weights.values()) == pytest.approx(1.0)
        synthetic = list(weights.values())[-5:]
        assert synthetic == pytest.approx([0.14] * 5)


def test_every_profile_can_draw_large_graphs() -> None:
    """Grafted scenes reach a dozen nodes and five parents of one."""
    names = tuple(f"V{i}" for i in range(7))
    star = (*((name, "V6") for name in names[1:6]), ("V0", "V1"), ("V0", "V2"))
    graph = LatentDAG(names, star, frozenset())
    for continuous, binary in PROFILES:
        for kind in KINDS:
            rng, own = generator(f"star/{continuous}/{binary}"), profile(continuous, binary)
            sample_world(rng, graph, {"V6": kind}, outcome="V6", profile=own)


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
    """Only what the treatment causes may differ between worlds of common noise."""
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
    """Scores are normalised by sd(Y)."""
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
            if spec.parents and spec.coefficients is not None:
                expected = np.abs(spec.coefficients) * np.std(columns, axis=1) / sd
                assert np.allclose(strengths, expected, rtol=0.05)
                lines += 1
    assert lines > 50


def test_the_profile_chooses_the_noise_families(cases) -> None:
    """All families are used by default, and only the listed ones otherwise."""
    used = {n.noise.family for case in cases for n in case.world.nodes if n.noise}
    assert used == set(NOISE_FAMILIES)
    graph = LatentDAG(("A", "B"), (("A", "B"),), frozenset())
    own = Profile(noises=("laplace",))
    world = sample_world(np.random.default_rng(0), graph, {}, outcome="B", profile=own)
    assert {n.noise.family for n in world.nodes if n.noise} == {"laplace"}


def test_a_graph_that_asks_too_much_is_refused(monkeypatch) -> None:
    graph = LatentDAG(("A", "B"), (("A", "B"),), frozenset())
    monkeypatch.setattr(sampling, "MIN_STRENGTH", 2.0)
    with pytest.raises(NoWorldFound, match="B: no mechanism in range"):
        sample_world(np.random.default_rng(0), graph, {}, outcome="B")
