"""First and second population moments of one or two nodes of any world.

Own noise is integrated in closed form where nothing else in the question depends on it, and binary
nodes are summed over. Where the continuous part of the world is affine, each moment is estimated as
a known value plus a small correction: the same units are run with every binary node held at 1/2,
where the moments have closed forms, and only the difference is averaged (a control variate).
Without that, squares of heavy-tailed noise would dominate the error.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from builder.scm.affine import affine_moments
from builder.scm.branches import branched_nodes, branches
from builder.scm.rqmc import Estimate, Statistic, integrate, stack
from builder.scm.world import Values, World

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is drawn, summed over, integrated analytically and subtracted for some targets."""

    world: World
    targets: tuple[str, ...]
    only: frozenset[str]
    sinks: frozenset[str]
    branched: tuple[str, ...]
    drawn: tuple[str, ...]
    held: dict[str, float]
    centre: Array
    covariance: Array | None


def _plan(world: World, targets: tuple[str, ...]) -> _Plan:
    only = world.ancestors(targets)
    sinks = frozenset(
        t for t in targets if not any(t in world.ancestors((o,)) for o in targets if o != t)
    )
    branched = branched_nodes(world, only - sinks)
    held = {v: 0.5 for v in world.order if v in only and world.node(v).kind == "binary"}
    control = affine_moments(world, targets, held)
    return _Plan(
        world=world,
        targets=targets,
        only=only,
        sinks=sinks,
        branched=branched,
        drawn=tuple(v for v in world.order if v in only and v not in sinks and v not in branched),
        held=held,
        centre=np.zeros(len(targets)) if control is None else control[0],
        covariance=None if control is None else control[1],
    )


def _centred(plan: _Plan, sinks: frozenset[str], values: Values) -> list[Array]:
    """Each target's E[T - c], then E[(T - c)^2], then for two targets E[(T - c)(S - d)].

    Expectations are over the own noise of ``sinks``, given everything else; two sinks have
    independent own noise, so that the product's expectation is the product of expectations.
    """
    first: list[Array] = []
    second: list[Array] = []
    for target, centre in zip(plan.targets, plan.centre, strict=True):
        if target in sinks:
            mean = plan.world.conditional_mean(target, values) - centre
            spread = plan.world.conditional_variance(target, values)
        else:
            mean, spread = values[target] - centre, np.asarray(0.0)
        first.append(mean)
        second.append(mean * mean + spread)
    return [*first, *second] + ([first[0] * first[1]] if len(first) == 2 else [])


def _integrand(plan: _Plan, noise: Values) -> Array:
    world, evaluated = plan.world, plan.only - plan.sinks
    total: list[Array] = [np.asarray(0.0)] * (5 if len(plan.targets) == 2 else 2)
    for weight, values in branches(world, noise, {}, plan.branched, evaluated):
        parts = _centred(plan, plan.sinks, values)
        total = [sum_ + weight * part for sum_, part in zip(total, parts, strict=True)]
    if plan.covariance is not None:
        held_sinks = frozenset(v for v in plan.sinks if v not in plan.held)
        base = world.run(noise, plan.held, plan.only - held_sinks)
        known = [np.zeros(1)] * len(plan.targets) + [*np.diag(plan.covariance)]
        known += [plan.covariance[0, 1]] if len(plan.targets) == 2 else []
        control = _centred(plan, held_sinks, base)
        total = [t - b + k for t, b, k in zip(total, control, known, strict=True)]
    return stack(total)


def estimate_moments(
    world: World,
    targets: tuple[str, ...],
    statistic: Callable[[Array], Statistic],
    allowed: Callable[[float], float],
    rng: np.random.Generator,
    question: str,
) -> Estimate:
    """Estimate a function of the moments of one or two targets.

    ``statistic(centre)`` gets the constants c that were subtracted and returns the function of the
    randomisations' means: E[T - c] for each target, E[(T - c)^2] for each, E of their product.

    Raises:
        BoundNotMet: see ``integrate``.
    """
    plan = _plan(world, targets)
    return integrate(
        world,
        plan.drawn,
        lambda noise: _integrand(plan, noise),
        statistic(plan.centre),
        allowed,
        rng,
        question,
    )
