"""Estimators of effects: the back-door, front-door and mediation formulas by nested regression.

Every estimator is a nested regression. Let ``Q(x, z)`` be a regression of the outcome, linear or
logistic by its kind:

* back-door (Pearl 2009, Theorem 3.3.2): ``δ_i = Q(x1, z_i) − Q(x0, z_i)``; the ATE is the mean of
  δ, the ETT at X = x1 is ``E[δ | X = x1]``: the mean over the treated, or, for a continuous
  treatment, a regression of δ on X read off at x1 (no bandwidth, no model of the covariates);
* front-door (Theorem 3.3.4): ``g_i = Σ_x' P(x') Q(x', m_i)``, averaged over the treatment's
  distribution, is regressed on X, and the ATE is the difference of that regression at x1 and x0.
  For the ETT ``g_i = Q(x1, m_i)``: P(M | do(x)) is P(M | x), and the units with X = x1 keep their
  own back-door path;
* mediation (Pearl 2001, Theorem 2), with covariates C: the NDE is the mean over C of
  ``E[Q(x1, M, C) − Q(x0, M, C) | x0, C]``, the NIE that of the difference of
  ``E[Q(x0, M, C) | x, C]`` at x1 and x0.

All run over B sets of weights at once and return B draws of the effect. The weights are a Bayesian
bootstrap (Rubin 1981), whose first row is all ones and gives the point estimate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from baselines.causalds.regression import (
    Basis,
    Columns,
    Term,
    fit,
    is_binary,
    make_basis,
    predict,
    select_terms,
)
from baselines.exam import FloatArray, ShownScene

REPLICATES: Final = 100
_GRID: Final = 15
NORMAL_975: Final = 1.959963984540054
_WIDEN: Final = 1.75
"""Intervals are this much wider than the bootstrap says: the model was chosen on the same rows, and
no polynomial is the true mechanism."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two levels of a treatment X, x0 and x1; ``treated`` compares Y among units with x1 only."""

    x: str
    y: str
    x0: float
    x1: float
    treated: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate, its standard error, and the ends of its 95% interval."""

    value: float
    error: float
    low: float
    high: float


ZERO: Final = Estimate(0.0, 0.0, 0.0, 0.0)
"""The effect in a graph without a directed path."""

Chosen = dict[str, tuple[tuple[Term, ...], bool]]
"""Terms and link (logistic or not) of each regression of an estimator, once they are chosen.

An estimator that is given what an earlier call on other rows chose fits the same models again.
"""

Estimator = Callable[[Columns, FloatArray, Chosen], FloatArray]
"""(columns of shape (n,), weights (B, n), models chosen before) -> draws (B,)."""


def bootstrap_weights(rng: np.random.Generator, n: int, replicates: int = REPLICATES) -> FloatArray:
    """Return Bayesian bootstrap weights (replicates + 1, n) of mean 1, the first row all ones."""
    weights = rng.standard_exponential((replicates + 1, n))
    weights /= weights.mean(axis=1, keepdims=True)
    weights[0] = 1.0
    return weights


def backdoor(
    contrast: Contrast,
    covariates: Sequence[str],
    data: Columns,
    weights: FloatArray,
    chosen: Chosen,
) -> FloatArray:
    """Return draws (B,) of the ATE, ETT if ``treated``, standardised over ``covariates``."""
    x = data[contrast.x]
    q = _regress(contrast.x, covariates, data, data[contrast.y], weights, chosen)
    delta = q.means_at(contrast.x1) - q.means_at(contrast.x0)
    if not contrast.treated:
        return _mean(delta, weights)
    if is_binary(x):
        return _mean(delta, weights * (x == contrast.x1))
    if np.ptp(delta[0]) < 1e-12:
        return np.asarray(delta[:, 0])
    return _regress(contrast.x, (), data, delta, weights, chosen).means_at(contrast.x1)[:, 0]


def frontdoor(
    contrast: Contrast, mediators: Sequence[str], data: Columns, weights: FloatArray, chosen: Chosen
) -> FloatArray:
    """Return draws (B,) of the ATE, ETT if ``treated``, by the front door of ``mediators``."""
    x = data[contrast.x]
    q = _regress(contrast.x, mediators, data, data[contrast.y], weights, chosen)
    if contrast.treated:
        g = q.means_at(contrast.x1)
    elif is_binary(x):
        p = _mean(np.broadcast_to(x, weights.shape), weights)[:, None]
        g = p * q.means_at(1.0) + (1 - p) * q.means_at(0.0)
    else:
        levels = np.quantile(x, (np.arange(_GRID) + 0.5) / _GRID)
        g = np.mean([q.means_at(float(level)) for level in levels], axis=0)
    rest = _regress(contrast.x, (), data, g, weights, chosen)
    return (rest.means_at(contrast.x1) - rest.means_at(contrast.x0))[:, 0]


def natural_effect(
    contrast: Contrast,
    mediators: Sequence[str],
    covariates: Sequence[str],
    data: Columns,
    weights: FloatArray,
    chosen: Chosen,
    *,
    direct: bool,
) -> FloatArray:
    """Return draws (B,) of the NDE (``direct``) or NIE; covariates must block confounding."""
    others = [*covariates, *mediators]
    q = _regress(contrast.x, others, data, data[contrast.y], weights, chosen)
    low = q.means_at(contrast.x0)
    g = q.means_at(contrast.x1) - low if direct else low
    rest = _regress(contrast.x, covariates, data, g, weights, chosen)
    before = rest.means_at(contrast.x0)
    return _mean(before if direct else rest.means_at(contrast.x1) - before, weights)


def summary(draws: FloatArray, widen: float = 1.0) -> Estimate:
    """Return the estimate from draws (B,), the first its value, and a widened normal interval."""
    error = float(draws[1:].std())
    half = widen * _WIDEN * NORMAL_975 * error
    value = float(draws[0])
    return Estimate(value, error, value - half, value + half)


@dataclass(frozen=True, slots=True)
class _Surface:
    """A regression on ``x`` and other ``columns``, linear or ``logistic``, of (response − ``low``)
    / ``span``; ``beta`` (B, p)."""

    x: str
    basis: Basis
    beta: FloatArray
    columns: Columns
    logistic: bool
    low: FloatArray
    span: FloatArray

    def means_at(self, level: float) -> FloatArray:
        """Return conditional means (B, n) with ``x`` at a level, (B, 1) without other columns."""
        values = self.columns[self.x]
        fixed = np.full_like(values if len(self.columns) > 1 else values[:1], level)
        mean = predict(self.basis({**self.columns, self.x: fixed}), self.beta, self.logistic)
        return np.asarray(self.low + self.span * mean)


def _regress(
    x: str,
    covariates: Sequence[str],
    data: Columns,
    y: FloatArray,
    weights: FloatArray,
    chosen: Chosen,
) -> _Surface:
    """Return the regression of an outcome, (n,), or of predictions of it, (B, n), on ``x`` and
    covariates.

    An outcome has a logistic link if it is binary, predictions the better one: a logistic curve
    suits what levels off in the tails of X, which would bend a polynomial in the middle.
    """
    columns = {name: data[name] for name in (x, *covariates)}
    name, links = "outcome", [is_binary(y)]
    low, span = np.zeros((1, 1)), np.ones((1, 1))
    if y.ndim == 2:
        name, links = "response", [False, True]
        low, span = y.min(axis=1, keepdims=True), np.ptp(y, axis=1)[:, None]
        if low.min() >= 0 and (low + span).max() <= 1:  # probabilities: the scale has its own ends
            low, span = np.zeros_like(low), np.ones_like(span)
        span = np.where(span > 1e-12, span, 1.0)
    scaled = (y - low) / span
    if name not in chosen:
        chosen[name] = select_terms(columns, scaled[0], links, x)
    terms, logistic = chosen[name]
    basis = make_basis(columns, terms)
    beta = fit(basis(columns), scaled, weights, logistic)
    return _Surface(x, basis, beta, columns, logistic, low, span)


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray((values * weights).sum(axis=1) / weights.sum(axis=1))


_MOST_SHIFT: Final = 1.5
"""The correction is at most this multiple of the difference that predictions make."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows an analyst works with.

    ``rows`` has every variable, (n,), those seen through measurements as predicted from them.
    ``known`` has the ``measured`` ones themselves in m calibration rows, (m,), and is empty without
    any; ``places``, (m,), is where those stand among the n. ``corrected`` says whether estimates
    are to use them.
    """

    rows: Mapping[str, FloatArray]
    known: Mapping[str, FloatArray]
    places: FloatArray
    measured: frozenset[str]
    corrected: bool


def tables_of(shown: ShownScene, whole: ShownScene, *, corrected: bool) -> Tables:
    """Return a scene's tables from it as released and (``whole``) with predicted variables."""
    measured = frozenset(name for name in shown.calibration if name not in shown.data)
    if not measured:
        return Tables(whole.data, {}, np.zeros(0, dtype=np.int64), measured, corrected)
    known = {name: shown.calibration[name] for name in whole.data if name in shown.calibration}
    # A calibration row's place is that of the row with the same contents.
    names = sorted(set(shown.data) & set(shown.calibration))
    rows, kept = (
        np.column_stack([table[name] for name in names])
        for table in (shown.data, shown.calibration)
    )
    index = {row.tobytes(): place for place, row in enumerate(rows)}
    places = np.array([index.get(row.tobytes(), 0) for row in kept])
    return Tables(whole.data, known, places, measured, corrected)


def draws(
    tables: Tables, names: frozenset[str], estimator: Estimator, weights: FloatArray
) -> FloatArray:
    """Return draws (B, ...) of ``estimator``, which reads the variables ``names``.

    Normally all rows, with ``weights`` (B, n), are used, with predictions for what is measured.
    Where the tables are ``corrected`` and a name is measured, the honest estimate, on the
    calibration rows, is used instead. Two estimates from predictions, on these rows and on all,
    share their models and show its sampling error, which is taken out by component. Predictions
    hide interactions, so the honest estimator chooses its own models.
    """
    chosen: Chosen = {}
    everywhere = estimator(tables.rows, weights, chosen)
    if not (tables.corrected and names & tables.measured):
        return everywhere
    part = weights[:, tables.places]
    part = part / part.mean(axis=1, keepdims=True)
    predicted = {name: values[tables.places] for name, values in tables.rows.items()}
    honest = estimator(tables.known, part, {})
    noise = estimator(predicted, part, chosen) - everywhere
    # The slope of honest on noise, by component over draws; about 0 where noise is constant.
    centred = noise[1:] - noise[1:].mean(axis=0)
    variance = (centred**2).mean(axis=0)
    covariance = ((honest[1:] - honest[1:].mean(axis=0)) * centred).mean(axis=0)
    slope = covariance / np.where(variance > 1e-18, variance, 1.0)
    return np.asarray(honest - np.clip(slope, 0.0, _MOST_SHIFT) * noise)
