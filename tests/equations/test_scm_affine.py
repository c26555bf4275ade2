"""Closed forms against path enumeration."""

import numpy as np
import pytest

from builder.equations.quantities import effect
from builder.equations.sampling import sample_world
from builder.equations.world import World
from builder.graphs.graph import LatentDAG


def random_world(seed: int) -> World:
    rng = np.random.default_rng(seed)
    names = tuple(f"V{i}" for i in range(7))
    edges = tuple((a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < 0.4)
    graph = LatentDAG(names, edges, frozenset(("V1",)))
    return sample_world(rng, graph, {}, outcome="V6")


def coefficients(world: World) -> np.ndarray:
    """Row by child, column by parent."""
    names = world.graph.nodes
    b = np.zeros((len(names), len(names)))
    for i, spec in enumerate(world.nodes):
        for parent, weight in zip(spec.parents, spec.parameters["weights"], strict=True):
            b[i, names.index(parent)] = weight
    return b


def test_total_coefficient_sums_over_directed_paths() -> None:
    """Wright's rule by walking every path, against the recursion."""

    def walk(b: np.ndarray, i: int, j: int) -> float:
        if i == j:
            return 1.0
        return sum(b[k, i] * walk(b, k, j) for k in np.flatnonzero(b[:, i]))

    rng = np.random.default_rng(0)
    for seed in range(30):
        world = random_world(seed)
        b = coefficients(world)
        for i in range(6):
            found = effect("ate", world, f"V{i}", "V6", 0.0, 1.0, rng)
            assert found.value == pytest.approx(walk(b, i, 6), rel=1e-12, abs=1e-14)
            assert found.source in {"closed_form", "structural_zero"}


def test_no_closed_form_is_claimed_past_a_binary_node() -> None:
    """A logistic node is not affine: a closed form through it would be a wrong truth."""
    graph = LatentDAG(
        ("Z", "X", "M", "Y"), (("Z", "X"), ("X", "M"), ("M", "Y"), ("Z", "Y")), frozenset()
    )
    rng = np.random.default_rng(0)
    mediator = sample_world(rng, graph, {"M": "binary"}, outcome="Y")
    assert effect("ate", mediator, "X", "Y", 0.0, 1.0, rng).source == "rqmc"
    treatment = sample_world(rng, graph, {"X": "binary"}, outcome="Y")
    assert effect("ate", treatment, "X", "Y", 0.0, 1.0, rng).source == "closed_form"
