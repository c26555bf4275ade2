"""Numeric truths derived a second way: plain Monte Carlo on the published world.

The world is read from its JSON by an evaluator of its own, with SciPy's distributions for the
noise; nothing is shared with ``builder.scm`` but the meaning of the JSON. Effects are averages of
simulated unit differences, the effect on the treated over simulated treated units (binary
treatment) or density-weighted units (continuous), correlations plain sample correlations.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]

DRAWS: Final = 65_536


class NotAuditable(Exception):
    """The world uses something that this second derivation does not know."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A Monte Carlo estimate and its standard error."""

    value: float
    se: float


@dataclass(frozen=True)
class Population:
    """Simulated units of one world, common to everything that is estimated from it.

    ``world`` is the parsed ``world`` member of ``world_json``. Raises :class:`NotAuditable` on
    first use of an unknown mechanism or noise family.
    """

    world: Mapping[str, Any]
    rng: np.random.Generator

    @cached_property
    def noise(self) -> dict[str, Array]:
        """One draw per unit and node: uniforms for binary nodes, scaled noise for the others."""
        return {
            node["name"]: (
                self.rng.random(DRAWS)
                if node["noise"] is None
                else node["noise"]["scale"] * _draw(node["noise"], self.rng)
            )
            for node in self.world["nodes"]
        }

    @cached_property
    def factual(self) -> dict[str, Array]:
        """The units as they are."""
        return self.run({})

    def run(self, do: Mapping[str, float]) -> dict[str, Array]:
        """The same units under an intervention."""
        values: dict[str, Array] = {}
        waiting = list(self.world["nodes"])
        while waiting:
            node = next(n for n in waiting if all(p in values for p in n["parents"]))
            waiting.remove(node)
            name = node["name"]
            if name in do:
                values[name] = np.full(DRAWS, do[name])
            elif node["noise"] is None:
                values[name] = (self.noise[name] < _mean(node, values)).astype(np.float64)
            else:
                values[name] = _mean(node, values) + self.noise[name]
        return values

    def correlation(self, x: str, y: str) -> Estimate:
        """Pearson correlation, with the error of its influence function."""
        zx, zy = (stats.zscore(self.factual[v]) for v in (x, y))
        r = float(np.mean(zx * zy))
        influence = zx * zy - 0.5 * r * (zx**2 + zy**2)
        return Estimate(r, float(influence.std()) / math.sqrt(DRAWS))

    def differences(self, x: str, y: str, levels: tuple[float, float]) -> Array:
        """Y(x1) - Y(x0) of every unit."""
        return self.run({x: levels[1]})[y] - self.run({x: levels[0]})[y]

    def ate(self, x: str, y: str, levels: tuple[float, float]) -> Estimate:
        """The average difference."""
        return _weighted_mean(self.differences(x, y, levels), np.ones(DRAWS))

    def ett(self, x: str, y: str, levels: tuple[float, float]) -> Estimate:
        """The average difference among those with X = x1."""
        node = next(n for n in self.world["nodes"] if n["name"] == x)
        if node["noise"] is None:
            weights = (self.factual[x] == levels[1]).astype(np.float64)
        else:
            scale = node["noise"]["scale"]
            gap = (levels[1] - _mean(node, self.factual)) / scale
            weights = np.broadcast_to(_law(node["noise"]).pdf(gap), DRAWS)
        return _weighted_mean(self.differences(x, y, levels), weights)

    def share_below(self, x: str, level: float) -> Estimate:
        """P(X <= level)."""
        share = float(np.mean(self.factual[x] <= level))
        return Estimate(share, math.sqrt(share * (1 - share) / DRAWS))


def _weighted_mean(values: Array, weights: Array) -> Estimate:
    mass = float(weights.sum())
    mean = float((weights * values).sum()) / mass
    return Estimate(mean, float(np.sqrt((weights**2 * (values - mean) ** 2).sum())) / mass)


def _linear_predictor(node: Mapping[str, Any], values: Mapping[str, Array]) -> Array:
    total = np.full(DRAWS, float(node["parameters"]["bias"]))
    for parent, weight in zip(node["parents"], node["parameters"]["weights"], strict=True):
        total += weight * values[parent]
    return total


def _logistic(node: Mapping[str, Any], values: Mapping[str, Array]) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-_linear_predictor(node, values))))


_MECHANISMS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Array]], Array]]] = {
    "linear_additive": _linear_predictor,
    "logistic": _logistic,
}


def _mean(node: Mapping[str, Any], values: Mapping[str, Array]) -> Array:
    if node["mechanism"] not in _MECHANISMS:
        raise NotAuditable(f"mechanism {node['mechanism']} of node {node['name']}")
    return _MECHANISMS[node["mechanism"]](node, values)


class _Mixture:
    """Equally likely unit-variance-total Gaussian components with the given means."""

    def __init__(self, means: list[float]) -> None:
        self._means = np.asarray(means)
        self._sd = math.sqrt(1.0 - float(np.mean(self._means**2)))

    def rvs(self, size: int, random_state: np.random.Generator) -> Array:
        chosen = random_state.choice(self._means, size)
        return chosen + stats.norm.rvs(scale=self._sd, size=size, random_state=random_state)

    def pdf(self, e: Array) -> Array:
        return np.asarray(
            np.mean([stats.norm.pdf(e, loc=m, scale=self._sd) for m in self._means], axis=0)
        )


def _law(noise: Mapping[str, Any]) -> Any:
    """The standardised law (mean 0, sd 1) with ``rvs`` and ``pdf``."""
    family, shape = noise["family"], noise["shape"]
    if family == "gauss":
        return stats.norm()
    if family == "laplace":
        return stats.laplace(scale=math.sqrt(0.5))
    if family == "student_t":
        return stats.t(shape[0], scale=math.sqrt((shape[0] - 2) / shape[0]))
    if family == "gaussian_mixture":
        return _Mixture(shape)
    raise NotAuditable(f"noise family {family}")


def _draw(noise: Mapping[str, Any], rng: np.random.Generator) -> Array:
    return np.asarray(_law(noise).rvs(size=DRAWS, random_state=rng))
