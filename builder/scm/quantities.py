"""Average effects of a world, each with its numerical error.

Zeros that follow from the graph are exactly zero, closed forms are used where they exist, and what
is left is integrated by randomised quasi-Monte Carlo with common noise across the two worlds.
Nothing is rounded here.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from builder.scm.affine import total_coefficient
from builder.scm.branches import branched_nodes, branches
from builder.scm.equation import Array
from builder.scm.rqmc import Estimate, delta_method, integrate, stack
from builder.scm.same_units import SameUnits
from builder.scm.world import Values, World

Source = Literal["structural_zero", "closed_form", "rqmc", "density_weighted_rqmc"]

EFFECT_BOUND: Final = 0.002
"""An effect tau is known to a standard error of EFFECT_BOUND * (1 + |tau|)."""

_WEIGHT_CV: Final = 0.05
"""Largest relative standard error of the denominator of a self-normalised estimate."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A population value, its standard error, the number of draws behind it and its source."""

    value: float
    se: float
    draws: int
    source: Source


STRUCTURAL_ZERO: Final = Quantity(0.0, 0.0, 0, "structural_zero")


def as_quantity(estimate: Estimate, source: Source) -> Quantity:
    """An estimate with its source; an estimate without draws is a closed form."""
    label: Source = source if estimate.draws else "closed_form"
    return Quantity(estimate.value, estimate.se, estimate.draws, label)


def average_treatment_effect(
    world: World,
    x: str,
    y: str,
    x0: float,
    x1: float,
    rng: np.random.Generator,
    bound: float = EFFECT_BOUND,
) -> Quantity:
    """The average treatment effect E[Y | do(X = x1)] - E[Y | do(X = x0)].

    Exactly 0 without a directed path. Closed form when everything after X on the directed paths to
    Y is affine: the effect is then (x1 - x0) times the total path coefficient for every unit.
    Otherwise integrated, both worlds on the same noise; the outcome contributes its conditional
    mean given its parents.

    Raises:
        ValueError: X and Y are the same node.
        BoundNotMet: the standard error exceeds bound * (1 + |ATE|) at the largest sample.
    """
    constant = _constant_effect(world, x, y, x0, x1)
    if constant is not None:
        return constant
    only = world.ancestors((y,), cut=(x,))
    return _integrated_effect(world, x, y, x0, x1, rng, bound, only, weighted=False)


def effect_on_treated(
    world: World,
    x: str,
    y: str,
    x0: float,
    x1: float,
    rng: np.random.Generator,
    bound: float = EFFECT_BOUND,
) -> Quantity:
    """The effect of treatment on the treated E[Y(x1) - Y(x0) | X = x1].

    Conditioning is exact: given all noise but X's own, X = x1 has probability P(X = x1 | parents)
    (binary X) or density f((x1 - mean(parents)) / scale) / scale (continuous X), f the density of
    X's noise. The effect is the mean of the unit effects weighted by it, over the mean weight.

    The estimate is self-normalised over all randomisations together, N/D. Its standard error is
    that of (N - ratio * D) / D. Its bias is -E[(N - ratio * D)(D - E D)] / (E D)^2 up to smaller
    terms, at most the standard error times the coefficient of variation of D (Cauchy-Schwarz);
    draws are doubled until the latter is below 0.05 too, so the bias is at most a twentieth of the
    standard error.

    Equal to the average effect, and computed as such, when the effect is the same for all units or
    no noise is shared by X and Y(x) (there is no back-door path).

    Raises:
        ValueError: X and Y are the same node, or X is binary and x1 neither 0 nor 1.
        BoundNotMet: the standard error exceeds bound * (1 + |ETT|) at the largest sample.
    """
    if world.node(x).kind == "binary" and x1 not in (0.0, 1.0):
        raise ValueError(f"{x}: a binary treatment is never {x1}")
    constant = _constant_effect(world, x, y, x0, x1)
    if constant is not None:
        return constant
    only = world.ancestors((y,), cut=(x,))
    causes = world.ancestors((x,))
    if only & causes == {x}:
        return _integrated_effect(world, x, y, x0, x1, rng, bound, only, weighted=False)
    return _integrated_effect(world, x, y, x0, x1, rng, bound, only | causes, weighted=True)


def check_pair(x: str, y: str) -> None:
    """Raise ValueError where treatment and outcome are the same node."""
    if x == y:
        raise ValueError(f"the two variables must differ; both are {x!r}")


def _constant_effect(world: World, x: str, y: str, x0: float, x1: float) -> Quantity | None:
    """The effect when it is zero by the graph, or the same for every unit."""
    check_pair(x, y)
    if x not in world.ancestors((y,)):
        return STRUCTURAL_ZERO
    coefficient = total_coefficient(world, x, y)
    if coefficient is None:
        return None
    return Quantity((x1 - x0) * coefficient, 0.0, 0, "closed_form")


def _integrated_effect(
    world: World,
    x: str,
    y: str,
    x0: float,
    x1: float,
    rng: np.random.Generator,
    bound: float,
    only: frozenset[str],
    *,
    weighted: bool,
) -> Quantity:
    """E[w (Y(x1) - Y(x0))] / E[w] over the noise of ``only``, w = 1 unless ``weighted``.

    Neither X's noise (X is set) nor Y's (its conditional mean is used) is ever drawn.
    """
    evaluated = only - {y}
    branched = branched_nodes(world, evaluated - {x})
    drawn = tuple(v for v in world.order if v in evaluated and v != x and v not in branched)

    def integrand(noise: Values) -> Array:
        effect, mass = np.asarray(0.0), np.asarray(0.0)
        units = SameUnits(world)
        for value, sign in ((x1, 1.0), (x0, -1.0)):
            for weight, values in branches(units, noise, {x: value}, branched, evaluated):
                if weighted:
                    weight = weight * units.conditional_density(x, x1, values)
                effect = effect + sign * weight * units.conditional_mean(y, values)
                mass = mass + 0.5 * weight  # the parents of X are alike in the two worlds
        return stack([effect, mass])

    question = f"effect of {x} on {y}" + (f" given {x} = {x1}" if weighted else "")
    estimate = integrate(
        world, drawn, integrand, _ratio, lambda tau: bound * (1.0 + abs(tau)), rng, question
    )
    continuous = world.node(x).kind == "continuous"
    return as_quantity(estimate, "density_weighted_rqmc" if weighted and continuous else "rqmc")


def _ratio(means: Array) -> tuple[float, float]:
    """Ratio of the pooled means and its standard error, infinite while the mass is unsettled."""
    numerator, mass = means.mean(axis=0)
    if mass <= 0.0:
        return 0.0, float("inf")
    value = float(numerator / mass)
    if delta_method(means, np.array([0.0, 1.0 / mass])) > _WEIGHT_CV:
        return value, float("inf")
    return value, delta_method(means, np.array([1.0 / mass, -value / mass]))
