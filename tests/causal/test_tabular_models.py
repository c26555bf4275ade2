"""Discrete models by their tables, against running every combination of noise levels."""

import numpy as np
import pytest

from builder.causal.graph import LatentDAG
from builder.causal.proof.estimand import DEFINITIONS
from builder.causal.proof.finite import FiniteSCM, joint_distribution, random_scm, true_effect
from builder.causal.proof.sampling import random_query
from builder.causal.proof.tabular import TabularModel, effect, observed_joint, random_tables


def _tables(scm: FiniteSCM) -> TabularModel:
    """The same model, its noise summed out of every equation."""
    tables = {}
    for name, levels in scm.tables.items():
        hit = levels[..., None] == np.arange(scm.levels[name])
        tables[name] = (hit * scm.noise[name][:, None]).sum(axis=-2)
    return TabularModel(scm.graph, scm.levels, tables)


@pytest.mark.parametrize("seed", range(6))
def test_every_effect_is_that_of_its_definition(seed: int) -> None:
    """Joint distribution and all four effects, a treatment of three levels among them."""
    rng = np.random.default_rng(seed)
    graph, x, y = random_query(rng, (4, 6))
    levels = dict.fromkeys(graph.nodes, 2) | {x: 2 + seed % 2}
    scm = random_scm(rng, graph, levels, 3)
    model = _tables(scm)
    np.testing.assert_allclose(observed_joint(model), joint_distribution(scm), atol=1e-12)
    for which in DEFINITIONS:
        assert effect(model, x, y, which) == pytest.approx(
            true_effect(scm, x, y, which), abs=1e-12
        ), which


def test_tables_are_distributions_away_from_zero() -> None:
    """Every denominator of a functional is positive."""
    graph = LatentDAG(("A", "X", "Y"), (("A", "X"), ("A", "Y"), ("X", "Y")))
    model = random_tables(np.random.default_rng(1), graph, {"A": 4, "X": 2, "Y": 2})
    for table in model.tables.values():
        np.testing.assert_allclose(table.sum(axis=-1), 1.0)
        assert table.min() >= 0.025
