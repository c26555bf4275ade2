"""Numeric truths derived a second way: plain Monte Carlo on the published world.

The world is read from its JSON by an evaluator of its own, with SciPy's distributions for the
noise; nothing is shared with ``builder.scm`` but the meaning of the JSON. Effects are averages of
simulated unit differences, the effect on the treated over simulated treated units (binary
treatment) or density-weighted units (continuous), correlations plain sample correlations.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from builder.causalds.check.equations import Array, conditional_mean, noise_law, noise_scale

DRAWS: Final = 65_536
"""Units at a first look; :meth:`.hidden.Hidden.again` takes more."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A Monte Carlo estimate and its standard error."""

    value: float
    se: float


@dataclass(frozen=True)
class Population:
    """Simulated units of one world, common to everything that is estimated from it.

    ``world`` is the parsed ``world`` member of ``world_json``. Raises ``equations.NotAuditable`` on
    first use of an unknown mechanism or noise family.
    """

    world: Mapping[str, Any]
    rng: np.random.Generator
    draws: int = DRAWS

    @cached_property
    def noise(self) -> dict[str, Array]:
        """One draw per unit and node: uniforms for binary nodes, standardised noise for others."""
        return {
            node["name"]: (
                self.rng.random(self.draws)
                if node["noise"] is None
                else noise_law(node["noise"]).rvs(size=self.draws, random_state=self.rng)
            )
            for node in self.world["nodes"]
        }

    @cached_property
    def factual(self) -> dict[str, Array]:
        """The units as they are."""
        return self.run({})

    def run(self, do: Mapping[str, float | Array]) -> dict[str, Array]:
        """The same units under an intervention: one value for all, or one for each."""
        values: dict[str, Array] = {}
        waiting = list(self.world["nodes"])
        while waiting:
            node = next(n for n in waiting if all(p in values for p in n["parents"]))
            waiting.remove(node)
            name = node["name"]
            if name in do:
                values[name] = np.full(self.draws, do[name])
                continue
            columns = [values[parent] for parent in node["parents"]]
            mean = conditional_mean(node, columns, self.draws)
            if node["noise"] is None:
                values[name] = (self.noise[name] < mean).astype(np.float64)
            else:
                values[name] = mean + noise_scale(node, columns, self.draws) * self.noise[name]
        return values

    def correlation(self, x: str, y: str) -> Estimate:
        """Pearson correlation, with the error of its influence function."""
        r, influence = _correlated(_zscore(self.factual[x]), _zscore(self.factual[y]))
        return Estimate(r, float(influence.std()) / math.sqrt(self.draws))

    def differences(self, x: str, y: str, levels: tuple[float, float]) -> Array:
        """Y(x1) - Y(x0) of every unit."""
        return self.run({x: levels[1]})[y] - self.run({x: levels[0]})[y]

    def ate(self, x: str, y: str, levels: tuple[float, float]) -> Estimate:
        """The average difference."""
        return _weighted_mean(self.differences(x, y, levels), np.ones(self.draws))

    def ett(self, x: str, y: str, levels: tuple[float, float]) -> Estimate:
        """The average difference among those with X = x1."""
        node = next(n for n in self.world["nodes"] if n["name"] == x)
        if node["noise"] is None:
            weights = (self.factual[x] == levels[1]).astype(np.float64)
        else:
            columns = [self.factual[parent] for parent in node["parents"]]
            scale = noise_scale(node, columns, self.draws)
            gap = (levels[1] - conditional_mean(node, columns, self.draws)) / scale
            weights = noise_law(node["noise"]).pdf(gap) / scale
        return _weighted_mean(self.differences(x, y, levels), weights)

    def natural(
        self, effect: str, x: str, y: str, between: tuple[str, ...], levels: tuple[float, float]
    ) -> Estimate:
        """The natural effect "nde" or "nie", past or through the nodes ``between``.

        Every unit lives through three worlds: as under x0, and with either X, or all mediators, as
        under x1.
        """
        x0, x1 = levels
        base, moved = self.run({x: x0}), self.run({x: x1})
        seen, behind = (x1, base) if effect == "nde" else (x0, moved)
        crossed = self.run({x: seen, **{m: behind[m] for m in between}})
        return _weighted_mean(crossed[y] - base[y], np.ones(self.draws))

    def partial_and_change(self, x: str, y: str, z: str) -> tuple[Estimate, Estimate]:
        """The correlation of the residuals of X and Y from their sample regressions on Z; and that
        minus their correlation, on the same units."""
        zx, zy, zz = (_zscore(self.factual[v]) for v in (x, y, z))
        r, plain = _correlated(zx, zy)
        ex, ey = (_zscore(v - np.mean(v * zz) * zz) for v in (zx, zy))
        # Estimating the regressions moves a partial correlation by less than its error only.
        p, given = _correlated(ex, ey)
        gap = float((given - plain).std()) / math.sqrt(self.draws)
        # Where Z is hardly associated with either, a change is a product of two small correlations:
        # what five errors of these do to it is left.
        gap += 5.0 * (1.0 + abs(r)) / (2.0 * self.draws)
        return Estimate(p, float(given.std()) / math.sqrt(self.draws)), Estimate(p - r, gap)

    def sd(self, v: str) -> Estimate:
        """The standard deviation of a node."""
        off = self.factual[v] - self.factual[v].mean()
        sd = float(off.std())
        # Of a fair coin the first term vanishes; what five errors of the mean do to it is left.
        square = float((off**2).std()) / (2.0 * sd * math.sqrt(self.draws))
        return Estimate(sd, square + 5.0 * sd / (2.0 * self.draws))

    def share_below(self, x: str, level: float) -> Estimate:
        """P(X <= level)."""
        share = float(np.mean(self.factual[x] <= level))
        return Estimate(share, math.sqrt(share * (1 - share) / self.draws))


def _zscore(column: Array) -> Array:
    return np.asarray((column - column.mean()) / column.std())


def _correlated(zx: Array, zy: Array) -> tuple[float, Array]:
    """Correlation of standardised columns, and every unit's influence on it."""
    r = float(np.mean(zx * zy))
    return r, zx * zy - 0.5 * r * (zx**2 + zy**2)


def _weighted_mean(values: Array, weights: Array) -> Estimate:
    mass = float(weights.sum())
    mean = float((weights * values).sum()) / mass
    return Estimate(mean, float(np.sqrt((weights**2 * (values - mean) ** 2).sum())) / mass)
