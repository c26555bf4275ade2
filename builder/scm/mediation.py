"""Natural direct and indirect effects (Pearl 2001; paper 3.4, prompts of A.16.2).

For the contrast x0 -> x1, with M all nodes inside directed paths from X to Y, latent ones included,

    NDE = E[Y(x1, M(x0)) - Y(x0, M(x0))]        NIE = E[Y(x0, M(x1)) - Y(x0, M(x0))]

Both are differences from the world under x0, positive where moving X from x0 to x1 raises Y. What
the parents of Y are besides X and M does not depend on X, so the crossed world's outcome is Y's own
equation at one level of X and the parents' values under the other.
"""

import numpy as np

from builder.scm.affine import total_coefficient
from builder.scm.branches import branched_nodes, branches
from builder.scm.equation import Array
from builder.scm.quantities import (
    EFFECT_BOUND,
    STRUCTURAL_ZERO,
    Quantity,
    as_quantity,
    average_treatment_effect,
    check_pair,
)
from builder.scm.rqmc import delta_method, integrate
from builder.scm.same_units import SameUnits
from builder.scm.world import Values, World


def natural_direct_effect(
    world: World,
    x: str,
    y: str,
    x0: float,
    x1: float,
    rng: np.random.Generator,
    bound: float = EFFECT_BOUND,
) -> Quantity:
    """The natural direct effect E[Y(x1, M(x0)) - Y(x0, M(x0))].

    Exactly 0 without an edge X -> Y; the average effect without mediators. Closed form when Y is
    affine in its parents, whatever comes before: (x1 - x0) times X's weight. Otherwise integrated
    over the world under x0, Y contributing its conditional mean at either level.

    Raises:
        ValueError: X and Y are the same node.
        BoundNotMet: the standard error exceeds bound * (1 + |NDE|) at the largest sample.
    """
    check_pair(x, y)
    if x not in world.node(y).parents:
        return STRUCTURAL_ZERO
    if not world.graph.mediators(x, y):
        return average_treatment_effect(world, x, y, x0, x1, rng, bound)
    direct = _direct_weight(world, x, y)
    if direct is not None:
        return Quantity((x1 - x0) * direct, 0.0, 0, "closed_form")
    return _crossed(world, x, y, ((x1, x0, 1.0), (x0, x0, -1.0)), rng, bound, "direct effect")


def natural_indirect_effect(
    world: World,
    x: str,
    y: str,
    x0: float,
    x1: float,
    rng: np.random.Generator,
    bound: float = EFFECT_BOUND,
) -> Quantity:
    """The natural indirect effect E[Y(x0, M(x1)) - Y(x0, M(x0))].

    Exactly 0 without mediators; the average effect without an edge X -> Y. Closed form when Y and
    everything between X and Y is affine: (x1 - x0) times the sum over the indirect paths of the
    products of their coefficients. Otherwise integrated, both worlds on the same noise.

    Raises:
        ValueError: X and Y are the same node.
        BoundNotMet: the standard error exceeds bound * (1 + |NIE|) at the largest sample.
    """
    check_pair(x, y)
    if not world.graph.mediators(x, y):
        return STRUCTURAL_ZERO
    if x not in world.node(y).parents:
        return average_treatment_effect(world, x, y, x0, x1, rng, bound)
    direct, whole = _direct_weight(world, x, y), total_coefficient(world, x, y)
    if direct is not None and whole is not None:
        return Quantity((x1 - x0) * (whole - direct), 0.0, 0, "closed_form")
    return _crossed(world, x, y, ((x0, x1, 1.0), (x0, x0, -1.0)), rng, bound, "indirect effect")


def _direct_weight(world: World, x: str, y: str) -> float | None:
    """The weight of X in Y's equation, None unless that is affine."""
    node = world.node(y)
    form = node.affine
    return None if form is None else dict(zip(node.parents, form.weights, strict=True))[x]


Term = tuple[float, float, float]
"""(level that Y sees, level that the mediators see, sign)."""


def _crossed(
    world: World,
    x: str,
    y: str,
    terms: tuple[Term, ...],
    rng: np.random.Generator,
    bound: float,
    question: str,
) -> Quantity:
    """The signed sum of E[Y(level, M(other level))], all on the same noise."""
    evaluated = world.ancestors((y,), cut=(x,)) - {y}
    branched = branched_nodes(world, evaluated - {x})
    drawn = tuple(v for v in world.order if v in evaluated and v != x and v not in branched)

    def integrand(noise: Values) -> Array:
        total, units = np.asarray(0.0), SameUnits(world)
        for level in dict.fromkeys(behind for _, behind, _ in terms):
            for weight, values in branches(units, noise, {x: level}, branched, evaluated):
                for seen, behind, sign in terms:
                    if behind == level:
                        parents = {**values, x: np.full_like(values[x], seen)}
                        total = total + sign * weight * units.conditional_mean(y, parents)
        return np.atleast_2d(total)

    estimate = integrate(
        world,
        drawn,
        integrand,
        lambda means: (float(means[:, 0].mean()), delta_method(means, np.ones(1))),
        lambda tau: bound * (1.0 + abs(tau)),
        rng,
        f"{question} of {x} on {y}",
    )
    return as_quantity(estimate, "rqmc")
