"""Population means, spreads, quantiles and contrasts against simulated units."""

import numpy as np
import pytest
from node_moments import population_moments

from builder.scm.population import contrast, population_quantiles

UNITS = 60_000


def test_moments_agree_with_simulated_ones(cases) -> None:
    """Label margins and score normalisers are stated in population standard deviations."""
    for case in cases:
        values = case.world.simulate(case.rng(1), UNITS)
        for spec in case.world.nodes:
            column = values[spec.name]
            found = population_moments(case.world, spec.name, case.rng(2))
            centred = column - column.mean()
            se = column.std() / np.sqrt(UNITS)
            # A fair coin's sd does not move with p to first order: 2 / UNITS covers the second.
            sd_se = np.std(centred**2) / (2 * column.std() * np.sqrt(UNITS)) + 2 / UNITS
            assert abs(found.mean.value - column.mean()) <= 4 * np.hypot(se, found.mean.se)
            assert abs(found.sd.value - column.std()) <= 4 * np.hypot(sd_se, found.sd.se)
            assert found.sd.se <= 0.001 * (1 + found.sd.value)


def test_quantiles_cut_off_their_share_of_simulated_units(cases) -> None:
    """The share below a quantile is binomial, whatever the distribution."""
    probabilities = (0.05, 0.25, 0.75)
    for case in cases[::2]:
        values = case.world.simulate(case.rng(1), UNITS)
        for spec in case.world.nodes:
            if spec.kind == "binary":
                continue
            found = population_quantiles(case.world, spec.name, probabilities, case.rng(2))
            for p, quantile in zip(probabilities, found, strict=True):
                below = np.mean(values[spec.name] <= quantile.value)
                step = 4 * quantile.se
                slack = np.mean(np.abs(values[spec.name] - quantile.value) <= step)
                assert abs(below - p) <= 4 * np.sqrt(p * (1 - p) / UNITS) + slack
            if not spec.parents:
                assert {q.source for q in found} == {"closed_form"}


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
        other = contrast(case.world, case.x, case.rng(2))
        exact = population_quantiles(case.world, case.x, (0.25, 0.75), case.rng(3))
        for a, b, q in zip(first, other, exact, strict=True):
            unit = 10.0 ** (np.floor(np.log10(abs(a))) - 2)
            assert abs(a - b) <= 1.01 * unit + 8 * q.se
            assert abs(a - q.value) <= 0.51 * unit + 8 * q.se


def test_quantiles_of_binary_nodes_are_refused(cases) -> None:
    """A binary variable has no density; its contrast is 0 and 1."""
    case = next(c for c in cases if c.world.node(c.x).kind == "binary")
    with pytest.raises(ValueError, match="continuous"):
        population_quantiles(case.world, case.x, (0.5,), case.rng())
    other = next(c for c in cases if c.world.node(c.x).kind == "continuous")
    with pytest.raises(ValueError, match="inside"):
        population_quantiles(other.world, other.x, (0.0,), other.rng())
