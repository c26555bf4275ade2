"""Linear and logistic regression for many sets of weights at once, and predictions by it.

A bootstrap is then a handful of matrix products: with weights of shape (B, n) every fit returns
coefficients of shape (B, p). A response may itself differ between replicates, shape (B, n).

An outcome is predicted by regression or by gradient boosting, whichever cross-fitting prefers.
Intervals come from out-of-fold residuals (cross-conformal, Vovk 2015), not from the fit itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Final

import numpy as np
from scipy.special import expit

from baselines.taking import FloatArray

Term = tuple[str, ...]
"""A product of columns: ``()`` the intercept, ``("a",)``, ``("a", "a")``, ``("a", "b")``."""

_NEWTON_STEPS: Final = 25
_TOLERANCE: Final = 1e-5
_ALL_CUBIC: Final = 4
_RIDGE: Final = 1e-6
_LOGISTIC_RIDGE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Basis:
    """Products of standardised columns; ``centre`` and ``scale`` hold each column's constants."""

    terms: tuple[Term, ...]
    centre: Mapping[str, float]
    scale: Mapping[str, float]

    def __call__(self, columns: Mapping[str, FloatArray]) -> FloatArray:
        """The design matrix, shape (n, p), of columns of shape (n,)."""
        n = max((len(values) for values in columns.values()), default=1)
        ready = {
            name: (values - self.centre[name]) / self.scale[name]
            for name, values in columns.items()
            if name in self.centre
        }
        design = np.ones((n, len(self.terms)))
        for j, term in enumerate(self.terms):
            for name in term:
                design[:, j] *= ready[name]
        return design


def make_basis(columns: Mapping[str, FloatArray], terms: Sequence[Term]) -> Basis:
    """A basis of ``terms``; two-valued columns are left as they are, others standardised."""
    centre, scale = {}, {}
    for name, values in columns.items():
        binary = is_binary(values)
        centre[name] = 0.0 if binary else float(values.mean())
        scale[name] = 1.0 if binary else float(values.std()) or 1.0
    return Basis(tuple(terms), centre, scale)


def is_binary(values: FloatArray) -> bool:
    """Whether a column holds nothing but 0 and 1."""
    return bool(np.all((values == 0) | (values == 1)))


def term_ladder(columns: Mapping[str, FloatArray], focus: str | None = None) -> list[list[Term]]:
    """Sets of terms from simple to rich: linear, squares, products with ``focus``, pairs, cubic.

    ``focus`` (the treatment) also gets a cube, as effects may bend between its two levels.
    """
    names = list(columns)
    linear: list[Term] = [(), *((name,) for name in names)]
    squares: list[Term] = [(name, name) for name in names if not is_binary(columns[name])]
    pairs: list[Term] = list(combinations(names, 2))
    ladder = [linear, linear + squares]
    if focus in names:
        bend: list[Term] = [] if is_binary(columns[focus]) else [(focus,) * 2, (focus,) * 3]
        with_focus = [pair for pair in pairs if focus in pair]
        ladder += [linear + bend, linear + with_focus]
        ladder += [linear + squares + [term for term in bend if term not in squares] + with_focus]
    ladder.append(linear + squares + pairs)
    ladder.append(linear + squares + pairs + _cubic(columns, focus))
    return list({tuple(sorted(terms)): terms for terms in ladder}.values())


def _cubic(columns: Mapping[str, FloatArray], focus: str | None) -> list[Term]:
    """Products of three columns: all of a few columns, of many only cubes and those with focus."""
    binary = {name for name in columns if is_binary(columns[name])}
    return [
        term
        for term in combinations_with_replacement(columns, 3)
        if (len(columns) <= _ALL_CUBIC or focus in term or len(set(term)) == 1)
        and all(term.count(name) == 1 for name in binary & set(term))
    ]


def fit(design: FloatArray, y: FloatArray, weights: FloatArray, logistic: bool) -> FloatArray:
    """Weighted coefficients, shape (B, p); ``y`` is (n,) or (B, n), ``weights`` (B, n).

    Logistic fits accept any response in [0, 1] (quasi-likelihood) and carry a slight ridge, so
    that separated data give finite coefficients.
    """
    if not logistic:
        return _solve(design, weights, np.broadcast_to(y, weights.shape) * weights, _RIDGE)
    y = np.broadcast_to(y, weights.shape)
    beta = np.zeros((1, design.shape[1]))
    start = np.clip((weights[0] * y[0]).sum() / weights[0].sum(), 1e-3, 1 - 1e-3)
    intercept = np.argmax(np.all(design == 1, axis=0))
    beta[:, intercept] = np.log(start / (1 - start))
    beta = _newton(design, y[:1], weights[:1], beta)
    if len(weights) == 1:
        return beta
    # The other sets of weights are draws around the first, and so are their coefficients.
    return np.concatenate([beta, _newton(design, y[1:], weights[1:], beta)])


def _newton(
    design: FloatArray, y: FloatArray, weights: FloatArray, start: FloatArray
) -> FloatArray:
    """Penalised maximum likelihood from ``start``, shape (1, p)."""
    beta = np.repeat(start, len(weights), axis=0)
    for _ in range(_NEWTON_STEPS):
        mean = expit(beta @ design.T)
        gradient = (weights * (y - mean)) @ design - _LOGISTIC_RIDGE * beta
        hessian = _gram(design, weights * np.maximum(mean * (1 - mean), 1e-6))
        hessian += (_LOGISTIC_RIDGE + _RIDGE) * np.eye(design.shape[1])
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        beta = beta + np.clip(step, -4, 4)
        if np.abs(step).max() < _TOLERANCE:
            break
    return beta


def predict(design: FloatArray, beta: FloatArray, logistic: bool) -> FloatArray:
    """Conditional means, shape (B, n), of coefficients (B, p)."""
    linear = beta @ design.T
    return expit(linear) if logistic else linear


def select_basis(
    columns: Mapping[str, FloatArray], y: FloatArray, logistic: bool, focus: str | None = None
) -> Basis:
    """The basis of :func:`term_ladder` with the lowest BIC (Schwarz 1978)."""
    ones = np.ones((1, len(y)))
    best: tuple[float, Basis] | None = None
    for terms in term_ladder(columns, focus):
        basis = make_basis(columns, terms)
        design = basis(columns) if columns else np.ones((len(y), 1))
        mean = predict(design, fit(design, y, ones, logistic), logistic)[0]
        score = deviance(y, mean, logistic) + len(terms) * np.log(len(y))
        if best is None or score < best[0]:
            best = (float(score), basis)
    assert best is not None
    return best[1]


def deviance(y: FloatArray, mean: FloatArray, logistic: bool) -> float:
    """Minus twice the log likelihood, up to a constant: Gaussian or Bernoulli."""
    if logistic:
        p = np.clip(mean, 1e-9, 1 - 1e-9)
        return float(-2 * (y * np.log(p) + (1 - y) * np.log(1 - p)).sum())
    return float(len(y) * np.log(np.mean((y - mean) ** 2) + 1e-300))


def _solve(
    design: FloatArray, weights: FloatArray, weighted: FloatArray, ridge: float
) -> FloatArray:
    gram = _gram(design, weights) + ridge * np.eye(design.shape[1])
    return np.asarray(np.linalg.solve(gram, (weighted @ design)[:, :, None])[:, :, 0])


def _gram(design: FloatArray, weights: FloatArray) -> FloatArray:
    """``X' W_b X`` for every row of weights, shape (B, p, p)."""
    n, p = design.shape
    products = (design[:, :, None] * design[:, None, :]).reshape(n, p * p)
    return (weights @ products).reshape(-1, p, p)


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
        basis = make_basis(train, ladder[int(best.rsplit("/", 1)[1])])
        beta = fit(basis(train), y, np.ones((1, len(y))), binary)
        point = np.asarray(predict(basis(test), beta, binary)[0])
    if binary:
        # The interval score is linear in each bound, so the best bounds are 0 or 1. A miss costs
        # 2/α, so a side is given up only where its outcome has probability below α/2.
        lower = np.where(point > 1 - alpha / 2, 1.0, 0.0)
        return Forecast(np.clip(point, 0, 1), lower, np.where(point < alpha / 2, 0.0, 1.0))
    return Forecast(point, *_conformal(train, y - out, test, point, alpha))


def terms_of(train: Columns, core: Sequence[str] | None) -> list[list[Term]]:
    """The ladder of the core columns, and its steps again with the other columns beside them."""
    if core is None or len(core) == len(train):
        return term_ladder(train)
    ladder = term_ladder({name: train[name] for name in core})
    rest: list[Term] = [(name,) for name in train if name not in core]
    return [*ladder, *(terms + rest for terms in ladder)]


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


def _conformal(
    train: Columns, residual: FloatArray, test: Columns, point: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds from out-of-fold residual quantiles, scaled where the spread varies with features.

    The scale is a log-linear regression of the absolute residual; it is used where it makes the
    interval score on the out-of-fold residuals at least 1% better than equal width.
    """
    known = np.isfinite(residual)
    rows, residual = {name: values[known] for name, values in train.items()}, residual[known]
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
