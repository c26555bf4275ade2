"""Draw measurement bundles: noisy columns in place of a variable, with enough information in them.

A measurement depends on one concept alone: continuous ones are h(z) + noise, binary ones Bernoulli
with probability p(z) (paper 3.2). Its information about z is known in closed form: h'(z)^2 over the
noise variance at z, and p'(z)^2 / (p (1 - p)) (paper A.6; for noise that is not Gaussian the first
is a lower bound of the Fisher information). The information of a bundle is the sum. For a binary
concept it is one number: the sum of squared standardised mean differences (continuous measurements)
and of mutual informations in nats (binary ones).

Everything is on the concept's own scale, z = (value - mean) / sd of the population.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np

from builder.equations.equation import Array, Parameters, Parent, round_parameters, summary
from builder.equations.mechanisms import MECHANISMS, PLAIN_NOISES
from builder.equations.noise import Noise, Spread, draw_noise_law
from builder.tracks.causalds.design.scene_plan import View

GRID_POINTS: Final = 513
OUTCOME_FACTOR: Final = 1.75
"""Factor by which the thresholds are stricter for a measured outcome."""

MAX_DRAWS: Final = 60
_MARGIN: Final = 1.03
"""Accepted bundles exceed each threshold by this factor, which covers the gaps of the grid."""

_CONTINUOUS_SHARE: Final = {"continuous": 0.75, "binary": 0.4}
_SHIFT: Final = 1.5


class NoBundle(Exception):
    """Raised when no drawn bundle is informative enough."""


@dataclass(frozen=True, slots=True)
class MeasuredConcept(Parent):
    """A variable to be measured, with its (least, greatest) value as ``support``."""

    support: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def seen_in(cls, sample: Array) -> "MeasuredConcept":
        """Return the variable with mean, sd, kind and range of a sample (n,) of its population."""
        seen, ends = Parent.seen_in(sample), (float(sample.min()), float(sample.max()))
        return cls(seen.mean, seen.sd, seen.binary, (summary(ends[0]), summary(ends[1])))


@dataclass(frozen=True, slots=True)
class Measurement:
    """A column's equation: a mechanism of the concept alone, and its noise, None if binary."""

    mechanism: str
    parameters: Parameters
    noise: Noise | None

    @property
    def kind(self) -> str:
        """The kind of the column, ``continuous`` or ``binary``."""
        return MECHANISMS[self.mechanism].kind

    def mean(self, values: Array) -> Array:
        """Return the column's mean, a probability if binary, at concept values (n,), as (n,)."""
        return np.asarray(MECHANISMS[self.mechanism].mean(self.parameters, [values]))

    def scale(self, values: Array) -> Array:
        """Return a continuous column's noise scale at concept values (n,), as (n,)."""
        assert self.noise is not None
        return np.broadcast_to(self.noise.scale_at([values]), values.shape)

    def draw(self, rng: np.random.Generator, values: Array) -> Array:
        """Return one random measurement of every unit, given its concept values (n,), as (n,)."""
        if self.noise is None:
            return (rng.random(len(values)) < self.mean(values)).astype(np.float64)
        return self.mean(values) + self.scale(values) * self.noise.draw(rng, len(values))

    def information(self, values: Array) -> Array:
        """Return information about a continuous concept at values (n,), per unit squared, (n,)."""
        slope = MECHANISMS[self.mechanism].slope
        assert slope is not None
        steep = slope(self.parameters, values)
        if self.noise is None:
            p = self.mean(values)
            spread = p * (1.0 - p)
            # Where the probability is 0 or 1 to the last digit, it says nothing of the place.
            return np.divide(steep**2, spread, out=np.zeros_like(spread), where=spread > 0.0)
        return np.asarray((steep / self.scale(values)) ** 2)

    def separation(self, prevalence: float) -> float:
        """Return the information about a binary concept with a share of ones: squared standardised
        mean difference (continuous), or mutual information in nats (binary)."""
        ends = np.array([0.0, 1.0])
        low, high = self.mean(ends)
        if self.noise is None:
            p = (1.0 - prevalence) * low + prevalence * high
            parts = (1.0 - prevalence) * _entropy(low) + prevalence * _entropy(high)
            return float(_entropy(p) - parts)
        variance = self.scale(ends) ** 2
        pooled = (1.0 - prevalence) * variance[0] + prevalence * variance[1]
        return float((high - low) ** 2 / pooled)

    def to_json(self) -> dict[str, object]:
        """Return the measurement as plain JSON values, for the world row."""
        noise = self.noise and self.noise.to_json()
        return {"mechanism": self.mechanism, "parameters": dict(self.parameters), "noise": noise}


@dataclass(frozen=True, slots=True)
class Bundle:
    """The measurements of one concept, with the ``summary`` (least, mean, q10, q25) of their summed
    information over its ``support`` (least, greatest value), per squared sd of the concept, of a
    binary one four times one number; and as ``draws`` the number of bundles drawn until this."""

    measurements: tuple[Measurement, ...]
    summary: Mapping[str, float]
    support: tuple[float, float]
    draws: int


def draw_bundle(
    rng: np.random.Generator,
    concept: MeasuredConcept,
    view: View,
    *,
    outcome: bool = False,
    squares: bool = False,
) -> Bundle:
    """Return a bundle that meets the view's thresholds, redrawn as a whole until one does. Its size
    is drawn once. ``outcome`` applies stricter thresholds, ``squares`` allows a square. Raises
    :class:`NoBundle` after ``MAX_DRAWS`` draws."""
    needed = view.thresholds.times(OUTCOME_FACTOR if outcome else 1.0)
    count = int(rng.integers(view.columns[0], view.columns[1] + 1))
    grid = np.linspace(*concept.support, GRID_POINTS)
    for draws in range(1, MAX_DRAWS + 1):
        measurements = tuple(_draw_measurement(rng, concept, view, squares) for _ in range(count))
        if concept.binary:
            total = math.fsum(one.separation(concept.mean) for one in measurements)
            least = mean = q10 = q25 = total
        else:
            at = np.sum([one.information(grid) for one in measurements], axis=0) * concept.sd**2
            least, mean = float(at.min()), float(at.mean())
            q10, q25 = np.quantile(at, (0.1, 0.25)).tolist()
        found = {"least": least, "mean": mean, "q10": q10, "q25": q25}
        if all(found[key] >= _MARGIN * value for key, value in asdict(needed).items()):
            return Bundle(measurements, found, concept.support, draws)
    raise NoBundle(f"no bundle of {count} columns is informative enough")


def _draw_measurement(
    rng: np.random.Generator, concept: MeasuredConcept, view: View, squares: bool
) -> Measurement:
    """Return a random Bernoulli, neural or handcrafted measurement, by the view's shares."""
    kind = "binary" if concept.binary else "continuous"
    own_scale = {"centres": (concept.mean,), "scales": (concept.sd,)}
    if rng.random() >= _CONTINUOUS_SHARE[kind]:
        logistic = MECHANISMS["shifted_logistic"].draw(rng, [concept])
        return Measurement("shifted_logistic", round_parameters({**logistic, **own_scale}), None)
    if rng.random() < view.neural:
        drawn = MECHANISMS["neural"].draw(rng, [Parent(0.0, 1.0)])
        mechanism, parameters = "neural", {**drawn, **own_scale}
    else:
        drawn = MECHANISMS["handcrafted"].draw(rng, [concept])
        curvature: dict[str, float | tuple[float, ...]] = {
            "shifts": (float(rng.uniform(-_SHIFT, _SHIFT)),)
        }
        if squares:
            curvature["squares"] = (float(rng.choice((-1.0, 1.0)) * rng.normal(0.1, 0.05)),)
        mechanism, parameters = "handcrafted", {**drawn, **own_scale, **curvature}
    return Measurement(
        mechanism,
        round_parameters(parameters),
        _draw_noise(rng, concept, view).rounded_parameters(),
    )


def _draw_noise(rng: np.random.Generator, concept: MeasuredConcept, view: View) -> Noise:
    """Return random noise on the view's scale (in sds of the concept), constant or varying."""
    scale = float(rng.uniform(*view.noise))
    families = ("gaussian_mixture",) if rng.random() < view.mixture else PLAIN_NOISES
    law = draw_noise_law(rng, families, scale)
    if rng.random() >= view.heteroscedastic:
        return law
    weight = float(rng.normal(0.0, 0.5)) / concept.sd
    bias = float(rng.normal(0.0, 0.3)) - weight * concept.mean
    return replace(law, spread=Spread((weight,), bias, *view.spread))


def _entropy(p: float) -> float:
    return -sum(q * math.log(q) for q in (p, 1.0 - p) if q > 0.0)
