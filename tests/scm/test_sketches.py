"""Sketches and the regressions read off them, against NumPy's linear algebra."""

import numpy as np

from builder.causal.graph import LatentDAG
from builder.scm.regression import correlation, covariance, slope
from builder.scm.sampling import sample_world
from builder.scm.straight import sketch

GRAPH = LatentDAG(
    ("A", "X", "M", "Y", "B"),
    (("A", "X"), ("A", "Y"), ("X", "M"), ("M", "Y"), ("X", "Y"), ("M", "B"), ("Y", "B")),
)


def test_regressions_are_those_of_least_squares() -> None:
    """The sweep gives what a library's least squares gives on the same rows."""
    rng = np.random.default_rng(1)
    columns = [rng.normal(size=400) for _ in range(4)]
    columns[3] = columns[0] - 2 * columns[1] + 0.5 * columns[2] + columns[3]
    centred = np.stack([c - c.mean() for c in columns], axis=1)
    found = covariance(columns)
    np.testing.assert_allclose(found, np.cov(np.array(columns), bias=True), atol=1e-12)
    by_library = np.linalg.lstsq(centred[:, :3], centred[:, 3], rcond=None)[0]
    np.testing.assert_allclose(slope(found, 0, 3, (1, 2)), by_library[0], atol=1e-12)
    inverse = np.linalg.inv(found)
    partial = -inverse[0, 3] / np.sqrt(inverse[0, 0] * inverse[3, 3])
    np.testing.assert_allclose(correlation(found, 0, 3, (1, 2)), partial, atol=1e-12)


def test_a_sketch_has_the_moments_of_its_lines() -> None:
    """Covariances and effects by (I - B)^-1, one sketch at a time."""
    rng = np.random.default_rng(2)
    found = sketch(rng, GRAPH, 5)
    for which in range(5):
        lines = np.zeros((5, 5))
        for (a, b), weights in found.weights.items():
            lines[GRAPH.index[b], GRAPH.index[a]] = weights[which]
        loading = np.linalg.inv(np.eye(5) - lines)
        x, y = GRAPH.index["X"], GRAPH.index["Y"]
        assert np.isclose(found.effect("X", "Y")[which], loading[y, x])
        direct = loading[y, x] - lines[y, x]
        assert np.isclose(found.effect("X", "Y", direct=False)[which], direct)
        whitened = np.linalg.inv(loading) @ found.covariances[which] @ np.linalg.inv(loading).T
        noise = np.diag(whitened)
        np.testing.assert_allclose(whitened, np.diag(noise), atol=1e-9)
        assert ((noise > 0.2) & (noise < 2.3)).all()


def test_a_sketch_keeps_the_signs_that_it_is_given() -> None:
    """Edges that are not listed have either sign."""
    given = {("A", "X"): -1, ("X", "Y"): 1}
    found = sketch(np.random.default_rng(3), GRAPH, 64, signs=given)
    for edge, weights in found.weights.items():
        seen = set(np.sign(weights))
        assert seen == ({given[edge]} if edge in given else {-1, 1})
        assert found.signs(0)[edge] == np.sign(weights[0])


def test_the_strengths_of_a_sketch_are_its_standardised_coefficients() -> None:
    """By simulation: least squares on standardised columns."""
    found = sketch(np.random.default_rng(5), GRAPH, 1)
    nodes, root = GRAPH.nodes, np.linalg.cholesky(found.covariances[0])
    units = root @ np.random.default_rng(6).standard_normal((len(nodes), 40_000))
    columns = {v: (u - u.mean()) / u.std() for v, u in zip(nodes, units, strict=True)}
    strengths = found.strengths(0)
    for node in nodes:
        parents = GRAPH.parents(node)
        if parents:
            design = np.stack([columns[parent] for parent in parents], axis=1)
            right = np.linalg.lstsq(design, columns[node], rcond=None)[0]
            stated = [strengths[parent, node] for parent in parents]
            np.testing.assert_allclose(stated, right, atol=0.03)


def test_a_world_goes_in_the_directions_that_are_wanted() -> None:
    """Linear weights show the sign of an edge."""
    for seed in range(5):
        wanted = {edge: 0.4 if (seed + i) % 2 else -0.4 for i, edge in enumerate(GRAPH.edges)}
        rng = np.random.default_rng(seed)
        world = sample_world(rng, GRAPH, {}, outcome="Y", strengths=wanted)
        for node in world.nodes:
            weights = node.parameters["weights"]
            assert isinstance(weights, tuple)
            for parent, weight in zip(node.parents, weights, strict=True):
                assert np.sign(weight) == np.sign(wanted[parent, node.name])


def test_wanted_strengths_bring_a_world_near_them() -> None:
    """Else a sketch would decide nothing but signs."""
    edge = ("A", "X")
    found: dict[float, list[float]] = {0.2: [], 0.8: []}
    for seed in range(24):
        for size, strengths in found.items():
            rng = np.random.default_rng(seed)
            world = sample_world(rng, GRAPH, {}, outcome="Y", strengths={edge: size})
            values = world.simulate(np.random.default_rng(seed), 2000)
            strengths.append(abs(float(np.corrcoef(values["A"], values["X"])[0, 1])))
    assert np.mean(found[0.8]) > np.mean(found[0.2]) + 0.05
