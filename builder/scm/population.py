"""Population quantiles of one node, and the contrast of a treatment."""

import math
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from builder.scm.branches import branched_nodes, branches
from builder.scm.equation import Array
from builder.scm.quantities import Quantity, as_quantity
from builder.scm.rqmc import Statistic, delta_method, first_batch, integrate, stack
from builder.scm.same_units import SameUnits
from builder.scm.world import Values, World

POPULATION_BOUND: Final = 0.001
"""A quantile is known to a standard error of this times 1 + sd."""

QUARTILES: Final = (0.25, 0.75)
_NEWTON_STEPS: Final = 50


def population_quantiles(
    world: World,
    node: str,
    probabilities: tuple[float, ...],
    rng: np.random.Generator,
    bound: float = POPULATION_BOUND,
) -> tuple[Quantity, ...]:
    """Quantiles of a continuous node: the roots q of E[P(V <= q | parents)] = p.

    The conditional distribution function is smooth, so Newton's method on a first batch of points
    lands within a small multiple of that batch's error; one more Newton step with fresh points,
    doubled until the standard error holds, is then exact to second order. A root node needs no
    points at all.

    Raises:
        ValueError: the node is binary, or a probability is not inside (0, 1).
        BoundNotMet: a standard error exceeds bound * (1 + sd) at the largest sample.
    """
    law = world.node(node).noise
    if law is None:
        raise ValueError(f"{node}: quantiles are for continuous nodes")
    if not all(0.0 < p < 1.0 for p in probabilities):
        raise ValueError(f"{node}: probabilities must lie inside (0, 1)")
    evaluated = world.ancestors((node,)) - {node}
    branched = branched_nodes(world, evaluated)
    drawn = tuple(v for v in world.order if v in evaluated and v not in branched)

    def distribution(units: SameUnits, noise: Values, q: float) -> Array:
        """P(V <= q) and the density at q, given the noise of the units: (2, n)."""
        cdf, density = np.asarray(0.0), np.asarray(0.0)
        for weight, values in branches(units, noise, {}, branched, evaluated):
            cdf = cdf + weight * units.conditional_cdf(node, q, values)
            density = density + weight * units.conditional_density(node, q, values)
        return stack([cdf, density])

    def afresh(noise: Values, q: float) -> Array:
        return distribution(SameUnits(world), noise, q)

    pilot, same = first_batch(world, drawn, rng), SameUnits(world)
    quantiles = []
    middle, square = 0.0, 0.0
    for weight, values in branches(same, pilot, {}, branched, evaluated):
        location = same.conditional_mean(node, values)
        middle += float(np.mean(weight * location))
        spread = same.conditional_variance(node, values)
        square += float(np.mean(weight * (location * location + spread)))
    allowed = bound * (1.0 + math.sqrt(square - middle * middle))
    for p in probabilities:
        start = _newton(lambda q: distribution(same, pilot, q).mean(axis=1), p, middle, law.scale)
        estimate = integrate(
            world,
            drawn,
            partial(afresh, q=start),
            _quantile_step(start, p),
            lambda value: allowed,
            rng,
            f"quantile {p} of {node}",
        )
        quantiles.append(as_quantity(estimate, "rqmc"))
    return tuple(quantiles)


def contrast(world: World, x: str, rng: np.random.Generator) -> tuple[float, float]:
    """The two treatment values that a scene's effects compare, in increasing order.

    Binary: 0 and 1. Continuous: the population quartiles rounded to 3 significant digits, the
    numbers that prompts print; every truth then refers to these rounded values, so the error of a
    quartile costs no truth anything. Another generator may move a value by its last digits.

    Raises:
        ValueError: the rounded quartiles coincide (a spread tiny beside the mean).
        BoundNotMet: a quartile's standard error cannot be met.
    """
    if world.node(x).kind == "binary":
        return 0.0, 1.0
    low, high = (float(f"{q.value:.3g}") for q in population_quantiles(world, x, QUARTILES, rng))
    if low >= high:
        raise ValueError(f"{x}: its quartiles coincide at three significant digits")
    return low, high


def _newton(distribution: Callable[[float], Array], p: float, start: float, step: float) -> float:
    """Root of F - p, F increasing, by Newton steps of bounded length kept in a bracket."""
    q, low, high = start, -math.inf, math.inf
    for _ in range(_NEWTON_STEPS):
        cdf, density = distribution(q)
        low, high = (q, high) if cdf < p else (low, q)
        move = (p - cdf) / max(density, 1e-12)
        target = q + min(max(move, -step), step)
        if not low < target < high and high - low < math.inf:
            target = 0.5 * (low + high)
        if abs(target - q) < 1e-12 * step:
            return float(target)
        q = target
    return float(q)


def _quantile_step(q: float, p: float) -> Statistic:
    def statistic(means: Array) -> tuple[float, float]:
        cdf, density = means.mean(axis=0)
        return float(q + (p - cdf) / density), delta_method(means, np.array([1.0 / density, 0.0]))

    return statistic
