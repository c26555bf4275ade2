"""Structural equations: what a variable is on average, given its direct causes.

A mechanism maps the values of a node's parents to its conditional mean: the location of a
continuous variable (to which noise is added), the probability of a binary one. Each profile is two
functions (draw parameters; evaluate) and one row of ``MECHANISMS``; a row that is affine in the
parents also says so, which opens the closed forms of ``builder.scm.affine``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

Array = npt.NDArray[np.float64]
Kind = Literal["continuous", "binary"]
Parameters = Mapping[str, float | tuple[float, ...]]
"""Named parameters of one mechanism; tuples run over the node's parents. Never mutated."""


@dataclass(frozen=True, slots=True)
class Parent:
    """What the drawing of a mechanism knows about one parent: its population mean and sd."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class Affine:
    """The equation ``bias + sum(weight * parent)``."""

    weights: tuple[float, ...]
    bias: float


@dataclass(frozen=True, slots=True)
class MechanismFamily:
    """One mechanism profile.

    ``draw(rng, parents)`` draws parameters. ``mean(parameters, columns)`` evaluates the conditional
    mean for columns of shape (n,), one per parent; without parents it returns a scalar.
    ``affine(parameters)`` is the same equation in affine form, for families that have one.
    """

    kind: Kind
    draw: Callable[[np.random.Generator, Sequence[Parent]], Parameters]
    mean: Callable[[Parameters, Sequence[Array]], Array]
    affine: Callable[[Parameters], Affine] | None = None


def _weights(
    rng: np.random.Generator, parents: Sequence[Parent], location: float, spread: float
) -> tuple[float, ...]:
    """Weights N(±location, spread), per unit of a parent or per sd where its sd exceeds one.

    The division keeps scales from growing along long chains.
    """
    signs = rng.choice((-1.0, 1.0), len(parents))
    raw = signs * rng.normal(location, spread, len(parents))
    return tuple(float(w) / max(1.0, p.sd) for w, p in zip(raw, parents, strict=True))


def _as_affine(parameters: Parameters) -> Affine:
    weights, bias = parameters["weights"], parameters["bias"]
    assert isinstance(weights, tuple) and isinstance(bias, float)
    return Affine(weights, bias)


def _predictor(parameters: Parameters, columns: Sequence[Array]) -> Array:
    form = _as_affine(parameters)
    total = np.asarray(form.bias)
    for weight, column in zip(form.weights, columns, strict=True):
        total = total + weight * column
    return total


def _draw_linear(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """CausalDS linear_additive: weights N(±0.8, 0.4), bias N(0, 0.5); a root is its noise."""
    weights = _weights(rng, parents, 0.8, 0.4)
    return {"weights": weights, "bias": float(rng.normal(0.0, 0.5)) if parents else 0.0}


def _draw_logistic(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """CausalDS logistic: weights N(±1, 0.6), bias N(0, 0.7) at the parents' means.

    A root's probability is U(0.25, 0.75).
    """
    if not parents:
        return {"weights": (), "bias": float(special.logit(rng.uniform(0.25, 0.75)))}
    weights = _weights(rng, parents, 1.0, 0.6)
    centre = math.fsum(w * p.mean for w, p in zip(weights, parents, strict=True))
    return {"weights": weights, "bias": float(rng.normal(0.0, 0.7)) - centre}


def _logistic_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    return np.asarray(special.expit(_predictor(parameters, columns)))


MECHANISMS: Final[Mapping[str, MechanismFamily]] = {
    "linear_additive": MechanismFamily("continuous", _draw_linear, _predictor, _as_affine),
    "logistic": MechanismFamily("binary", _draw_logistic, _logistic_mean),
}
