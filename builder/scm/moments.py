"""First and second population moments of nodes of any world, all from the same units.

Own noise is integrated in closed form where nothing else in a moment depends on it, and binary
nodes are summed over. Where the continuous part of the world is affine, each moment is estimated as
a known value plus a small correction: the same units are run with every binary node held at 1/2,
where the moments have closed forms, and only the difference is averaged (a control variate).
Without that, squares of heavy-tailed noise would dominate the error.
"""

from dataclasses import dataclass

import numpy as np

from builder.scm.affine import affine_moments
from builder.scm.branches import branched_nodes, branches
from builder.scm.equation import Array
from builder.scm.rqmc import stack
from builder.scm.same_units import SameUnits
from builder.scm.world import Values, World


@dataclass(frozen=True, slots=True)
class MomentPlan:
    """What is drawn, summed over, integrated analytically and subtracted for some targets.

    ``pairs`` are the places of the targets whose products are wanted; ``centre`` (k,) are the
    constants c that the targets are taken about.
    """

    world: World
    targets: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    only: frozenset[str]
    before: frozenset[tuple[str, str]]
    branched: tuple[str, ...]
    drawn: tuple[str, ...]
    held: dict[str, float]
    centre: Array
    covariance: Array | None

    def integrand(self, noise: Values) -> Array:
        """The moments given the noise of ``drawn``, (k + k + pairs, n).

        E[T - c] for each target, E[(T - c)^2] for each, E[(S - c)(T - d)] for each of ``pairs``.
        """
        world, count = SameUnits(self.world), len(self.targets)
        total: list[Array] = [np.asarray(0.0)] * (2 * count + len(self.pairs))
        for weight, values in branches(world, noise, {}, self.branched, self.only):
            parts = _centred(self, world, values, frozenset())
            total = [sum_ + weight * part for sum_, part in zip(total, parts, strict=True)]
        if self.covariance is not None:
            held = frozenset(self.held)
            base = world.run(noise, self.held, self.only | held)
            known = [np.zeros(1)] * count + [*np.diag(self.covariance)]
            known += [self.covariance[pair] for pair in self.pairs]
            control = _centred(self, world, base, held)
            total = [t - b + k for t, b, k in zip(total, control, known, strict=True)]
        return stack(total)


def moment_pairs(count: int) -> tuple[tuple[int, int], ...]:
    """The places of the first two of so many targets with each other and with each of the rest."""
    return tuple((i, j) for i in range(min(2, count)) for j in range(i + 1, count))


def plan_moments(world: World, targets: tuple[str, ...]) -> MomentPlan:
    """How the moments of ``targets``, and of the first two with each (``moment_pairs``), are to be
    integrated."""
    only = world.ancestors(targets)
    before = frozenset(
        (a, b) for a in targets for b in targets if a != b and a in world.ancestors((b,))
    )
    last = {t for t in targets if not any(a == t for a, _ in before)}
    branched = branched_nodes(world, only - last)
    held = {v: 0.5 for v in world.order if v in only and world.node(v).kind == "binary"}
    control = affine_moments(world, targets, held)
    return MomentPlan(
        world=world,
        targets=targets,
        pairs=moment_pairs(len(targets)),
        only=only - last,
        before=before,
        branched=branched,
        drawn=tuple(v for v in world.order if v in only - last and v not in branched),
        held=held,
        centre=np.zeros(len(targets)) if control is None else control[0],
        covariance=None if control is None else control[1],
    )


def _centred(plan: MomentPlan, world: World, values: Values, held: frozenset[str]) -> list[Array]:
    """The moments given the noise, over the own noise of every target where it is free.

    Each target contributes its conditional mean and variance given its parents, which is right as
    long as its partner in a product does not depend on its own noise; a target that comes before
    its partner contributes its value instead. Nodes in ``held`` are constants.
    """
    means: dict[str, Array] = {}
    second: list[Array] = []
    for target, centre in zip(plan.targets, plan.centre, strict=True):
        constant = target in held
        mean = values[target] if constant else world.conditional_mean(target, values)
        spread = np.asarray(0.0) if constant else world.conditional_variance(target, values)
        means[target] = mean - centre
        second.append(means[target] ** 2 + spread)
    products = []
    for i, j in plan.pairs:
        a, b = plan.targets[i], plan.targets[j]
        left = values[a] - plan.centre[i] if (a, b) in plan.before else means[a]
        right = values[b] - plan.centre[j] if (b, a) in plan.before else means[b]
        products.append(left * right)
    return [*means.values(), *second, *products]
