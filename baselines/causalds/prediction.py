"""Predicting an outcome: linear or logistic regression against gradient boosting, by cross-fitting.

Intervals come from out-of-fold residuals (cross-conformal, Vovk 2015), not from the fit itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from baselines.causalds.regression import Term, fit, is_binary, make_basis, predict, term_ladder
from baselines.release import FloatArray

FOLDS: Final = 3
_BOOSTING: Final = {"max_iter": 60, "learning_rate": 0.1, "max_leaf_nodes": 8, "random_state": 0}
_BOOSTING_ROWS: Final = 4000
"""Cross-validation of the boosting model uses at most this many rows; the final fit uses all."""

Columns = Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predictions and central interval bounds for the held-out rows, each of shape (rows,)."""

    prediction: FloatArray
    lower: FloatArray
    upper: FloatArray


def forecast(
    train: Columns,
    y: FloatArray,
    test: Columns,
    alpha: float,
    rng: np.random.Generator,
    core: Sequence[str] | None = None,
) -> Forecast:
    """Predict ``y`` from every column, by the model with the least cross-validated squared error.

    Regressions have squares and products of the columns ``core`` (all where None) at most: a wide
    table of measurements has too many.

    Binary outcomes get probabilities, and as interval the 0/1 range that the interval score
    favours; continuous ones the conditional mean and conformal bounds at level ``alpha``.
    """
    binary = is_binary(y)
    ladder = terms_of(train, core)
    folds = rng.permutation(np.arange(len(y)) % FOLDS)
    candidates: dict[str, FloatArray] = {}
    for k, terms in enumerate(ladder):
        candidates[f"regression/{k}"] = _cross_fit(train, y, folds, terms, binary)
    if train and len(y) <= _BOOSTING_ROWS * 10:
        candidates["boosting"] = _cross_boost(train, y, folds, binary)
    errors = {name: float(np.nanmean((y - out) ** 2)) for name, out in candidates.items()}
    best = min(errors, key=lambda name: errors[name])
    out = candidates[best]
    if best == "boosting":
        point = _boost(train, y, test, binary)
    else:
        point = _regress(train, y, test, ladder[int(best.rsplit("/", 1)[1])], binary)
    if binary:
        return Forecast(np.clip(point, 0, 1), *_binary_bounds(point, alpha))
    known = np.isfinite(out)
    return Forecast(point, *_conformal(train, y, out, known, test, point, alpha))


def terms_of(train: Columns, core: Sequence[str] | None) -> list[list[Term]]:
    """The ladder of the core columns, and its steps again with the other columns beside them."""
    if core is None or len(core) == len(train):
        return term_ladder(train)
    ladder = term_ladder({name: train[name] for name in core})
    rest: list[Term] = [(name,) for name in train if name not in core]
    return [*ladder, *(terms + rest for terms in ladder)]


def _regress(
    train: Columns, y: FloatArray, test: Columns, terms: list[tuple[str, ...]], binary: bool
) -> FloatArray:
    basis = make_basis(train, terms)
    beta = fit(basis(train), y, np.ones((1, len(y))), binary)
    return np.asarray(predict(basis(test), beta, binary)[0])


def _cross_fit(
    train: Columns, y: FloatArray, folds: FloatArray, terms: list[tuple[str, ...]], binary: bool
) -> FloatArray:
    """Out-of-fold predictions, all folds in one batch: a fold's weights are zero in its own fit."""
    design = make_basis(train, terms)(train)
    weights = (folds[None, :] != np.arange(FOLDS)[:, None]).astype(float)
    means = predict(design, fit(design, y, weights, binary), binary)
    return np.asarray(means[folds.astype(int), np.arange(len(y))])


def _cross_boost(train: Columns, y: FloatArray, folds: FloatArray, binary: bool) -> FloatArray:
    out = np.full(len(y), np.nan)
    used = np.arange(len(y)) < _BOOSTING_ROWS
    for fold in range(FOLDS):
        rest, held = used & (folds != fold), used & (folds == fold)
        parts = ({name: v[rows] for name, v in train.items()} for rows in (rest, held))
        out[held] = _boost(next(parts), y[rest], next(parts), binary)
    return out


def _boost(train: Columns, y: FloatArray, test: Columns, binary: bool) -> FloatArray:
    # Imported where it is needed: it takes a second.
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    features, held = (np.column_stack([part[name] for name in train]) for part in (train, test))
    if not binary:
        return np.asarray(HistGradientBoostingRegressor(**_BOOSTING).fit(features, y).predict(held))
    if np.ptp(y) == 0:
        return np.full(len(held), y[0])
    model = HistGradientBoostingClassifier(**_BOOSTING).fit(features, y)
    return np.asarray(model.predict_proba(held)[:, 1])


def _binary_bounds(p: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The interval score is linear in each bound, so the best bounds are 0 or 1.

    A miss costs 2/α, so a side is given up only where its outcome has probability below α/2.
    """
    return np.where(p > 1 - alpha / 2, 1.0, 0.0), np.where(p < alpha / 2, 0.0, 1.0)


def _conformal(
    train: Columns,
    y: FloatArray,
    out: FloatArray,
    known: FloatArray,
    test: Columns,
    point: FloatArray,
    alpha: float,
) -> tuple[FloatArray, FloatArray]:
    """Bounds from out-of-fold residual quantiles, scaled where the spread varies with features.

    The scale is a log-linear regression of the absolute residual; it is used where it makes the
    interval score on the out-of-fold residuals at least 1% better than equal width.
    """
    rows = {name: values[known] for name, values in train.items()}
    residual = (y - out)[known]
    options: list[tuple[float, FloatArray, FloatArray]] = []
    for scale, held in (
        (np.ones_like(residual), np.ones_like(point)),
        _scales(rows, residual, test),
    ):
        low, high = np.quantile(residual / scale, [alpha / 2, 1 - alpha / 2])
        score = _interval_score(residual, low * scale, high * scale, alpha)
        options.append((score, point + low * held, point + high * held))
    plain, scaled = options
    return scaled[1:] if scaled[0] < 0.99 * plain[0] else plain[1:]


def _scales(rows: Columns, residual: FloatArray, test: Columns) -> tuple[FloatArray, FloatArray]:
    terms = term_ladder(rows)[0]
    basis = make_basis(rows, terms)
    target = np.log(np.abs(residual) + 1e-3 * residual.std() + 1e-12)
    beta = fit(basis(rows), target, np.ones((1, len(residual))), False)
    inside, held = (np.exp(np.clip(beta @ basis(part).T, -20, 20))[0] for part in (rows, test))
    middle = float(np.median(inside))
    return np.clip(inside / middle, 0.2, 5), np.clip(held / middle, 0.2, 5)


def _interval_score(y: FloatArray, low: FloatArray, high: FloatArray, alpha: float) -> float:
    """Mean interval score (Gneiting & Raftery 2007, Eq. 43)."""
    miss = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return float(np.mean(high - low + 2 / alpha * miss))
