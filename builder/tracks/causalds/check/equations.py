"""Read worlds from their JSON and simulate them, a second way.

Effects are averages of simulated unit differences, the effect on the treated over simulated treated
units (binary treatment) or density-weighted units (continuous), correlations plain sample
correlations. Nothing is shared with ``builder.equations`` but the meaning of the JSON. Where the
two differ in the way a formula is computed (gates by counting, products by logarithms), the
difference is meant.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

Array = npt.NDArray[np.float64]
Columns = Sequence[Array]
Numbers = Mapping[str, Any]

_CUT_OFF: Final = 8.0
_CERTAINTY: Final = 0.02
_PER_PARENT: Final = {
    "centres", "scales", "cuts", "negated", "shifts", "exponents", "knots", "steps", "halves",
    "powers", "exponential",
}  # fmt: skip
"""Parameters that have a number for each parent: one number for all would pass unseen."""


class NotAuditable(Exception):
    """Raised for a world with something that this second derivation does not know."""


def conditional_mean(node: Mapping[str, Any], columns: Columns, size: int) -> Array:
    """Return the mean of a node, a probability if it is binary, for ``size`` units, given the
    columns of its parents. Raises :class:`NotAuditable` for an unknown mechanism."""
    read, p = _READERS.get(node["mechanism"]), node["parameters"]
    if read is None:
        raise NotAuditable(f"mechanism {node['mechanism']} of node {node['name']}")
    if any(len(p[key]) != len(columns) for key in _PER_PARENT & p.keys()):
        raise ValueError(f"parameters of {node['name']} do not fit its parents")
    inputs = np.reshape(columns, (len(columns), size)).T
    value = read(p, (inputs - p["centres"]) / p["scales"] if "centres" in p else inputs)
    if node["noise"] is not None and node["mechanism"] != "linear_additive":
        return np.asarray(np.minimum(np.maximum(value, -_CUT_OFF), _CUT_OFF))
    return value


def noise_scale(node: Mapping[str, Any], columns: Columns, size: int) -> Array:
    """Return the sd of a continuous node's own noise, (size,), given the columns of its parents."""
    noise = node["noise"]
    spread = noise.get("spread")
    if spread is None:
        return np.full(size, float(noise["scale"]))
    soft = np.logaddexp(0.0, spread["bias"] + np.dot(spread["weights"], columns))
    return np.asarray(noise["scale"] * soft.clip(spread["low"], spread["high"]))


def _softplus(z: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, z.clip(-20.0, 20.0)))


def _line(p: Numbers, values: Array) -> Array:
    return np.asarray(p["bias"] + values @ p["weights"])


def _pairs(p: Numbers, z: Array) -> Array:
    """Return the weighted sum of the products of the pairs of z-scores that the parameters list."""
    first, second = np.asarray(p["pairs"], dtype=int).reshape(-1, 2).T
    return np.asarray((z[:, first] * z[:, second]) @ p["products"])


def _response(p: Numbers, z: Array) -> Array:
    ratio = p["halves"] / _softplus(z)
    return np.asarray(p["bias"] + (1.0 / (1.0 + ratio ** p["powers"])) @ p["strengths"])


def _exp_log(p: Numbers, z: Array) -> Array:
    grown = np.where(p["exponential"], np.exp(z.clip(-2.0, 2.0)), np.log(1.0 + _softplus(z)))
    return np.asarray(p["bias"] + grown @ p["strengths"])


def _piecewise(p: Numbers, z: Array) -> Array:
    over = z - p["knots"]
    parts = np.where(p["steps"], np.heaviside(over, 0.0), 0.5 * (over + np.abs(over)))
    return np.asarray(p["bias"] + parts @ p["strengths"])


def _neural(p: Numbers, layer: Array) -> Array:
    """Return the output of a network with tanh layers, its weights stored layer by layer."""
    used_weights, used_biases = 0, 0
    for width in map(int, p["widths"]):
        count = width * layer.shape[1]
        matrix = np.asarray(p["weights"][used_weights : used_weights + count])
        bias = np.asarray(p["biases"][used_biases : used_biases + width])
        layer = np.tanh(layer @ matrix.reshape(width, -1).T + bias)
        used_weights, used_biases = used_weights + count, used_biases + width
    return np.asarray(p["bias"] + p["gain"] * (layer @ p["output"]))


def _shifted_logistic(p: Numbers, z: Array) -> Array:
    off = z - p["shifts"]
    return np.asarray(scipy.special.expit(_line(p, z) + (off / (1.0 + np.abs(off))) @ p["bends"]))


def _sharp_threshold(p: Numbers, z: Array) -> Array:
    steep = 0.5 + 0.5 * np.tanh(0.5 * p["sharpness"] * (z @ p["weights"] - p["threshold"]))
    return np.asarray(np.minimum(np.maximum(steep, _CERTAINTY), 1.0 - _CERTAINTY))


def _gate(p: Numbers, values: Array) -> Array:
    """Return 1 - flip where all inputs (``conjunction``) or any hold (or do not: ``negated``)."""
    held = ((values > p["cuts"]) != np.asarray(p["negated"], dtype=bool)).sum(axis=1)
    passed = held == values.shape[1] if p["conjunction"] else held >= 1
    return np.asarray(np.where(passed, 1.0 - p["flip"], p["flip"]))


_READERS: Final[Mapping[str, Callable[[Numbers, Array], Array]]] = {
    "linear_additive": _line,
    "handcrafted": lambda p, z: (
        _line(p, z) + _pairs(p, z) + np.tanh(z - p["shifts"]) @ p["bends"] + z**2 @ p["squares"]
    ),
    "product": lambda p, z: p["bias"] + p["strength"] * np.exp(np.log(_softplus(z)).sum(axis=1)),
    "saturating": _response,
    "cooperative": _response,
    "rational": lambda p, z: (
        (_line(p, z) + _pairs(p, z)) / (1.0 + np.abs(p["lower_bias"] + z @ p["lower_weights"]))
    ),
    "power": lambda p, z: (
        p["bias"] + np.copysign(np.minimum(np.abs(z), 2.0) ** p["exponents"], z) @ p["strengths"]
    ),
    "exp_log": _exp_log,
    "piecewise": _piecewise,
    "neural": _neural,
    "logistic": lambda p, values: np.asarray(scipy.special.expit(_line(p, values))),
    "shifted_logistic": _shifted_logistic,
    "sharp_threshold": _sharp_threshold,
    "noisy_or": _gate,
    "noisy_and": _gate,
    "logic_gate": _gate,
    "signed_gate": _gate,
}
"""Conditional mean by mechanism, from the parameters and the parents' values, or their z-scores
where the parameters have centres and scales, as (units, parents)."""


class _Mixture:
    """Equally likely Gaussian components with the given means, of total variance 1."""

    def __init__(self, means: Sequence[float]) -> None:
        self._means = np.asarray(means)
        self._sd = math.sqrt(1.0 - float(np.mean(self._means**2)))

    def rvs(self, size: int, random_state: np.random.Generator) -> Array:
        chosen = random_state.choice(self._means, size)
        return chosen + scipy.stats.norm.rvs(scale=self._sd, size=size, random_state=random_state)

    def pdf(self, e: Array) -> Array:
        total = sum(scipy.stats.norm.pdf(e, m, self._sd) for m in self._means)
        return np.asarray(total / len(self._means))


def noise_law(node: Mapping[str, Any]) -> Any:
    """Return the standardised law (mean 0, sd 1) of a node's noise, or raise NotAuditable."""
    return _law(node["noise"]["family"], tuple(node["noise"]["shape"]))


@cache  # SciPy takes a millisecond to make one
def _law(family: str, shape: tuple[float, ...]) -> Any:
    """Return the law of a noise family with this shape, or raise NotAuditable."""
    match family:
        case "gauss":
            return scipy.stats.norm()
        case "laplace":
            return scipy.stats.laplace(scale=math.sqrt(0.5))
        case "student_t":
            return scipy.stats.t(shape[0], scale=math.sqrt((shape[0] - 2) / shape[0]))
        case "gaussian_mixture":
            return _Mixture(shape)
        case _:
            raise NotAuditable(f"noise family {family}")


DRAWS: Final = 65_536
"""Units of a first check. :meth:`.stored_scene.StoredScene.with_new_units` takes more."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A Monte Carlo estimate and its standard error."""

    value: float
    se: float


@dataclass(frozen=True)
class Population:
    """Simulated units of the ``world`` in a ``world_json``, and their number; nodes as named there.

    Raises :class:`NotAuditable` on first use of an unknown mechanism or noise family."""

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
                else noise_law(node).rvs(size=self.draws, random_state=self.rng)
            )
            for node in self.world["nodes"]
        }

    @cached_property
    def factual(self) -> dict[str, Array]:
        """The values of every node without an intervention."""
        return self.run({})

    def run(self, do: Mapping[str, float | Array]) -> dict[str, Array]:
        """Return every node's values in these units under ``do``: node to value, or one a unit."""
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
            if grid := node.get("grid"):
                values[name] = np.floor(values[name] / grid + 0.5) * grid
        return values

    def correlation(self, x: str, y: str) -> Estimate:
        """Return Pearson's correlation of two nodes, with its influence function's error."""
        r, influence = correlation_and_influence(_zscore(self.factual[x]), _zscore(self.factual[y]))
        return Estimate(r, float(influence.std()) / math.sqrt(self.draws))

    def differences(self, x: str, y: str, levels: tuple[float, float]) -> Array:
        """Return Y(x1) - Y(x0) of every unit, with ``levels`` (x0, x1)."""
        return self.run({x: levels[1]})[y] - self.run({x: levels[0]})[y]

    def ate(self, x: str, y: str, levels: tuple[float, float]) -> Estimate:
        """Return the average of Y(x1) - Y(x0), with ``levels`` (x0, x1)."""
        return _weighted_mean(self.differences(x, y, levels), np.ones(self.draws))

    def ett(self, x: str, y: str, levels: tuple[float, float]) -> Estimate:
        """Return the mean of Y(x1) - Y(x0) where X = x1, density-weighted for continuous X."""
        node = next(n for n in self.world["nodes"] if n["name"] == x)
        if node["noise"] is None:
            weights = (self.factual[x] == levels[1]).astype(np.float64)
        else:
            columns = [self.factual[parent] for parent in node["parents"]]
            scale = noise_scale(node, columns, self.draws)
            gap = (levels[1] - conditional_mean(node, columns, self.draws)) / scale
            weights = noise_law(node).pdf(gap) / scale
        return _weighted_mean(self.differences(x, y, levels), weights)

    def natural(
        self, effect: str, x: str, y: str, between: tuple[str, ...], levels: tuple[float, float]
    ) -> Estimate:
        """Return the natural effect "nde" or "nie", past or through the nodes ``between``: of every
        unit under x0 against itself with X alone, or all mediators alone, as under x1."""
        x0, x1 = levels
        base, moved = self.run({x: x0}), self.run({x: x1})
        seen, behind = (x1, base) if effect == "nde" else (x0, moved)
        crossed = self.run({x: seen, **{m: behind[m] for m in between}})
        return _weighted_mean(crossed[y] - base[y], np.ones(self.draws))

    def partial_and_change(self, x: str, y: str, z: str) -> tuple[Estimate, Estimate]:
        """Return the partial correlation of X and Y given Z, and that minus their correlation."""
        zx, zy, zz = (_zscore(self.factual[v]) for v in (x, y, z))
        r, plain = correlation_and_influence(zx, zy)
        ex, ey = (_zscore(v - np.mean(v * zz) * zz) for v in (zx, zy))
        # Estimating the regressions moves a partial correlation by less than its error only.
        p, given = correlation_and_influence(ex, ey)
        gap = float((given - plain).std()) / math.sqrt(self.draws)
        # Where Z is hardly associated with either, a change is a product of two small correlations:
        # what five errors of these do to it is left.
        gap += 5.0 * (1.0 + abs(r)) / (2.0 * self.draws)
        return Estimate(p, float(given.std()) / math.sqrt(self.draws)), Estimate(p - r, gap)

    def sd(self, v: str) -> Estimate:
        """Return the standard deviation of a node in the units, with its standard error."""
        off = self.factual[v] - self.factual[v].mean()
        sd = float(off.std())
        # Of a fair coin the first term vanishes; what five errors of the mean do to it is left.
        square = float((off**2).std()) / (2.0 * sd * math.sqrt(self.draws))
        return Estimate(sd, square + 5.0 * sd / (2.0 * self.draws))


def _zscore(column: Array) -> Array:
    return np.asarray((column - column.mean()) / column.std())


def correlation_and_influence(zx: Array, zy: Array) -> tuple[float, Array]:
    """Return the correlation of standardised columns and each unit's influence, (n,)."""
    r = float(np.mean(zx * zy))
    return r, zx * zy - 0.5 * r * (zx**2 + zy**2)


def _weighted_mean(values: Array, weights: Array) -> Estimate:
    """Return the weighted mean of ``values`` with its standard error, for weights of any sum."""
    mass = float(weights.sum())
    mean = float((weights * values).sum()) / mass
    return Estimate(mean, float(np.sqrt((weights**2 * (values - mean) ** 2).sum())) / mass)
