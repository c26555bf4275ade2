"""The types and helpers that all mechanism families share.

A mechanism maps the values of a node's parents to its conditional mean: the location of a
continuous variable (to which noise is added), the probability of a binary one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Kind = Literal["continuous", "binary"]
Parameters = Mapping[str, Any]
"""Named parameters of one mechanism: numbers, and tuples of numbers. Never mutated."""

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


Draw = Callable[[np.random.Generator, Sequence[Parent]], Parameters]
"""Draws the parameters of a mechanism of these parents."""


@dataclass(frozen=True, slots=True)
class MechanismFamily:
    """One family of structural equations: a draw of parameters, and the conditional mean for
    columns of shape (n,), one per parent (a scalar without parents). An ``affine`` mean is
    ``bias + sum(weights * parents)``. ``slope`` gives the derivative of the mean in the only
    parent, shape (n,) and 0 where cut off, for families that serve as measurements."""

    kind: Kind
    draw: Draw
    mean: Callable[[Parameters, Sequence[Array]], Array]
    affine: bool = False
    slope: Callable[[Parameters, Array], Array] | None = None


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
    """Return a sample's mean or norm to six digits: its last bits depend on the processor."""
    return significant(value, 6)


def round_parameter(value: Any) -> Any:
    """Return a parameter, a number or a tuple, to nine significant digits, as a world holds it."""
    if isinstance(value, tuple):
        return tuple(map(round_parameter, value))
    return significant(value, 9)


def round_parameters(parameters: Parameters) -> Parameters:
    """Return the parameters, all numbers by :func:`round_parameter`."""
    return {key: round_parameter(value) for key, value in parameters.items()}


def input_scales(parents: Sequence[Parent]) -> Parameters:
    """Return ``standardise``'s parameters: each parent's mean, and its sd or, if larger, 1."""
    return {
        "centres": tuple(p.mean for p in parents),
        "scales": tuple(max(1.0, p.sd) for p in parents),
    }


Part = Callable[[np.random.Generator, int], Any]
"""Draws one parameter of a family, given the number of parents."""


def drawing(**parts: Part) -> Draw:
    """Return a draw of parameters: scales of the inputs, and ``parts``, drawn in their order."""

    def draw(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
        drawn = {key: part(rng, len(parents)) for key, part in parts.items()}
        return {**input_scales(parents), **drawn}

    return draw


def constant(value: float) -> Part:
    """Return a part that is this value for each parent."""
    return lambda _, count: (value,) * count


def signed_normal(location: float, spread: float) -> Part:
    """Return a part that draws N(±location, spread) for each parent."""
    return lambda rng, count: floats(draw_signed(rng, count, location, spread))


def strengths(low: float, high: float) -> Part:
    """Return a part that draws ±U(low, high) for each parent."""
    return lambda rng, count: floats(rng.choice((-1.0, 1.0), count) * rng.uniform(low, high, count))


def uniform(low: float, high: float) -> Part:
    """Return a part that draws U(low, high) for each parent."""
    return lambda rng, count: floats(rng.uniform(low, high, count))


def normal(spread: float) -> Part:
    """Return a part that draws one N(0, spread)."""
    return lambda rng, _: float(rng.normal(0.0, spread))


def standardise(parameters: Parameters, columns: Sequence[Array]) -> list[Array]:
    """Return each parent's column as (column - centre) / scale, by ``parameters``."""
    scales = zip(columns, parameters["centres"], parameters["scales"], strict=True)
    return [(column - centre) / scale for column, centre, scale in scales]


def cut_off(location: Array) -> Array:
    """Return the location with values beyond ``±LOCATION_LIMIT`` set to that limit."""
    return np.clip(location, -LOCATION_LIMIT, LOCATION_LIMIT)
