"""Families of mechanisms: lines, the curved regimes of CausalDS (paper A.2, A.7), and binary ones:
log-odds that are linear, bent or steep, and noisy logic gates.

Each family is a draw of parameters and an evaluation. Parents enter on the common scale of
``equation.inputs``, called z below; u is softplus(z). Locations are cut off at LOCATION_LIMIT.
The steep binary families keep probabilities inside ``CERTAINTY``, and a gate's output flips by
chance, so that every treatment level occurs at every value of the other causes.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np
from scipy import special

from builder.equations.elementary import exp, expit, log1p, power, softplus, tanh
from builder.equations.equation import (
    LOCATION_LIMIT,
    Array,
    Parameters,
    Parent,
    cut_off,
    draw_signed,
    floats,
    input_scales,
    per_parent_sd,
    standardise,
    strengths,
    summary,
)
from builder.splits.seeds import pick

CERTAINTY: Final = (0.02, 0.98)
"""Smallest and largest conditional probability of the steep families."""


def draw_linear(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw weights N(±0.8, 0.4) (per parent sd above one) and bias N(0, 0.5), 0 for a root."""
    weights = per_parent_sd(draw_signed(rng, len(parents), 0.8, 0.4), parents)
    return {"weights": weights, "bias": float(rng.normal(0.0, 0.5)) if parents else 0.0}


def linear_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``bias + sum(w x)`` over the raw parents, never cut off."""
    total = np.asarray(parameters["bias"])
    for weight, column in zip(parameters["weights"], columns, strict=True):
        total = total + weight * column
    return total


def handcrafted_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(w z + t tanh(z - c) + q z^2) + sum(v z z')``, cut off; z standardised."""
    z = standardise(parameters, columns)
    total = np.asarray(parameters["bias"]) + _pair_products(parameters, z)
    terms = (parameters[key] for key in ("weights", "bends", "shifts", "squares"))
    for column, w, t, c, q in zip(z, *terms, strict=True):
        total = total + w * column + t * tanh(column - c)
        if q:
            total = total + q * column * column
    return cut_off(total)


def handcrafted_slope(parameters: Parameters, column: Array) -> Array:
    """Return ``handcrafted_mean``'s derivative in the only raw parent, (n,), 0 where cut off."""
    (z,) = standardise(parameters, [column])
    ((w,), (t,), (c,), (q,)) = (
        parameters[key] for key in ("weights", "bends", "shifts", "squares")
    )
    inside = np.abs(handcrafted_mean(parameters, [column])) < LOCATION_LIMIT
    slope = w + t * (1.0 - tanh(z - c) ** 2) + 2.0 * q * z
    return np.where(inside, slope / parameters["scales"][0], 0.0)


def _pair_products(parameters: Parameters, z: Sequence[Array]) -> Array:
    """Return the weighted sum of pair products, (n,), or a scalar 0 without pairs."""
    pairs, total = [int(i) for i in parameters["pairs"]], np.asarray(0.0)
    for position, weight in enumerate(parameters["products"]):
        total = total + weight * z[pairs[2 * position]] * z[pairs[2 * position + 1]]
    return total


def _softplus_features(parameters: Parameters, columns: Sequence[Array]) -> list[Array]:
    """Return u = softplus(z) of each parent, where z is its standardised column cut off at ±20."""
    return [softplus(np.clip(z, -20.0, 20.0)) for z in standardise(parameters, columns)]


def product_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + a prod(u)``, cut off, where u is softplus of a standardised parent."""
    features = _softplus_features(parameters, columns)
    return cut_off(parameters["bias"] + reduce(np.multiply, features, parameters["strength"]))


def response_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(a u^h / (k^h + u^h))``, cut off; u is softplus of a standardised parent."""
    total = np.asarray(parameters["bias"])
    terms = (parameters[key] for key in ("strengths", "halves", "powers"))
    for u, a, k, h in zip(_softplus_features(parameters, columns), *terms, strict=True):
        raised, half = (u, np.asarray(k)) if h == 1.0 else (power(u, h), power(np.asarray(k), h))
        total = total + a * raised / (half + raised)
    return cut_off(total)


def rational_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``(b + sum(w z) + sum(v z z')) / (1 + |b' + sum(w' z)|)``, cut off; z standardised."""
    z = standardise(parameters, columns)
    upper = np.asarray(parameters["bias"]) + _pair_products(parameters, z)
    lower = np.asarray(parameters["lower_bias"])
    for column, w, v in zip(z, parameters["weights"], parameters["lower_weights"], strict=True):
        upper, lower = upper + w * column, lower + v * column
    return cut_off(upper / (1.0 + np.abs(lower)))


def power_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(a sign(z) |z|^rho)``, cut off; z are standardised parents within ±2."""
    total = np.asarray(parameters["bias"])
    terms = parameters["strengths"], parameters["exponents"]
    for column, a, rho in zip(standardise(parameters, columns), *terms, strict=True):
        z = np.clip(column, -2.0, 2.0)
        total = total + a * np.sign(z) * power(np.abs(z), rho)
    return cut_off(total)


def exp_log_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(a g(z))``, cut off; by parent g is exp (z within ±2) or log1p(softplus)."""
    total = np.asarray(parameters["bias"])
    terms = parameters["strengths"], parameters["exponential"]
    for z, a, exponential in zip(standardise(parameters, columns), *terms, strict=True):
        if exponential:
            total = total + a * exp(np.clip(z, -2.0, 2.0))
        else:
            total = total + a * log1p(softplus(np.clip(z, -20.0, 20.0)))
    return cut_off(total)


def draw_piecewise(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw strengths ±U(0.4, 1.2), and for each parent, standardised, a step (1) or a hinge (0)
    at U(-1, 1). A binary parent has a step at a raw one half."""
    count = len(parents)
    sizes = strengths(0.4, 1.2)(rng, count)
    steps, knots = rng.integers(0, 2, count), rng.uniform(-1.0, 1.0, count)
    return {
        **input_scales(parents),
        "strengths": sizes,
        "steps": tuple(1.0 if p.binary else float(s) for s, p in zip(steps, parents, strict=True)),
        "knots": tuple(
            0.5 - p.mean if p.binary else float(t) for t, p in zip(knots, parents, strict=True)
        ),
        "bias": float(rng.normal(0.0, 0.5)),
    }


def piecewise_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b`` plus ``a [z > t]`` or ``a max(z - t, 0)`` of each parent's z, cut off."""
    total = np.asarray(parameters["bias"])
    terms = (parameters[key] for key in ("strengths", "steps", "knots"))
    for z, a, step, knot in zip(standardise(parameters, columns), *terms, strict=True):
        part = (z > knot).astype(np.float64) if step else np.maximum(z - knot, 0.0)
        total = total + a * part
    return cut_off(total)


def draw_neural(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw a tanh network of 2 to 4 hidden layers of 4 to 16 units. Weight matrices are divided by
    their spectral norm, hidden ones then doubled. Biases are U(-1, 1). The output's range over 1000
    standard normal inputs is brought to [-1, 1] and multiplied by ±U(1, 2); ``gain`` and ``bias``
    fix this. Matrices are flattened, layer by layer."""
    widths = [int(w) for w in rng.integers(4, 17, int(rng.integers(2, 5)))]
    weights: list[Array] = []
    biases: list[Array] = []
    before = len(parents)
    for width in widths:
        matrix = rng.standard_normal((width, before))
        weights.append(2.0 * matrix / summary(float(np.linalg.norm(matrix, 2))))
        biases.append(rng.uniform(-1.0, 1.0, width))
        before = width
    last = rng.standard_normal(before)
    parameters = {
        **input_scales(parents),
        "widths": floats(widths),
        "weights": floats(np.concatenate([m.ravel() for m in weights])),
        "biases": floats(np.concatenate(biases)),
        "output": floats(last / summary(float(np.linalg.norm(last)))),
    }
    trial = [np.clip(rng.standard_normal(1000), -3.0, 3.0) * min(1.0, p.sd) for p in parents]
    raw, _ = _network(parameters, trial)
    low, high = summary(float(raw.min())), summary(float(raw.max()))
    gain = float(rng.choice((-1.0, 1.0)) * rng.uniform(1.0, 2.0))
    bias = float(rng.normal(0.0, 0.5))
    slope = 2.0 * gain / max(high - low, 1e-9)
    return {**parameters, "gain": slope, "bias": bias - slope * 0.5 * (low + high)}


def _product(matrix: Array, rows: Array) -> Array:
    """Return ``matrix @ rows`` summed in one order; a library's depends on the processor."""
    total = np.asarray(matrix[:, :1] * rows[0])
    part = np.empty_like(total)  # one for all: a new one each time costs as much as the product
    for column, row in zip(matrix.T[1:], rows[1:], strict=True):
        np.multiply(column[:, None], row, out=part)
        total += part
    return total


def _network(parameters: Parameters, z: Sequence[Array]) -> tuple[Array, list[tuple[Array, Array]]]:
    """Return the network's output (n,), and matrix and output (width, n) of each hidden layer."""
    hidden = np.stack([np.atleast_1d(column) for column in np.broadcast_arrays(*z)])
    weights, biases = (np.asarray(parameters[key]) for key in ("weights", "biases"))
    layers = []
    for width in map(int, parameters["widths"]):
        size = width * len(hidden)
        matrix = weights[:size].reshape(width, -1)
        hidden = tanh(_product(matrix, hidden) + biases[:width, None])
        layers.append((matrix, hidden))
        weights, biases = weights[size:], biases[width:]
    return np.asarray(_product(_output(parameters), hidden)[0]), layers


def _output(parameters: Parameters) -> Array:
    return np.asarray(parameters["output"])[None, :]


def neural_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + gain * output . tanh(... tanh(W z + c) ...)``, cut off; z standardised."""
    output, _ = _network(parameters, standardise(parameters, columns))
    return cut_off(parameters["bias"] + parameters["gain"] * output)


def neural_slope(parameters: Parameters, column: Array) -> Array:
    """Return ``neural_mean``'s derivative in the only raw parent, (n,), 0 where cut off."""
    output, layers = _network(parameters, standardise(parameters, [column]))
    slope = np.ones((1, len(output)))
    for matrix, hidden in layers:
        slope = _product(matrix, slope) * (1.0 - hidden * hidden)
    gain = parameters["gain"]
    inside = np.abs(parameters["bias"] + gain * output) < LOCATION_LIMIT
    total = gain * _product(_output(parameters), slope)[0]
    return np.where(inside, total / parameters["scales"][0], 0.0)


def draw_logistic(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw weights N(±1, 0.6) (per parent sd above one) and bias N(0, 0.7) at the parents' means,
    or a root's probability U(1/4, 3/4)."""
    if not parents:
        return {"weights": (), "bias": summary(float(special.logit(rng.uniform(0.25, 0.75))))}
    weights = per_parent_sd(draw_signed(rng, len(parents), 1.0, 0.6), parents)
    centre = math.fsum(w * p.mean for w, p in zip(weights, parents, strict=True))
    return {"weights": weights, "bias": float(rng.normal(0.0, 0.7)) - centre}


def logistic_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return the probability of 1: ``expit(b + sum(w x))`` over the raw parents."""
    return expit(linear_mean(parameters, columns))


def shifted_logistic_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return P(1) = ``expit(b + sum(w z + t softsign(z - c)))``, z standardised parents."""
    total = np.asarray(parameters["bias"])
    terms = (parameters[key] for key in ("weights", "bends", "shifts"))
    for z, w, t, c in zip(standardise(parameters, columns), *terms, strict=True):
        total = total + w * z + t * (z - c) / (1.0 + np.abs(z - c))
    return expit(total)


def shifted_logistic_slope(parameters: Parameters, column: Array) -> Array:
    """Return the derivative of ``shifted_logistic_mean`` in the raw value of the only parent."""
    (z,) = standardise(parameters, [column])
    ((w,), (t,), (c,)) = (parameters[key] for key in ("weights", "bends", "shifts"))
    p = shifted_logistic_mean(parameters, [column])
    slope = w + t / (1.0 + np.abs(z - c)) ** 2
    return np.asarray(p * (1.0 - p) * slope / parameters["scales"][0])


def sharp_threshold_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return P(1) = ``expit(s (sum(w z) - t))``, z standardised, within ``CERTAINTY``."""
    total = np.asarray(-parameters["threshold"])
    for z, w in zip(standardise(parameters, columns), parameters["weights"], strict=True):
        total = total + w * z
    return np.clip(expit(parameters["sharpness"] * total), *CERTAINTY)


def draw_gate(
    conjunctions: tuple[float, ...],
    negation: float,
    rng: np.random.Generator,
    parents: Sequence[Parent],
) -> Parameters:
    """Draw a gate: its kind from ``conjunctions``, where 1 is "and" and 0 is "or". Each input is
    negated with probability ``negation``. A continuous parent is cut where a Gaussian of its mean
    and sd would leave the gate open half of the time, give or take U(-0.3, 0.3) sd; a binary one at
    0.5. The output flips with probability U(0.02, 0.12)."""
    count = len(parents)
    conjunction = pick(rng, conjunctions)
    negated = rng.random(count) < negation
    jitter = rng.uniform(-0.3, 0.3, count)
    # Each input holds in this share of cases, so that all of them hold in half.
    share = 0.5 ** (1.0 / max(count, 1))
    holds = share if conjunction else 1.0 - share
    cuts = []
    for parent, no, move in zip(parents, negated, jitter, strict=True):
        above = 1.0 - holds if no else holds
        place = summary(float(special.ndtri(1.0 - above))) + float(move)
        cuts.append(0.5 if parent.binary else parent.mean + parent.sd * place)
    return {
        "cuts": floats(cuts),
        "negated": floats(negated),
        "conjunction": conjunction,
        "flip": float(rng.uniform(0.02, 0.12)),
    }


def gate_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``flip + (1 - 2 flip) * gate`` by row, the probability of 1. Inputs hold above their
    cut, or ``negated``. The gate is 1 if all hold (``conjunction``), or else if any does."""
    parts = zip(columns, parameters["cuts"], parameters["negated"], strict=True)
    holds = [(column > cut) != bool(no) for column, cut, no in parts]
    every = np.logical_and if parameters["conjunction"] else np.logical_or
    flip = parameters["flip"]
    return np.asarray(flip + (1.0 - 2.0 * flip) * reduce(every, holds))
