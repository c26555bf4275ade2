"""Randomised quasi-Monte Carlo with a standard error, doubled until a bound holds.

One scrambled Sobol sequence (Matoušek's linear matrix scramble, as in SciPy) is shifted by
``RANDOMISATIONS`` independent uniform digital shifts. Given the scramble, the shifted copies give
independent, identically distributed, unbiased estimates, and their spread is the standard error
(L'Ecuyer & Lemieux 2002, section 4; Owen 1998).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy  # whose parts are imported when asked for: who only plans waits for none

from builder.scm.equation import Array
from builder.scm.world import World

Integrand = Callable[[dict[str, Array]], Array]
"""Noise of n units -> statistics (k, n), or (k, 1) where no noise is asked for."""
Statistic = Callable[[Array], tuple[float, float]]
"""Means of the k statistics in each randomisation, (R, k) -> (estimate, standard error)."""

RANDOMISATIONS: Final = 32
FIRST_POINTS: Final = 128
LAST_POINTS: Final = 1 << 14
"""Points per randomisation: at first, and where doubling stops (half a million draws in all)."""
_BITS: Final = 30
_BLOCK: Final = RANDOMISATIONS * FIRST_POINTS
"""Units that an integrand is given at once: their columns stay in a processor's cache."""


class BoundNotMet(Exception):
    """A quantity's standard error stayed above its bound at the largest number of draws."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """``value`` with standard error ``se`` from ``draws`` units; draws 0 means exact."""

    value: float
    se: float
    draws: int


def integrate(
    world: World,
    drawn: Sequence[str],
    integrand: Integrand,
    statistic: Statistic,
    allowed: Callable[[float], float],
    rng: np.random.Generator,
    question: str,
) -> Estimate:
    """Estimate a function of population means by integrating over the noise of ``drawn``.

    Args:
        world: the world that the integrand runs.
        drawn: nodes whose noise is integrated numerically; none means that the integrand is exact.
        integrand: maps noise to the statistics whose means are wanted.
        statistic: from their means in each randomisation to the estimate and its standard error.
        allowed: the largest acceptable standard error, given the estimate.
        rng: all randomness comes from here.
        question: what is being estimated, for the error message.

    Raises:
        BoundNotMet: the error is still above the bound at ``LAST_POINTS`` points.
    """
    value, se, draws = 0.0, float("inf"), 0
    for means, draws in refined_means(world, drawn, integrand, rng):
        value, se = statistic(means)
        if not draws:
            return Estimate(value, 0.0, 0)
        if se <= allowed(value):
            return Estimate(value, se, draws)
    raise BoundNotMet(
        f"{question}: standard error {se:.2g} after {draws} draws, allowed {allowed(value):.2g}"
    )


def refined_means(
    world: World, drawn: Sequence[str], integrand: Integrand, rng: np.random.Generator
) -> Iterator[tuple[Array, int]]:
    """Means of the k statistics in each randomisation, (R, k), as the draws behind them double.

    The second part is the number of draws so far; 0, once and for all, when nothing is drawn and
    the means are exact.
    """
    if not drawn:
        exact = np.asarray(integrand({}), dtype=np.float64).reshape(1, -1)
        yield np.repeat(exact, RANDOMISATIONS, axis=0), 0
        return
    sums, points = np.zeros(0), 0
    for uniforms in batches(len(drawn), rng):
        size = uniforms.shape[2]
        columns = _in_blocks(world, drawn, integrand, uniforms.reshape(len(drawn), -1))
        batch = columns.reshape(len(columns), RANDOMISATIONS, size).sum(axis=2).T
        sums, points = (batch if points == 0 else sums + batch), points + size
        yield sums / points, points * RANDOMISATIONS


def _in_blocks(world: World, drawn: Sequence[str], integrand: Integrand, uniforms: Array) -> Array:
    """The statistics of all units, (k, n), block by block: no unit depends on another."""
    blocks = [
        integrand(world.noise_from_uniform(drawn, uniforms[:, start : start + _BLOCK]))
        for start in range(0, uniforms.shape[1], _BLOCK)
    ]
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)


def batches(dimension: int, rng: np.random.Generator) -> Iterator[Array]:
    """Uniforms in (0, 1), shape (dimension, R, size): each batch doubles what came before."""
    # SciPy spawns from the generator it is given, which one made from a bare key cannot do.
    own = np.random.default_rng(int(rng.integers(1 << 62)))
    sobol = scipy.stats.qmc.Sobol(dimension, scramble=True, bits=_BITS, rng=own)
    shifts = rng.integers(1 << _BITS, size=(dimension, RANDOMISATIONS, 1), dtype=np.uint32)
    points = 0
    while points < LAST_POINTS:
        size = max(FIRST_POINTS, points)
        digits = (sobol.random(size).T * 2.0**_BITS).astype(np.uint32)
        # Half a cell is added because a uniform of exactly 0 has no finite normal quantile.
        yield ((digits[:, None, :] ^ shifts).astype(np.float64) + 0.5) * 2.0**-_BITS
        points += size


def first_batch(world: World, drawn: Sequence[str], rng: np.random.Generator) -> dict[str, Array]:
    """Noise of ``drawn`` for one first batch of points, all randomisations in one row."""
    if not drawn:
        return {}
    uniforms = next(batches(len(drawn), rng))
    return world.noise_from_uniform(drawn, uniforms.reshape(len(drawn), -1))


def delta_method(means: Array, gradient: Array) -> float:
    """Standard error of a smooth function of the pooled means, from randomisations (R, k)."""
    influence = (means * gradient).sum(axis=1)  # no @: its order is the library's choice
    return float(np.std(influence, ddof=1) / np.sqrt(len(influence)))


def stack(columns: Sequence[Array]) -> Array:
    """Statistics that may be scalars or of shape (n,), as one array (k, n)."""
    return np.stack([np.atleast_1d(column) for column in np.broadcast_arrays(*columns)])
