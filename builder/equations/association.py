"""Population associations of treatment and outcome, alone and given one further variable: Pearson's
correlations and linear partial ones of first order,

    r_XY.Z = (r_XY - r_XZ r_YZ) / sqrt((1 - r_XZ^2) (1 - r_YZ^2))

All of a scene's associations come from one integration over the same units, so that a change
r_XY.Z - r_XY has a smaller error than either of its terms.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from builder.equations.equation import Array
from builder.equations.mechanisms import MECHANISMS
from builder.equations.quantities import (
    STRUCTURAL_ZERO,
    BoundNotMet,
    NoiseSample,
    Quantity,
    jackknife,
    refined_means,
)
from builder.equations.world import World
from builder.graphs.graph import one_is_apart

CORRELATION_BOUND: Final = 0.001
"""Largest standard error of a correlation, of a partial one, and of a change of it."""

SPREAD_BOUND: Final = 0.005
"""The outcome's standard deviation is known to this relative standard error."""


class Associations(NamedTuple):
    """Of X and Y: r_XY, for each Z ``partial`` r_XY.Z and ``change`` r_XY.Z - r_XY, the sd of Y."""

    marginal: Quantity
    partial: Mapping[str, Quantity]
    change: Mapping[str, Quantity]
    outcome_sd: Quantity


def associations(
    world: World, x: str, y: str, others: Sequence[str], rng: np.random.Generator
) -> Associations:
    """Return the correlation of X and Y, those given each of ``others``, their changes, and Y's sd.
    Binary nodes count as 0 and 1. What is zero by construction is exactly zero. Raises
    :class:`BoundNotMet` where a standard error exceeds its bound at the largest sample."""
    targets = (x, y, *others)
    count = len(others)
    separated = world.graph.d_separated
    apart = np.array([[a != b and separated((a,), (b,)) for b in targets] for a in (x, y)])
    zeros = np.array(
        [
            bool(apart[0, 1]),
            *(zero_partial(world, x, y, z) for z in others),
            *(one_is_apart(world.graph, x, y, z) for z in others),
            False,
        ]
    )
    only = world.graph.ancestors(targets)

    def integrand(noise: NoiseSample) -> list[Array]:
        values = world.run(noise, only=only)
        columns = [values[target] for target in targets]
        products = [a * b for a in columns[:2] for b in columns]
        return [*columns, *(column * column for column in columns), *products]

    drawn = [node for node in world.order if node in only]
    errors, draws = np.zeros(0), 0
    for means, draws in refined_means(world, drawn, integrand, rng):
        values, errors = jackknife(means, partial(_correlations, apart, zeros[1 : count + 1]))
        limits = np.append(np.full(2 * count + 1, CORRELATION_BOUND), SPREAD_BOUND * values[-1])
        if (errors[~zeros] <= limits[~zeros]).all():
            marginal, *given, outcome_sd = (
                STRUCTURAL_ZERO if zero else Quantity(value, se, draws, "rqmc")
                for value, se, zero in zip(values.tolist(), errors.tolist(), zeros, strict=True)
            )
            partials, changes = (
                dict(zip(others, part, strict=True)) for part in (given[:count], given[count:])
            )
            return Associations(marginal, partials, changes, outcome_sd)
    raise BoundNotMet(
        f"associations of {x} and {y}: standard error {errors.max():.2g} after {draws} draws"
    )


def _correlations(apart: Array, zero_partials: Array, means: Array) -> Array:
    """Return r_XY, all r_XY.Z, all changes and the sd of Y, along the last axis. ``apart`` says
    which correlations of X and Y are zero, ``zero_partials`` which r_XY.Z. ``means`` are of
    variables (X, Y, others), their squares, and their products with X and Y."""
    first, second, *products = np.split(means, 4, axis=-1)
    variance = second - first * first
    sd = np.sqrt(variance)
    r_x, r_y = (
        np.where(zero, 0.0, (product - first[..., [place]] * first) / (sd[..., [place]] * sd))
        for place, (zero, product) in enumerate(zip(apart, products, strict=True))
    )
    r, given_x, given_y = r_x[..., [1]], r_x[..., 2:], r_y[..., 2:]
    left = (1.0 - given_x * given_x) * (1.0 - given_y * given_y)
    partials = np.where(zero_partials, 0.0, (r - given_x * given_y) / np.sqrt(left))
    return np.concatenate([r, partials, partials - r, sd[..., [1]]], axis=-1)


def zero_partial(world: World, x: str, y: str, z: str) -> bool:
    """Return whether r_XY.Z is zero by construction. X must be independent of {Y, Z}, or Y of {X,
    Z}, or X and Y given Z with one mean exactly affine in Z: else residuals from lines stay
    associated where the true curves bend."""
    graph = world.graph
    if graph.d_separated((x,), (y, z)) or graph.d_separated((y,), (x, z)):
        return True
    if not graph.d_separated((x,), (y,), (z,)):
        return False
    # In a linear model with independent errors separation given Z does it, whatever the errors.
    nodes = [world.node(v) for v in world.graph.ancestors((x, y, z))]
    linear = all(node.coefficients is not None or not node.parents for node in nodes)
    return linear or affine_given(world, x, z) or affine_given(world, y, z)


def affine_given(world: World, v: str, z: str) -> bool:
    """Return whether E[V | Z] is affine in Z by graph and equations: Z is binary, V is Z, or
    independent of it, or jointly Gaussian, or after it and affine in parents that are."""
    if v == z or world.node(z).kind == "binary" or world.graph.d_separated((v,), (z,)):
        return True
    nodes = [world.node(one) for one in world.graph.ancestors((v, z))]
    if all(
        one.coefficients is not None and one.noise and one.noise.family == "gauss" for one in nodes
    ):
        return True
    node = world.node(v)
    # Given its parents, V is independent of Z only if Z does not come after V.
    if not node.parents or v in world.graph.ancestors(z):
        return False
    if not MECHANISMS[node.mechanism].affine or node.grid is not None:
        return False
    return all(affine_given(world, parent, z) for parent in node.parents)
