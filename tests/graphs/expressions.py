"""Expressions in the observed distribution: what an identified effect is made of.

An expression is a function of the levels of its free variables, evaluated on a joint distribution
held as a dense array with one axis per variable. Every step keeps all axes (length 1 where a
variable is not involved), so products broadcast and a bound variable can never be mistaken for a
free one of the same name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Level = Literal["x0", "x1"]


@dataclass(frozen=True, slots=True)
class Probability:
    """P(targets | given) in the observed distribution."""

    targets: tuple[str, ...]
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Product:
    """The product of its factors; 1 when there are none."""

    factors: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of `body` over all levels of the variables `over`."""

    over: tuple[str, ...]
    body: "Expression"


@dataclass(frozen=True, slots=True)
class Ratio:
    """The quotient of two expressions."""

    numerator: "Expression"
    denominator: "Expression"


@dataclass(frozen=True, slots=True)
class Fixed:
    """`body` with its free variable `variable` set to one of the two contrast levels."""

    variable: str
    level: Level
    body: "Expression"


Expression = Probability | Product | Sum | Ratio | Fixed


def product(factors: Sequence[Expression]) -> Expression:
    """Multiply, leaving a single factor as it is."""
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def total(over: Sequence[str], body: Expression) -> Expression:
    """Sum, leaving the body as it is when there is nothing to sum over."""
    return Sum(tuple(over), body) if over else body


def free_variables(expression: Expression) -> frozenset[str]:
    """Return the variables whose level the value of the expression depends on."""
    match expression:
        case Probability(targets, given):
            return frozenset(targets + given)
        case Product(factors):
            return frozenset().union(*map(free_variables, factors))
        case Sum(over, body):
            return free_variables(body) - frozenset(over)
        case Ratio(numerator, denominator):
            return free_variables(numerator) | free_variables(denominator)
        case Fixed(variable, _, body):
            return free_variables(body) - {variable}


def evaluate(
    expression: Expression, joint: Array, axes: Mapping[str, int], levels: Mapping[Level, int]
) -> Array:
    """Return the expression's value for every level of its free variables.

    `joint` has shape (k_1, ..., k_n); `axes` maps a variable to its axis and `levels` the two
    contrast levels to indices of the treatment's axis. The result has n axes, of length 1 for
    variables that are not free (or not involved). Conditioning on an event of probability zero
    gives NaN there.
    """

    def value(e: Expression) -> Array:
        match e:
            case Probability(targets, given):
                numerator = _marginal(joint, axes, targets + given)
                if not given:
                    return numerator
                return _divide(numerator, _marginal(joint, axes, given))
            case Product(factors):
                result: Array = np.ones((1,) * joint.ndim)
                for factor in factors:
                    result = result * value(factor)
                return result
            case Sum(over, body):
                inner = value(body)
                missing = [v for v in over if inner.shape[axes[v]] == 1]
                repeats = int(np.prod([joint.shape[axes[v]] for v in missing], dtype=np.int64))
                summed: Array = inner.sum(axis=tuple(axes[v] for v in over), keepdims=True)
                return summed * repeats
            case Ratio(numerator_, denominator):
                return _divide(value(numerator_), value(denominator))
            case Fixed(variable, level, body):
                inner, axis = value(body), axes[variable]
                if inner.shape[axis] == 1:
                    return inner
                return inner.take([levels[level]], axis=axis)

    return value(expression)


def _marginal(joint: Array, axes: Mapping[str, int], keep: Sequence[str]) -> Array:
    kept = {axes[v] for v in keep}
    drop = tuple(axis for axis in range(joint.ndim) if axis not in kept)
    summed: Array = joint.sum(axis=drop, keepdims=True)
    return summed


def _divide(numerator: Array, denominator: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Array = np.where(denominator > 0, numerator / denominator, np.nan)
    return quotient
