"""The types and helpers that all mechanism families share.

A mechanism maps the values of a node's parents to its conditional mean: the location of a
continuous variable (to which noise is added), the probability of a binary one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Kind = Literal["continuous", "binary"]
Parameters = Mapping[str, float | tuple[float, ...]]
"""Named parameters of one mechanism. Never mutated."""

PARAMETER_DIGITS: Final = 9
"""Significant digits of every parameter of a world: what is written is what is computed with."""

SUMMARY_DIGITS: Final = 6
"""Significant digits of sample numbers (means, norms) that parameters may depend on. Their last
bits depend on the processor, these digits but once in 1e10 numbers."""

LOCATION_LIMIT: Final = 8.0
"""Curved continuous means are cut off at plus and minus this. Lines are not: cut off they would be
none, and their tails are those of their parents."""


@dataclass(frozen=True, slots=True)
class Parent:
    """What the drawing of a mechanism needs to know of one parent: population mean, sd and kind."""

    mean: float
    sd: float
    binary: bool = False

    @classmethod
    def seen_in(cls, sample: Array) -> "Parent":
        """Return a sample's (n,) mean and sd; binary if all of it is 0 or 1."""
        return cls(
            summary(float(sample.mean())),
            summary(float(sample.std())),
            bool(np.all((sample == 0.0) | (sample == 1.0))),
        )


@dataclass(frozen=True, slots=True)
class Affine:
    """The equation ``bias + sum(weight * parent)``, weights in the order of the parents."""

    weights: tuple[float, ...]
    bias: float


@dataclass(frozen=True, slots=True)
class MechanismFamily:
    """One family of structural equations: a draw of parameters, and the conditional mean for
    columns of shape (n,), one per parent (a scalar without parents). ``affine`` gives the same
    equation in affine form, for families that have one, ``slope`` the derivative of the mean in the
    only parent, shape (n,) and 0 where cut off, for families that serve as measurements."""

    kind: Kind
    draw: Callable[[np.random.Generator, Sequence[Parent]], Parameters]
    mean: Callable[[Parameters, Sequence[Array]], Array]
    affine: Callable[[Parameters], Affine] | None = None
    slope: Callable[[Parameters, Array], Array] | None = None


def scalar(parameters: Parameters, key: str) -> float:
    """Return the parameter ``key``, which is one number."""
    value = parameters[key]
    assert not isinstance(value, tuple)
    return value


def vector(parameters: Parameters, key: str) -> tuple[float, ...]:
    """Return the parameter ``key``, and assert that it is a tuple (of numbers)."""
    value = parameters[key]
    assert isinstance(value, tuple)
    return value


def draw_signed(rng: np.random.Generator, count: int, location: float, spread: float) -> Array:
    """Return ``count`` draws of N(±location, spread), each sign as likely as the other."""
    return rng.choice((-1.0, 1.0), count) * rng.normal(location, spread, count)


def per_parent_sd(weights: Array, parents: Sequence[Parent]) -> tuple[float, ...]:
    """Return weights of raw values: each over its parent's sd, where that exceeds one."""
    return tuple(float(w) / max(1.0, p.sd) for w, p in zip(weights, parents, strict=True))


def floats(values: npt.ArrayLike) -> tuple[float, ...]:
    """Return plain floats, as parameters hold them."""
    return tuple(np.asarray(values, dtype=np.float64).tolist())


def significant(value: float, digits: int) -> float:
    """Return ``value`` rounded to ``digits`` significant decimal digits. -0 becomes 0."""
    return float(f"{value:.{digits}g}") + 0.0


def summary(value: float) -> float:
    """Return a sample's number to ``SUMMARY_DIGITS`` digits, for parameters to depend on."""
    return significant(value, SUMMARY_DIGITS)


def round_parameters(parameters: Parameters) -> Parameters:
    """Return the parameters to ``PARAMETER_DIGITS`` significant digits, as a world holds them."""
    rounded = partial(significant, digits=PARAMETER_DIGITS)
    return {
        key: tuple(map(rounded, value)) if isinstance(value, tuple) else rounded(value)
        for key, value in parameters.items()
    }


def input_scales(parents: Sequence[Parent]) -> dict[str, tuple[float, ...]]:
    """Return ``standardise``'s parameters: each parent's mean, and its sd or, if larger, 1."""
    return {
        "centres": tuple(p.mean for p in parents),
        "scales": tuple(max(1.0, p.sd) for p in parents),
    }


def standardise(parameters: Parameters, columns: Sequence[Array]) -> list[Array]:
    """Return each parent's column as (column - centre) / scale, by ``parameters``."""
    shifts = zip(vector(parameters, "centres"), vector(parameters, "scales"), strict=True)
    return [(c - centre) / scale for c, (centre, scale) in zip(columns, shifts, strict=True)]


def cut_off(location: Array) -> Array:
    """Return the location with values beyond ``±LOCATION_LIMIT`` set to that limit."""
    return np.clip(location, -LOCATION_LIMIT, LOCATION_LIMIT)
