"""Population associations of treatment and outcome, alone and given one further variable.

Correlations are Pearson's; a partial correlation is the linear one of first order, that of the
residuals of X and Y from their population regressions on one variable Z:

    r_XY.Z = (r_XY - r_XZ r_YZ) / sqrt((1 - r_XZ^2) (1 - r_YZ^2))

All of a scene's associations come from one integration over the same units, so that a change
r_XY.Z - r_XY has a smaller error than either of its terms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from builder.scm.affine import affine_moments
from builder.scm.equation import Array
from builder.scm.mechanisms import MECHANISMS
from builder.scm.moments import moment_pairs, plan_moments
from builder.scm.quantities import STRUCTURAL_ZERO, Quantity
from builder.scm.rqmc import BoundNotMet, refined_means
from builder.scm.world import World

CORRELATION_BOUND: Final = 0.0005
"""The correlation of treatment and outcome is known to this standard error."""

PARTIAL_BOUND: Final = 0.001
"""A partial correlation, and a change of one, is known to this standard error."""

SPREAD_BOUND: Final = 0.005
"""The outcome's standard deviation is known to this relative standard error."""


@dataclass(frozen=True, slots=True)
class Associations:
    """Associations of X and Y, and the spread of Y.

    ``partial[z]`` is r_XY.Z, ``change[z]`` is r_XY.Z - r_XY; ``outcome_sd`` is the population
    standard deviation of Y.
    """

    marginal: Quantity
    partial: Mapping[str, Quantity]
    change: Mapping[str, Quantity]
    outcome_sd: Quantity


def associations(
    world: World,
    x: str,
    y: str,
    others: Sequence[str],
    rng: np.random.Generator,
    bound: float = CORRELATION_BOUND,
    partial_bound: float = PARTIAL_BOUND,
) -> Associations:
    """Every association of X and Y, given each of ``others`` in turn; binary nodes are 0 and 1.

    What is zero by construction is exactly zero (``zero_correlation``, ``zero_partial``,
    ``zero_change``); closed forms where all ancestors are affine in their parents or binary roots.

    Raises:
        ValueError: X, Y and the others are not all different.
        BoundNotMet: a standard error exceeds its bound at the largest sample.
    """
    targets = (x, y, *others)
    if len(set(targets)) != len(targets):
        raise ValueError(f"the variables must differ: {', '.join(targets)}")
    zeros = _zeros(world, targets)
    known = _closed_forms(world, targets)
    if not np.isnan(known).any():
        return _summarised(_Moments(known, None), others, zeros, 0)
    plan, found = plan_moments(world, targets), None
    for means, draws in refined_means(world, plan.drawn, plan.integrand, rng):
        found = _summarised(_covariances(means, known), others, zeros, draws)
        if _settled(found, bound, partial_bound):
            return found
    assert found is not None
    worst = max((found.marginal, *found.partial.values(), *found.change.values()),
                key=lambda q: q.se)  # fmt: skip
    raise BoundNotMet(
        f"associations of {x} and {y}: standard error {worst.se:.2g} after {worst.draws} draws, "
        f"allowed {bound:.2g} and {partial_bound:.2g}"
    )


# --- zeros by construction -------------------------------------------------------------------


def zero_correlation(world: World, x: str, y: str) -> bool:
    """Whether the graph makes X and Y independent (no common ancestor, each being its own)."""
    return world.graph.d_separated((x,), (y,))


def zero_partial(world: World, x: str, y: str, z: str) -> bool:
    """Whether r_XY.Z is zero by construction.

    So it is when X is independent of {Y, Z} or Y of {X, Z}, and when X and Y are independent given
    Z and the mean of one of them given Z is exactly affine in Z. Independence given Z alone is not
    enough: residuals from straight lines stay associated where the true curves bend.
    """
    graph = world.graph
    if graph.d_separated((x,), (y, z)) or graph.d_separated((y,), (x, z)):
        return True
    if not graph.d_separated((x,), (y,), (z,)):
        return False
    # In a linear model with independent errors separation given Z does it, whatever the errors.
    linear = affine_moments(world, (x, y, z)) is not None
    return linear or affine_given(world, x, z) or affine_given(world, y, z)


def zero_change(world: World, x: str, y: str, z: str) -> bool:
    """Whether r_XY.Z - r_XY is zero by construction.

    So it is when X is independent of {Y, Z}, Y of {X, Z}, or Z of {X, Y}.
    """
    graph = world.graph
    triples = ((x, y, z), (y, x, z), (z, x, y))
    return any(graph.d_separated((a,), (b, c)) for a, b, c in triples)


def affine_given(world: World, v: str, z: str) -> bool:
    """Whether E[V | Z] is known to be affine in Z from the graph and the form of the equations.

    A binary Z has two values, and any function of it is a line. Else V is Z, is independent of it,
    comes after it with an equation that is affine in parents of which all this is true, or is
    jointly Gaussian with it.
    """
    if v == z or world.node(z).kind == "binary" or world.graph.d_separated((v,), (z,)):
        return True
    if _jointly_gaussian(world, (v, z)):
        return True
    node = world.node(v)
    # Given its parents, V is independent of Z only if Z does not come after V.
    if not node.parents or v in world.ancestors((z,)):
        return False
    if MECHANISMS[node.mechanism].affine is None:
        return False
    return all(affine_given(world, parent, z) for parent in node.parents)


def _jointly_gaussian(world: World, targets: tuple[str, ...]) -> bool:
    nodes = [world.node(v) for v in world.ancestors(targets)]
    return all(
        node.affine is not None and node.noise is not None and node.noise.family == "gauss"
        for node in nodes
    )


# --- from moments to associations --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Zeros:
    """What is zero by construction: correlations (k, k), partial ones and changes given a node."""

    pairs: npt.NDArray[np.bool_]
    partial: frozenset[str]
    change: frozenset[str]


def _zeros(world: World, targets: Sequence[str]) -> _Zeros:
    x, y, *others = targets
    return _Zeros(
        np.array([[a != b and zero_correlation(world, a, b) for b in targets] for a in targets]),
        frozenset(z for z in others if zero_partial(world, x, y, z)),
        frozenset(z for z in others if zero_change(world, x, y, z)),
    )


@dataclass(frozen=True, slots=True)
class _Moments:
    """Covariances (k, k) and, randomisation by randomisation, how each moved them: (R, k, k); those
    of two that are neither X nor Y mean nothing.

    ``moved`` is None where the covariances are exact. Its rows are linear approximations, of mean
    zero; what they do to a function of the covariances gives its error (delta method).
    """

    covariance: Array
    moved: Array | None


def _closed_forms(world: World, targets: Sequence[str]) -> Array:
    """Covariances (k, k) that have a closed form, NaN for the others."""
    known = np.full((len(targets), len(targets)), np.nan)
    lines = [i for i, v in enumerate(targets) if affine_moments(world, (v,)) is not None]
    if lines:
        exact = affine_moments(world, tuple(targets[i] for i in lines))
        assert exact is not None  # what is affine one by one is so together
        known[np.ix_(lines, lines)] = exact[1]
    return known


def _covariances(means: Array, known: Array) -> _Moments:
    """From the moments of each randomisation, in the order of ``MomentPlan.integrand``."""
    count, exact = len(known), ~np.isnan(known)
    products = np.zeros((len(means), count, count))
    for i in range(count):
        products[:, i, i] = means[:, count + i]
    for place, (i, j) in enumerate(moment_pairs(count)):
        products[:, i, j] = products[:, j, i] = means[:, 2 * count + place]
    first, second = means[:, :count], products.mean(axis=0)
    centre = first.mean(axis=0)
    off = first - centre
    moved = (products - second) - off[:, :, None] * centre - off[:, None, :] * centre[:, None]
    moved[:, exact] = 0.0
    return _Moments(np.where(exact, known, second - np.outer(centre, centre)), moved)


def _summarised(
    moments: _Moments, others: Sequence[str], zeros: _Zeros, draws: int
) -> Associations:
    """All associations with their errors; the targets are X, Y and the others."""
    covariance = moments.covariance
    sd = np.sqrt(np.diag(covariance))
    r = covariance / np.outer(sd, sd)
    no_error = np.zeros((1, *covariance.shape))
    moved = no_error if moments.moved is None else moments.moved
    spread = np.diagonal(moved, axis1=1, axis2=2) / np.diag(covariance)
    r_moved = moved / np.outer(sd, sd) - 0.5 * r * (spread[:, :, None] + spread[:, None, :])
    r[zeros.pairs], r_moved[:, zeros.pairs] = 0.0, 0.0

    def quantity(value: float, rows: Array, zero: bool = False) -> Quantity:
        if zero:
            return STRUCTURAL_ZERO
        if not rows.any():
            return Quantity(float(value), 0.0, 0, "closed_form")
        return Quantity(float(value), float(np.std(rows, ddof=1) / len(rows) ** 0.5), draws, "rqmc")

    partial, change = {}, {}
    for place, z in enumerate(others, start=2):
        value, rows = _partial(r, r_moved, place)
        if z in zeros.partial:
            value, rows = 0.0, 0.0 * rows
        partial[z] = quantity(value, rows, z in zeros.partial)
        change[z] = quantity(value - r[0, 1], rows - r_moved[:, 0, 1], z in zeros.change)
    return Associations(
        quantity(r[0, 1], r_moved[:, 0, 1], bool(zeros.pairs[0, 1])),
        partial,
        change,
        quantity(sd[1], 0.5 * sd[1] * spread[:, 1]),
    )


def _partial(r: Array, moved: Array, z: int) -> tuple[float, Array]:
    """r_XY.Z, and how each randomisation moved it."""
    xy, xz, yz = r[0, 1], r[0, z], r[1, z]
    left_x, left_y = 1.0 - xz * xz, 1.0 - yz * yz
    root = np.sqrt(left_x * left_y)
    value = float((xy - xz * yz) / root)
    rows = (
        moved[:, 0, 1] / root
        + (value * xz / left_x - yz / root) * moved[:, 0, z]
        + (value * yz / left_y - xz / root) * moved[:, 1, z]
    )
    return value, rows


def _settled(found: Associations, bound: float, partial_bound: float) -> bool:
    given = (*found.partial.values(), *found.change.values())
    return (
        found.marginal.se <= bound
        and all(q.se <= partial_bound for q in given)
        and found.outcome_sd.se <= SPREAD_BOUND * found.outcome_sd.value
    )
