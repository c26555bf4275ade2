"""Randomised quasi-Monte Carlo over the noise of a world, with errors from its randomisations.

One scrambled Sobol sequence (Matoušek's linear matrix scramble, as in SciPy) is shifted by
``RANDOMISATIONS`` independent uniform digital shifts. Given the scramble, the shifted copies give
independent, identically distributed, unbiased estimates, and their spread is the standard error
(L'Ecuyer & Lemieux 2002, section 4; Owen 1998).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import scipy  # whose parts are imported when asked for: who only plans waits for none

from builder.equations.equation import Array
from builder.equations.world import World

NoiseSample = dict[str, Array]
Integrand = Callable[[NoiseSample], Sequence[Array]]
"""Noise of n units -> k statistics, each of shape (n,) or scalar."""
Statistic = Callable[[Array], Array]
"""Means of the k statistics, (..., k), to the m estimates, (..., m)."""

RANDOMISATIONS: Final = 32
FIRST_POINTS: Final = 128
LAST_POINTS: Final = 1 << 15
"""Points per randomisation: at first, and where doubling stops (a million draws in all)."""
_BITS: Final = 30


class BoundNotMet(Exception):
    """The standard error of a quantity stayed above its bound at the largest number of draws."""


def units(world: World, drawn: Sequence[str], rng: np.random.Generator) -> Iterator[NoiseSample]:
    """Yield noise of the nodes ``drawn`` without end: ``FIRST_POINTS`` further points of every
    randomisation, one after the other."""
    # SciPy spawns from the generator it is given, which one made from a bare key cannot do.
    own = np.random.default_rng(int(rng.integers(1 << 62)))
    sobol = scipy.stats.qmc.Sobol(len(drawn), scramble=True, bits=_BITS, rng=own)
    shifts = rng.integers(1 << _BITS, size=(len(drawn), RANDOMISATIONS, 1), dtype=np.uint32)
    while True:
        digits = (sobol.random(FIRST_POINTS).T * 2.0**_BITS).astype(np.uint32)
        # Half a cell is added because a uniform of exactly 0 has no finite normal quantile.
        uniforms = ((digits[:, None, :] ^ shifts).astype(np.float64) + 0.5) * 2.0**-_BITS
        yield world.noise_from_uniform(drawn, uniforms.reshape(len(drawn), -1))


def refined_means(
    world: World, drawn: Sequence[str], integrand: Integrand, rng: np.random.Generator
) -> Iterator[tuple[Array, int]]:
    """Yield the k means by randomisation, (R, k), and the draws behind them, after each doubling.
    Ends at ``LAST_POINTS`` points a randomisation. If nothing is drawn they are exact: they are
    yielded once, with the number 0."""
    if not drawn:
        yield np.repeat(_stack_columns(integrand({})).T, RANDOMISATIONS, axis=0), 0
        return
    sums, points = np.zeros(()), 0
    for noise in units(world, drawn, rng):
        columns = _stack_columns(integrand(noise))
        sums = sums + columns.reshape(len(columns), RANDOMISATIONS, -1).sum(axis=2).T
        points += FIRST_POINTS
        if points & (points - 1) == 0:
            yield sums / points, points * RANDOMISATIONS
        if points == LAST_POINTS:
            return


def jackknife(means: Array, statistic: Statistic) -> tuple[Array, Array]:
    """Return ``statistic`` of pooled means, (m,), and its jackknife standard error from (R, k)."""
    count = len(means)
    pooled = means.mean(axis=0)
    without = statistic(pooled + (pooled - means) / (count - 1))
    off = without - without.mean(axis=0)
    return statistic(pooled), np.sqrt((off * off).sum(axis=0) * (count - 1) / count)


def _stack_columns(columns: Sequence[Array]) -> Array:
    """Return columns and scalars as one array, (k, n)."""
    return np.stack([np.atleast_1d(column) for column in np.broadcast_arrays(*columns)])
