"""Effects from data once the graph says how: back-door and front-door formulas.

Every estimator is a nested regression. Let ``Q(x, z)`` be a regression of the outcome, linear or
logistic by its kind:

* back-door (Pearl 2009, Theorem 3.3.2): ``δ_i = Q(x1, z_i) − Q(x0, z_i)``; the ATE is the mean of
  δ, the ETT at X = x1 is ``E[δ | X = x1]``: the mean over the treated, or, for a continuous
  treatment, a regression of δ on X read off at x1 (no bandwidth, no model of the covariates);
* front-door (Theorem 3.3.4): ``g_i = Σ_x' P(x') Q(x', m_i)``, averaged over the treatment's
  distribution, is regressed on X, and the ATE is the difference of that regression at x1 and x0.
  For the ETT ``g_i = Q(x1, m_i)``: P(M | do(x)) is P(M | x), and the units with X = x1 keep their
  own back-door path.

All run over B sets of weights at once; the weights are a Bayesian bootstrap (Rubin 1981), whose
first row is all ones and gives the point estimate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from baselines.regression import (
    Basis,
    Term,
    fit,
    is_binary,
    make_basis,
    predict,
    select_basis,
    term_ladder,
)
from baselines.release import FloatArray

REPLICATES: Final = 200
_GRID: Final = 15
_NORMAL_975: Final = 1.959963984540054
_WIDEN: Final = 1.1
"""Intervals are this much wider than the bootstrap says: the model was chosen on the same rows."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """From X = x0 to X = x1, on outcome Y; ``treated``: among the units with X = x1."""

    x: str
    y: str
    x0: float
    x1: float
    treated: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point and its 95% interval."""

    value: float
    low: float
    high: float


ZERO: Final = Estimate(0.0, 0.0, 0.0)
"""What a graph without a directed path says: exactly nothing."""

Columns = Mapping[str, FloatArray]


def bootstrap_weights(rng: np.random.Generator, n: int, replicates: int = REPLICATES) -> FloatArray:
    """Weights of shape (replicates + 1, n) with mean one; the first row is the sample itself."""
    weights = rng.standard_exponential((replicates + 1, n))
    weights /= weights.mean(axis=1, keepdims=True)
    weights[0] = 1.0
    return weights


def backdoor(
    data: Columns, contrast: Contrast, covariates: Sequence[str], weights: FloatArray
) -> Estimate:
    """The effect by standardisation over ``covariates`` (any valid adjustment set)."""
    x, y = data[contrast.x], data[contrast.y]
    columns = {contrast.x: x} | {name: data[name] for name in covariates}
    q = _Outcome.of(columns, y, contrast.x, weights)
    delta = q.at({contrast.x: contrast.x1}) - q.at({contrast.x: contrast.x0})
    if not contrast.treated:
        return _summary(_mean(delta, weights))
    if is_binary(x):
        return _summary(_mean(delta, weights * (x == contrast.x1)))
    if np.ptp(delta[0]) < 1e-12:
        return _summary(delta[:, 0])
    return _summary(_regress(x, delta, weights, [contrast.x1])[:, 0])


def unadjusted_guess(
    data: Columns, contrast: Contrast, covariates: Sequence[str], weights: FloatArray
) -> Estimate:
    """Standardisation where the graph asks for a formula this module does not have.

    Biased in general, so the interval is three times as wide as the bootstrap says.
    """
    guess = backdoor(data, contrast, covariates, weights)
    half = 3 * (guess.high - guess.value)
    return Estimate(guess.value, guess.value - half, guess.value + half)


def frontdoor(
    data: Columns, contrast: Contrast, mediators: Sequence[str], weights: FloatArray
) -> Estimate:
    """The effect by the front-door formula through ``mediators``."""
    x, y = data[contrast.x], data[contrast.y]
    columns = {contrast.x: x} | {name: data[name] for name in mediators}
    q = _Outcome.of(columns, y, contrast.x, weights)
    if contrast.treated:
        g = q.at({contrast.x: contrast.x1})
    elif is_binary(x):
        p = _mean(np.broadcast_to(x, weights.shape), weights)[:, None]
        g = p * q.at({contrast.x: 1.0}) + (1 - p) * q.at({contrast.x: 0.0})
    else:
        levels = np.quantile(x, (np.arange(_GRID) + 0.5) / _GRID)
        g = np.mean([q.at({contrast.x: float(level)}) for level in levels], axis=0)
    ends = _regress(x, g, weights, [contrast.x1, contrast.x0])
    return _summary(ends[:, 0] - ends[:, 1])


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A fitted regression of the outcome: basis, coefficients (B, p), and its own columns."""

    basis: Basis
    beta: FloatArray
    columns: Columns
    logistic: bool

    @staticmethod
    def of(columns: Columns, y: FloatArray, focus: str, weights: FloatArray) -> "_Outcome":
        logistic = is_binary(y)
        basis = select_basis(columns, y, logistic, focus)
        return _Outcome(basis, fit(basis(columns), y, weights, logistic), columns, logistic)

    def at(self, fixed: Mapping[str, float]) -> FloatArray:
        """Conditional means with some columns held at a value, shape (B, n)."""
        columns = {
            name: np.full_like(values, fixed[name]) if name in fixed else values
            for name, values in self.columns.items()
        }
        return predict(self.basis(columns), self.beta, self.logistic)


def _regress(
    x: FloatArray, g: FloatArray, weights: FloatArray, points: Sequence[float]
) -> FloatArray:
    """E[g | X] at ``points``, shape (B, len(points)), for responses g of shape (B, n).

    Terms and link (identity or logistic) are those of least BIC. A logistic curve suits what
    levels off in the tails of X, which would bend a polynomial in the middle.
    """
    low, span = g.min(axis=1, keepdims=True), np.ptp(g, axis=1)[:, None]
    if low.min() >= 0 and (low + span).max() <= 1:  # probabilities: the scale has its own ends
        low, span = np.zeros_like(low), np.ones_like(span)
    span = np.where(span > 1e-12, span, 1.0)
    response = (g - low) / span
    columns = {"x": x}
    options = [(terms, link) for terms in term_ladder(columns, "x") for link in (False, True)]
    terms, logistic = min(
        options, key=lambda option: _bic(columns, option[0], response[0], option[1])
    )
    basis = make_basis(columns, terms)
    beta = fit(basis(columns), response, weights, logistic)
    ends = predict(basis({"x": np.asarray(points, dtype=float)}), beta, logistic)
    return np.asarray(low + span * ends)


def _bic(columns: Columns, terms: Sequence[Term], y: FloatArray, logistic: bool) -> float:
    design = make_basis(columns, terms)(columns)
    mean = predict(design, fit(design, y, np.ones((1, len(y))), logistic), logistic)[0]
    residual = float(np.mean((y - mean) ** 2)) + 1e-12
    return len(y) * float(np.log(residual)) + len(terms) * float(np.log(len(y)))


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted means over rows, shape (B,)."""
    return np.asarray((values * weights).sum(axis=1) / weights.sum(axis=1))


def _summary(values: FloatArray) -> Estimate:
    """Point from the first replicate, normal interval from the spread of the others."""
    half = _WIDEN * _NORMAL_975 * float(values[1:].std())
    value = float(values[0])
    return Estimate(value, value - half, value + half)
