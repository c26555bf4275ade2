"""The levels of treatment that effects compare, against simulated units."""

import numpy as np

from builder.equations.quantities import contrast

UNITS = 60_000


def test_contrasts_are_rounded_quartiles_or_zero_and_one(cases) -> None:
    """Prompts print these numbers; truths must be about the printed ones, and they must differ."""
    for case in cases[:48]:
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
