"""Continuous mechanisms: lines, and the curved regimes of CausalDS (paper A.2, A.7).

Each family is a draw of parameters and an evaluation. Parents enter on the common scale of
``equation.inputs``, called z below; u is softplus(z). Locations are cut off at LOCATION_LIMIT.
"""

from collections.abc import Sequence

import numpy as np

from builder.equations.elementary import exp, log1p, power, softplus, tanh
from builder.equations.equation import (
    LOCATION_LIMIT,
    Affine,
    Array,
    Parameters,
    Parent,
    cut_off,
    draw_signed,
    floats,
    input_scales,
    per_parent_sd,
    scalar,
    standardise,
    summary,
    vector,
)


def draw_linear(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw weights N(±0.8, 0.4), per sd of a parent whose sd exceeds one, and a bias N(0, 0.5),
    which is 0 for a root."""
    weights = per_parent_sd(draw_signed(rng, len(parents), 0.8, 0.4), parents)
    return {"weights": weights, "bias": float(rng.normal(0.0, 0.5)) if parents else 0.0}


def as_affine(parameters: Parameters) -> Affine:
    """Return the parameters as an affine equation."""
    return Affine(vector(parameters, "weights"), scalar(parameters, "bias"))


def linear_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``bias + sum(w x)`` over the raw parents, never cut off."""
    total = np.asarray(scalar(parameters, "bias"))
    for weight, column in zip(vector(parameters, "weights"), columns, strict=True):
        total = total + weight * column
    return total


def draw_handcrafted(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw weights N(±0.8, 0.4), products N(±0.3, 0.2) of disjoint pairs, weights of tanh
    N(±0.5, 0.3) and a bias N(0, 0.5). Shifts and squares, which measurements use, are 0."""
    count = len(parents)
    return {
        **input_scales(parents),
        "weights": floats(draw_signed(rng, count, 0.8, 0.4)),
        "bias": float(rng.normal(0.0, 0.5)),
        **_draw_pairs(rng, count),
        "bends": floats(draw_signed(rng, count, 0.5, 0.3)),
        "shifts": (0.0,) * count,
        "squares": (0.0,) * count,
    }


def handcrafted_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(w z + t tanh(z - c) + q z^2) + sum(v z z')``, cut off; z are standardised
    parents, and the last sum is over pairs."""
    z = standardise(parameters, columns)
    total = np.asarray(scalar(parameters, "bias")) + _pair_products(parameters, z)
    terms = (vector(parameters, key) for key in ("weights", "bends", "shifts", "squares"))
    for column, w, t, c, q in zip(z, *terms, strict=True):
        total = total + w * column + t * tanh(column - c)
        if q:
            total = total + q * column * column
    return cut_off(total)


def handcrafted_slope(parameters: Parameters, column: Array) -> Array:
    """Return ``handcrafted_mean``'s derivative in the only raw parent, (n,), 0 where cut off."""
    (z,) = standardise(parameters, [column])
    ((w,), (t,), (c,), (q,)) = (
        vector(parameters, key) for key in ("weights", "bends", "shifts", "squares")
    )
    inside = np.abs(handcrafted_mean(parameters, [column])) < LOCATION_LIMIT
    slope = w + t * (1.0 - tanh(z - c) ** 2) + 2.0 * q * z
    return np.where(inside, slope / vector(parameters, "scales")[0], 0.0)


def _draw_pairs(rng: np.random.Generator, count: int) -> dict[str, tuple[float, ...]]:
    """Draw up to two disjoint pairs of parents (indices, pair after pair) and product weights."""
    used = 2 * min(2, count // 2)
    order = rng.permutation(count)[:used]
    return {"pairs": floats(order), "products": floats(draw_signed(rng, used // 2, 0.3, 0.2))}


def _pair_products(parameters: Parameters, z: Sequence[Array]) -> Array:
    """Return the weighted sum of pair products, (n,), or a scalar 0 without pairs."""
    pairs, total = [int(i) for i in vector(parameters, "pairs")], np.asarray(0.0)
    for position, weight in enumerate(vector(parameters, "products")):
        total = total + weight * z[pairs[2 * position]] * z[pairs[2 * position + 1]]
    return total


def _softplus_features(parameters: Parameters, columns: Sequence[Array]) -> list[Array]:
    """Return u = softplus(z) of each parent, where z is its standardised column cut off at ±20."""
    return [softplus(np.clip(z, -20.0, 20.0)) for z in standardise(parameters, columns)]


def _strengths(
    rng: np.random.Generator, count: int, low: float = 0.4, high: float = 1.2
) -> tuple[float, ...]:
    """Return ``count`` draws of ±U(low, high)."""
    return floats(rng.choice((-1.0, 1.0), count) * rng.uniform(low, high, count))


def draw_product(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw one strength ±U(0.5, 1.5) for the product of all parents, and a bias N(0, 0.5)."""
    strength = float(rng.choice((-1.0, 1.0)) * rng.uniform(0.5, 1.5))
    return {**input_scales(parents), "strength": strength, "bias": float(rng.normal(0.0, 0.5))}


def product_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + a prod(u)``, cut off, where u is softplus of a standardised parent."""
    total = np.asarray(scalar(parameters, "strength"))
    for u in _softplus_features(parameters, columns):
        total = total * u
    return cut_off(scalar(parameters, "bias") + total)


def draw_saturating(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw strengths ±U(0.5, 1.5) and half points k ~ U(0.5, 2). Powers are 1."""
    count = len(parents)
    return {
        **input_scales(parents),
        "strengths": _strengths(rng, count, 0.5, 1.5),
        "halves": floats(rng.uniform(0.5, 2.0, count)),
        "powers": (1.0,) * count,
        "bias": float(rng.normal(0.0, 0.5)),
    }


def draw_cooperative(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw what ``draw_saturating`` draws, with Hill powers h ~ U(1.5, 4)."""
    powers = floats(rng.uniform(1.5, 4.0, len(parents)))
    return {**draw_saturating(rng, parents), "powers": powers}


def response_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(a u^h / (k^h + u^h))``, cut off; u is softplus of a standardised parent."""
    total = np.asarray(scalar(parameters, "bias"))
    terms = (vector(parameters, key) for key in ("strengths", "halves", "powers"))
    for u, a, k, h in zip(_softplus_features(parameters, columns), *terms, strict=True):
        raised, half = (u, np.asarray(k)) if h == 1.0 else (power(u, h), power(np.asarray(k), h))
        total = total + a * raised / (half + raised)
    return cut_off(total)


def draw_rational(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw weights N(±0.8, 0.4) and products N(±0.3, 0.2) of disjoint pairs for the numerator,
    weights N(0, 0.4) for the denominator, and a bias N(0, 0.4) for each."""
    count = len(parents)
    return {
        **input_scales(parents),
        "weights": floats(draw_signed(rng, count, 0.8, 0.4)),
        **_draw_pairs(rng, count),
        "bias": float(rng.normal(0.0, 0.4)),
        "lower_weights": floats(rng.normal(0.0, 0.4, count)),
        "lower_bias": float(rng.normal(0.0, 0.4)),
    }


def rational_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``(b + sum(w z) + sum(v z z')) / (1 + |b' + sum(w' z)|)``, cut off; z are standardised
    parents, and the middle sum is over pairs."""
    z = standardise(parameters, columns)
    upper = np.asarray(scalar(parameters, "bias")) + _pair_products(parameters, z)
    lower = np.asarray(scalar(parameters, "lower_bias"))
    weights = vector(parameters, "weights"), vector(parameters, "lower_weights")
    for column, w, v in zip(z, *weights, strict=True):
        upper, lower = upper + w * column, lower + v * column
    return cut_off(upper / (1.0 + np.abs(lower)))


def draw_power(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw strengths ±U(0.4, 1.2) and exponents U(0.5, 2)."""
    count = len(parents)
    return {
        **input_scales(parents),
        "strengths": _strengths(rng, count),
        "exponents": floats(rng.uniform(0.5, 2.0, count)),
        "bias": float(rng.normal(0.0, 0.5)),
    }


def power_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(a sign(z) |z|^rho)``, cut off; z are standardised parents within ±2."""
    total = np.asarray(scalar(parameters, "bias"))
    terms = vector(parameters, "strengths"), vector(parameters, "exponents")
    for column, a, rho in zip(standardise(parameters, columns), *terms, strict=True):
        z = np.clip(column, -2.0, 2.0)
        total = total + a * np.sign(z) * power(np.abs(z), rho)
    return cut_off(total)


def draw_exp_log(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw strengths ±U(0.4, 1.2), and for each parent the exponential (1) or the logarithm (0)."""
    count = len(parents)
    return {
        **input_scales(parents),
        "strengths": _strengths(rng, count),
        "exponential": floats(rng.integers(0, 2, count)),
        "bias": float(rng.normal(0.0, 0.5)),
    }


def exp_log_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + sum(a g(z))``, cut off, for standardised parents z. By parent g is exp with z
    cut off at ±2, or log(1 + softplus(z))."""
    total = np.asarray(scalar(parameters, "bias"))
    terms = vector(parameters, "strengths"), vector(parameters, "exponential")
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
    strengths = _strengths(rng, count)
    steps, knots = rng.integers(0, 2, count), rng.uniform(-1.0, 1.0, count)
    return {
        **input_scales(parents),
        "strengths": strengths,
        "steps": tuple(1.0 if p.binary else float(s) for s, p in zip(steps, parents, strict=True)),
        "knots": tuple(
            0.5 - p.mean if p.binary else float(t) for t, p in zip(knots, parents, strict=True)
        ),
        "bias": float(rng.normal(0.0, 0.5)),
    }


def piecewise_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b`` plus ``a [z > t]`` or ``a max(z - t, 0)`` of each parent's z, cut off."""
    total = np.asarray(scalar(parameters, "bias"))
    terms = (vector(parameters, key) for key in ("strengths", "steps", "knots"))
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
    parameters: dict[str, float | tuple[float, ...]] = {
        **input_scales(parents),
        "widths": floats(widths),
        "weights": floats(np.concatenate([m.ravel() for m in weights])),
        "biases": floats(np.concatenate(biases)),
        "output": floats(last / summary(float(np.linalg.norm(last)))),
    }
    trial = [np.clip(rng.standard_normal(1000), -3.0, 3.0) * min(1.0, p.sd) for p in parents]
    raw = _network(parameters, trial)
    low, high = summary(float(raw.min())), summary(float(raw.max()))
    gain = float(rng.choice((-1.0, 1.0)) * rng.uniform(1.0, 2.0))
    bias = float(rng.normal(0.0, 0.5))
    slope = 2.0 * gain / max(high - low, 1e-9)
    return {**parameters, "gain": slope, "bias": bias - slope * 0.5 * (low + high)}


def _layers(parameters: Parameters) -> tuple[list[tuple[Array, Array]], Array]:
    """Return the weight matrix (width, before) and the bias (width, 1) of each hidden layer, and
    the weights (1, before) of the output."""
    weights, biases = (np.asarray(vector(parameters, key)) for key in ("weights", "biases"))
    before, layers = len(vector(parameters, "centres")), []
    for width in (int(w) for w in vector(parameters, "widths")):
        layers.append((weights[: width * before].reshape(width, before), biases[:width, None]))
        weights, biases, before = weights[width * before :], biases[width:], width
    return layers, np.asarray(vector(parameters, "output"))[None, :]


def _product(matrix: Array, rows: Array) -> Array:
    """Return ``matrix @ rows`` summed in one order; a library's depends on the processor."""
    total = np.asarray(matrix[:, :1] * rows[0])
    part = np.empty_like(total)  # one for all: a new one each time costs as much as the product
    for column, row in zip(matrix.T[1:], rows[1:], strict=True):
        np.multiply(column[:, None], row, out=part)
        total += part
    return total


def _network(parameters: Parameters, z: Sequence[Array]) -> Array:
    """Return the output of the network for inputs ``z`` on the common scale, shape (n,)."""
    hidden = np.stack([np.atleast_1d(column) for column in np.broadcast_arrays(*z)])
    layers, last = _layers(parameters)
    for matrix, bias in layers:
        hidden = tanh(_product(matrix, hidden) + bias)
    return np.asarray(_product(last, hidden)[0])


def neural_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``b + gain * output . tanh(... tanh(W z + c) ...)``, cut off; z standardised."""
    output = _network(parameters, standardise(parameters, columns))
    return cut_off(scalar(parameters, "bias") + scalar(parameters, "gain") * output)


def neural_slope(parameters: Parameters, column: Array) -> Array:
    """Return ``neural_mean``'s derivative in the only raw parent, (n,), 0 where cut off."""
    z = standardise(parameters, [np.atleast_1d(column)])
    hidden, slope = np.stack(z), np.ones((1, len(z[0])))
    layers, last = _layers(parameters)
    for matrix, bias in layers:
        hidden = tanh(_product(matrix, hidden) + bias)
        slope = _product(matrix, slope) * (1.0 - hidden * hidden)
    gain, output = scalar(parameters, "gain"), _product(last, hidden)[0]
    inside = np.abs(scalar(parameters, "bias") + gain * output) < LOCATION_LIMIT
    total = gain * _product(last, slope)[0]
    return np.where(inside, total / vector(parameters, "scales")[0], 0.0)
