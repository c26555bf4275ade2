"""Quantile functions by cubics in the normal score, a tenth of the work of inverting a distribution
function for every number.

As a function of the normal score z of a uniform, z = Phi^-1(u), the quantile of a smooth law with
not too heavy tails is nearly a line. It is held at nodes, together with its slope, and between them
it is Hermite's cubic.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from builder.scm.elementary import exp
from builder.scm.equation import Array

_STEPS: Final = 64
"""Nodes in one unit of the score. Cubics are then off by some 1e-9 of a standard deviation, of
mixtures as they are drawn by at most some 1e-6, in the trough between modes that are far apart."""

REACHED: Final = 6.5
"""Scores up to this have nodes; uniforms of 30 bits have none beyond 6.3."""

SCORES: Final = np.arange(-int(REACHED * _STEPS), int(REACHED * _STEPS) + 1) / _STEPS
"""The nodes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The cubics between neighbouring nodes: terms from the highest power down, each (nodes - 1,);
    and the slopes at both ends, for scores beyond."""

    terms: tuple[Array, Array, Array, Array]
    ends: tuple[float, float]


def curve(quantiles: Array, densities: Array) -> Curve:
    """The quantile function of a law, from its quantiles at ``SCORES`` and its densities there."""
    slopes = exp(-0.5 * SCORES * SCORES) / math.sqrt(2.0 * math.pi) / densities
    first, last, rise = slopes[:-1] / _STEPS, slopes[1:] / _STEPS, np.diff(quantiles)
    terms = first + last - 2.0 * rise, 3.0 * rise - 2.0 * first - last, first, quantiles[:-1]
    return Curve(terms, (float(slopes[0]), float(slopes[-1])))


def quantile(law: Curve, u: Array) -> tuple[Array, Array]:
    """The quantiles at uniforms in [0, 1], and which of them lie beyond the nodes, on a line."""
    score = special.ndtri(u)
    inside = np.minimum(np.maximum(score, -REACHED), REACHED)
    place = (inside + REACHED) * _STEPS
    left = np.minimum(place, len(SCORES) - 2.0).astype(np.int64)
    place = place - left
    value, *lower = (term[left] for term in law.terms)
    for term in lower:
        value = value * place + term
    beyond = np.asarray(score != inside)
    if beyond.any():
        value = value + np.where(beyond, (score - inside) * np.where(score < 0.0, *law.ends), 0.0)
    return np.asarray(value), beyond
