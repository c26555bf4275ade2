"""Population mean and spread of one node, by the moments that associations are made of."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from builder.scm.affine import affine_moments
from builder.scm.moments import plan_moments
from builder.scm.population import POPULATION_BOUND
from builder.scm.quantities import Quantity, as_quantity
from builder.scm.rqmc import Estimate, Statistic, delta_method, integrate
from builder.scm.world import World

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moments:
    """Population mean and standard deviation of one node."""

    mean: Quantity
    sd: Quantity


def population_moments(
    world: World, node: str, rng: np.random.Generator, bound: float = POPULATION_BOUND
) -> Moments:
    """Mean and standard deviation of ``node``; a binary node's are p and sqrt(p (1 - p)).

    Raises:
        BoundNotMet: a standard error exceeds bound * (1 + sd) at the largest sample.
    """
    exact = affine_moments(world, (node,))
    if exact is not None:
        values = float(exact[0][0]), float(np.sqrt(exact[1][0, 0]))
        mean_q, sd_q = (Quantity(value, 0.0, 0, "closed_form") for value in values)
        return Moments(mean_q, sd_q)
    binary = world.node(node).kind == "binary"
    sd = _estimate(
        world,
        (node,),
        _binary_sd if binary else _continuous_sd,
        lambda value: bound * (1.0 + value),
        rng,
        f"standard deviation of {node}",
    )
    mean = _estimate(
        world,
        (node,),
        _mean,
        lambda value: bound * (1.0 + sd.value),
        rng,
        f"mean of {node}",
    )
    return Moments(as_quantity(mean, "rqmc"), as_quantity(sd, "rqmc"))


def _estimate(
    world: World,
    targets: tuple[str, ...],
    statistic: Callable[[Array], Statistic],
    allowed: Callable[[float], float],
    rng: np.random.Generator,
    question: str,
) -> Estimate:
    """Estimate a function of the moments of the targets.

    ``statistic(centre)`` gets the constants c that were subtracted and returns the function of the
    randomisations' means, in the order of ``MomentPlan.integrand``.

    Raises:
        BoundNotMet: see ``integrate``.
    """
    plan = plan_moments(world, targets)
    return integrate(
        world,
        plan.drawn,
        plan.integrand,
        statistic(plan.centre),
        allowed,
        rng,
        question,
    )


def _binary_sd(centre: Array) -> Statistic:
    def statistic(means: Array) -> tuple[float, float]:
        p = float(means[:, 0].mean() + centre[0])
        sd = math.sqrt(p * (1.0 - p))
        return sd, delta_method(means, np.array([(0.5 - p) / sd, 0.0]))

    return statistic


def _continuous_sd(centre: Array) -> Statistic:
    def statistic(means: Array) -> tuple[float, float]:
        first, second = means.mean(axis=0)
        sd = math.sqrt(second - first * first)
        return sd, delta_method(means, np.array([-first / sd, 0.5 / sd]))

    return statistic


def _mean(centre: Array) -> Statistic:
    def statistic(means: Array) -> tuple[float, float]:
        return float(means[:, 0].mean() + centre[0]), delta_method(means, np.array([1.0, 0.0]))

    return statistic
