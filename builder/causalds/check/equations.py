"""Structural equations read from the JSON of a world, written a second time.

Each reader takes the parameters and the parents' columns, and returns the conditional mean. Nothing
is shared with ``builder.scm``; where the two differ in the way a formula is computed (gates by
counting, products by logarithms), the difference is meant.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

Array = npt.NDArray[np.float64]
Columns = Sequence[Array]
Numbers = Mapping[str, Any]

_CUT_OFF: Final = 8.0
_CERTAINTY: Final = 0.02


class NotAuditable(Exception):
    """The world uses something that this second derivation does not know."""


def conditional_mean(node: Mapping[str, Any], columns: Columns, size: int) -> Array:
    """Location or probability of a node for ``size`` units. Raises :class:`NotAuditable`."""
    read = _READERS.get(node["mechanism"])
    if read is None:
        raise NotAuditable(f"mechanism {node['mechanism']} of node {node['name']}")
    value = np.broadcast_to(read(node["parameters"], columns), size)
    if node["noise"] is not None and node["mechanism"] != "linear_additive":
        return np.asarray(np.minimum(np.maximum(value, -_CUT_OFF), _CUT_OFF))
    return np.asarray(value)


def noise_scale(node: Mapping[str, Any], columns: Columns, size: int) -> Array:
    """The standard deviation of a continuous node's own noise, unit by unit."""
    noise = node["noise"]
    spread = noise.get("spread")
    if spread is None:
        return np.full(size, float(noise["scale"]))
    inner = spread["bias"] + sum(
        (w * c for w, c in zip(spread["weights"], columns, strict=True)), np.zeros(size)
    )
    soft = np.maximum(inner, 0.0) + np.log1p(np.exp(-np.abs(inner)))
    return np.asarray(noise["scale"] * soft.clip(spread["low"], spread["high"]))


def _z(p: Numbers, columns: Columns) -> list[Array]:
    return [(c - m) / s for c, m, s in zip(columns, p["centres"], p["scales"], strict=True)]


def _softplus(z: Array) -> Array:
    kept = z.clip(-20.0, 20.0)
    return np.asarray(np.maximum(kept, 0.0) + np.log1p(np.exp(-np.abs(kept))))


def _line(p: Numbers, columns: Columns) -> Array:
    return np.asarray(p["bias"] + sum(w * c for w, c in zip(p["weights"], columns, strict=True)))


def _pairs(p: Numbers, z: Columns) -> Array:
    chosen = np.asarray(p["pairs"], dtype=int).reshape(-1, 2)
    return np.asarray(sum(v * z[i] * z[j] for v, (i, j) in zip(p["products"], chosen, strict=True)))


def _handcrafted(p: Numbers, columns: Columns) -> Array:
    z = _z(p, columns)
    total = p["bias"] + _pairs(p, z)
    for i, column in enumerate(z):
        bent = np.tanh(column - p["shifts"][i])
        total = total + p["weights"][i] * column + p["bends"][i] * bent
        total = total + p["squares"][i] * column**2
    return np.asarray(total)


def _product(p: Numbers, columns: Columns) -> Array:
    logs = sum(np.log(_softplus(z)) for z in _z(p, columns))
    return np.asarray(p["bias"] + p["strength"] * np.exp(logs))


def _response(p: Numbers, columns: Columns) -> Array:
    total = np.asarray(p["bias"])
    for i, z in enumerate(_z(p, columns)):
        ratio = p["halves"][i] / _softplus(z)
        total = total + p["strengths"][i] / (1.0 + ratio ** p["powers"][i])
    return total


def _rational(p: Numbers, columns: Columns) -> Array:
    z = _z(p, columns)
    upper = p["bias"] + _pairs(p, z) + sum(w * c for w, c in zip(p["weights"], z, strict=True))
    lower = p["lower_bias"] + sum(w * c for w, c in zip(p["lower_weights"], z, strict=True))
    return np.asarray(upper / (1.0 + np.abs(lower)))


def _power(p: Numbers, columns: Columns) -> Array:
    total = np.asarray(p["bias"])
    for i, z in enumerate(_z(p, columns)):
        size = np.minimum(np.abs(z), 2.0) ** p["exponents"][i]
        total = total + p["strengths"][i] * np.where(z < 0.0, -size, size)
    return total


def _exp_log(p: Numbers, columns: Columns) -> Array:
    total = np.asarray(p["bias"])
    for i, z in enumerate(_z(p, columns)):
        grown = np.exp(z.clip(-2.0, 2.0)) if p["exponential"][i] else np.log(1.0 + _softplus(z))
        total = total + p["strengths"][i] * grown
    return total


def _piecewise(p: Numbers, columns: Columns) -> Array:
    total = np.asarray(p["bias"])
    for i, z in enumerate(_z(p, columns)):
        over = z - p["knots"][i]
        part = np.heaviside(over, 0.0) if p["steps"][i] else 0.5 * (over + np.abs(over))
        total = total + p["strengths"][i] * part
    return total


def _neural(p: Numbers, columns: Columns) -> Array:
    layer = np.column_stack(_z(p, columns))
    used_weights, used_biases = 0, 0
    for width in map(int, p["widths"]):
        count = width * layer.shape[1]
        matrix = np.asarray(p["weights"][used_weights : used_weights + count])
        bias = np.asarray(p["biases"][used_biases : used_biases + width])
        layer = np.tanh(layer @ matrix.reshape(width, -1).T + bias)
        used_weights, used_biases = used_weights + count, used_biases + width
    return np.asarray(p["bias"] + p["gain"] * (layer @ np.asarray(p["output"])))


def _logistic(p: Numbers, columns: Columns) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-_line(p, columns))))


def _shifted_logistic(p: Numbers, columns: Columns) -> Array:
    total = np.asarray(p["bias"])
    for i, z in enumerate(_z(p, columns)):
        off = z - p["shifts"][i]
        total = total + p["weights"][i] * z + p["bends"][i] * off / (1.0 + np.abs(off))
    return np.asarray(1.0 / (1.0 + np.exp(-total)))


def _sharp_threshold(p: Numbers, columns: Columns) -> Array:
    total = sum(w * z for w, z in zip(p["weights"], _z(p, columns), strict=True))
    steep = 0.5 + 0.5 * np.tanh(0.5 * p["sharpness"] * (total - p["threshold"]))
    return np.asarray(np.minimum(np.maximum(steep, _CERTAINTY), 1.0 - _CERTAINTY))


def _gate(p: Numbers, columns: Columns) -> Array:
    inputs = zip(columns, p["cuts"], p["negated"], strict=True)
    held = np.sum([np.where(column > cut, 1 - no, no) for column, cut, no in inputs], axis=0)
    passed = held == len(columns) if p["conjunction"] else held >= 1
    return np.asarray(np.where(passed, 1.0 - p["flip"], p["flip"]))


_READERS: Final[Mapping[str, Callable[[Numbers, Columns], Array]]] = {
    "linear_additive": _line,
    "handcrafted": _handcrafted,
    "product": _product,
    "saturating": _response,
    "cooperative": _response,
    "rational": _rational,
    "power": _power,
    "exp_log": _exp_log,
    "piecewise": _piecewise,
    "neural": _neural,
    "logistic": _logistic,
    "shifted_logistic": _shifted_logistic,
    "sharp_threshold": _sharp_threshold,
    "noisy_or": _gate,
    "noisy_and": _gate,
    "logic_gate": _gate,
    "signed_gate": _gate,
}


class _Mixture:
    """Equally likely unit-variance-total Gaussian components with the given means."""

    def __init__(self, means: Sequence[float]) -> None:
        self._means = np.asarray(means)
        self._sd = math.sqrt(1.0 - float(np.mean(self._means**2)))

    def rvs(self, size: int, random_state: np.random.Generator) -> Array:
        chosen = random_state.choice(self._means, size)
        return chosen + scipy.stats.norm.rvs(scale=self._sd, size=size, random_state=random_state)

    def pdf(self, e: Array) -> Array:
        total = sum(scipy.stats.norm.pdf(e, m, self._sd) for m in self._means)
        return np.asarray(total / len(self._means))


def noise_law(noise: Mapping[str, Any]) -> Any:
    """The standardised law (mean 0, sd 1) with ``rvs`` and ``pdf``."""
    return _law(noise["family"], tuple(noise["shape"]))


@cache  # SciPy takes a millisecond to make one
def _law(family: str, shape: tuple[float, ...]) -> Any:
    if family == "gauss":
        return scipy.stats.norm()
    if family == "laplace":
        return scipy.stats.laplace(scale=math.sqrt(0.5))
    if family == "student_t":
        df = float(shape[0])
        return scipy.stats.t(df, scale=math.sqrt((df - 2) / df))
    if family == "gaussian_mixture":
        return _Mixture(shape)
    raise NotAuditable(f"noise family {family}")
