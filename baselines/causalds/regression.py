"""Linear and logistic regression for many sets of weights at once, and predictions by it.

A bootstrap is then a handful of matrix products: with weights of shape (B, n) every fit returns
coefficients of shape (B, p). A response may itself differ between replicates, shape (B, n).

An outcome is predicted by regression or by gradient boosting, whichever cross-fitting prefers.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any, Final

import numpy as np
from scipy.special import expit

from baselines.exam import FloatArray

Columns = Mapping[str, FloatArray]

Term = tuple[str, ...]
"""A product of columns: ``()`` the intercept, ``("a",)``, ``("a", "a")``, ``("a", "b")``."""

_NEWTON_STEPS: Final = 25
_TOLERANCE: Final = 1e-5
_FEW: Final = 4
"""Columns up to which all products of three are tried."""
_RIDGE: Final = 1e-6
_LOGISTIC_RIDGE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Basis:
    """Columns of a design, products of columns standardised by (mean, spread) ``moments``."""

    terms: tuple[Term, ...]
    moments: Mapping[str, tuple[float, float]]

    def __call__(self, columns: Columns) -> FloatArray:
        """Return the design matrix, shape (n, terms), of columns of shape (n,)."""
        ready = {name: (columns[name] - mean) / sd for name, (mean, sd) in self.moments.items()}
        design = np.ones((len(next(iter(ready.values()))), len(self.terms)))
        for j, term in enumerate(self.terms):
            for name in term:
                design[:, j] *= ready[name]
        return design


def make_basis(columns: Columns, terms: Sequence[Term]) -> Basis:
    """Return a basis of ``terms``; two-valued columns are left as they are, others standardised."""
    moments = {
        name: (0.0, 1.0) if is_binary(values) else (float(values.mean()), float(values.std()) or 1)
        for name, values in columns.items()
    }
    return Basis(tuple(terms), moments)


def is_binary(values: FloatArray) -> bool:
    """Tell whether a column holds nothing but 0 and 1."""
    return bool(np.all((values == 0) | (values == 1)))


def term_ladder(columns: Columns, focus: str) -> list[list[Term]]:
    """Return sets of terms to choose among, from linear to cubic; each has the intercept.

    ``focus``, the treatment, also gets a cube, as effects may bend between its two levels. Binary
    columns get no powers.
    """
    names = list(columns)
    binary = [name for name in names if is_binary(columns[name])]
    linear: list[Term] = [(), *((name,) for name in names)]
    squares: list[Term] = [(name, name) for name in names if name not in binary]
    pairs: list[Term] = list(combinations(names, 2))
    bend: list[Term] = [] if focus in binary else [(focus,) * 2, (focus,) * 3]
    with_focus = [pair for pair in pairs if focus in pair]
    cubic: list[Term] = [
        term
        for term in combinations_with_replacement(names, 3)
        if (len(names) <= _FEW or focus in term or len(set(term)) == 1)
        and all(term.count(name) <= 1 for name in binary)
    ]
    return [
        linear,
        linear + squares,
        linear + bend,
        linear + with_focus,
        linear + squares + bend[1:] + with_focus,
        linear + squares + pairs,
        linear + squares + pairs + cubic,
    ]


def fit(design: FloatArray, y: FloatArray, weights: FloatArray, logistic: bool) -> FloatArray:
    """Return coefficients (B, p) of regressions of ``y``, (n,) or (B, n), on ``design`` (n, p).

    ``weights`` is (B, n). Logistic fits accept any response in [0, 1] (quasi-likelihood) and carry
    a slight ridge, so that separated data give finite coefficients.
    """
    y = np.broadcast_to(y, weights.shape)
    if not logistic:
        moments = gram(design, weights) + _RIDGE * np.eye(design.shape[1])
        return np.asarray(np.linalg.solve(moments, (y * weights @ design)[:, :, None])[:, :, 0])
    beta = _newton(design, y[:1], weights[:1], np.zeros((1, design.shape[1])))
    if len(weights) == 1:
        return beta
    # The other sets of weights are draws around the first, and so are their coefficients.
    return np.concatenate([beta, _newton(design, y[1:], weights[1:], beta)])


def _newton(
    design: FloatArray, y: FloatArray, weights: FloatArray, start: FloatArray
) -> FloatArray:
    """Return penalised maximum-likelihood coefficients, searched from ``start``, shape (1, p)."""
    beta = np.repeat(start, len(weights), axis=0)
    for _ in range(_NEWTON_STEPS):
        mean = expit(beta @ design.T)
        gradient = (weights * (y - mean)) @ design - _LOGISTIC_RIDGE * beta
        hessian = gram(design, weights * np.maximum(mean * (1 - mean), 1e-6))
        hessian += (_LOGISTIC_RIDGE + _RIDGE) * np.eye(design.shape[1])
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        beta = beta + np.clip(step, -4, 4)
        if np.abs(step).max() < _TOLERANCE:
            break
    return beta


def predict(design: FloatArray, beta: FloatArray, logistic: bool) -> FloatArray:
    """Return conditional means (B, n), probabilities if ``logistic``, from (n, p) and (B, p)."""
    linear = beta @ design.T
    return expit(linear) if logistic else linear


def select_terms(
    columns: Columns, y: FloatArray, links: Sequence[bool], focus: str
) -> tuple[tuple[Term, ...], bool]:
    """Return terms of :func:`term_ladder`, and link (True: logistic), of least BIC."""
    binary, ones = is_binary(y), np.ones((1, len(y)))

    def score(option: tuple[list[Term], bool]) -> float:
        terms, logistic = option
        design = make_basis(columns, terms)(columns)
        mean = predict(design, fit(design, y, ones, logistic), logistic)[0]
        return deviance(y, mean, binary) + len(terms) * float(np.log(len(y)))

    options = [(terms, link) for terms in term_ladder(columns, focus) for link in links]
    terms, logistic = min(options, key=score)
    return tuple(terms), logistic


def deviance(y: FloatArray, mean: FloatArray, logistic: bool) -> float:
    """Return -2 log likelihood + constant: Bernoulli if ``logistic``, else best Gaussian."""
    if logistic:
        p = np.clip(mean, 1e-9, 1 - 1e-9)
        return float(-2 * (y * np.log(p) + (1 - y) * np.log(1 - p)).sum())
    return float(len(y) * np.log(np.mean((y - mean) ** 2) + 1e-12))


def gram(design: FloatArray, weights: FloatArray) -> FloatArray:
    """Return ``X' W_b X`` for every row of weights, shape (B, p, p)."""
    n, p = design.shape
    products = (design[:, :, None] * design[:, None, :]).reshape(n, p * p)
    return (weights @ products).reshape(-1, p, p)


FOLDS: Final = 3
_BOOSTING: Final = {"max_iter": 60, "learning_rate": 0.1, "max_leaf_nodes": 8, "random_state": 0}


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predictions and interval bounds for the held-out rows, each of shape (rows,)."""

    prediction: FloatArray
    lower: FloatArray
    upper: FloatArray


def forecast(
    train: Columns, y: FloatArray, test: Columns, alpha: float, core: Collection[str]
) -> Forecast:
    """Predict an outcome in the rows ``test`` by the model of least cross-validated squared error.

    ``y`` is the outcome in the rows ``train``; both tables hold the same predictors. Squares and
    products are of the columns ``core``, as a wide table of measurements has too many. Binary
    outcomes get probabilities, and as interval the 0/1 range that the interval score favours;
    continuous ones the conditional mean and bounds at level ``alpha`` by quantiles of out-of-fold
    residuals (cross-conformal, Vovk 2015).
    """
    # Imported where it is needed: it takes a second.
    from sklearn.model_selection import KFold, cross_val_predict

    inside, held = (np.column_stack([part[name] for name in train]) for part in (train, test))
    binary = is_binary(y)
    if np.ptp(y) == 0:
        point = np.full(len(held), y[0])
        return Forecast(point, point, point)
    method = "predict_proba" if binary else "predict"
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    tried: list[tuple[float, FloatArray, Any]] = []
    for model in _models([k for k, name in enumerate(train) if name in core], binary):
        out = cross_val_predict(model, inside, y, cv=folds, method=method)
        out = out[:, -1] if binary else out
        tried.append((float(np.mean((y - out) ** 2)), y - out, model))
    _, residual, model = min(tried, key=lambda one: one[0])
    point = getattr(model.fit(inside, y), method)(held)
    if not binary:
        low, high = np.quantile(residual, [alpha / 2, 1 - alpha / 2])
        return Forecast(point, point + low, point + high)
    point = point[:, -1]
    # The interval score is linear in each bound, so the best bounds are 0 or 1. A miss costs
    # 2/α, so a side is given up only where its outcome has probability below α/2.
    lower = np.where(point > 1 - alpha / 2, 1.0, 0.0)
    return Forecast(point, lower, np.where(point < alpha / 2, 0.0, 1.0))


def _models(core: list[int], binary: bool) -> Iterator[Any]:
    """Yield regressions of degree 1 and 2 in ``core`` columns (3 if they are few), and boosting."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    for degree in range(1, 4 if len(core) <= _FEW else 3):
        terms = make_column_transformer(
            (PolynomialFeatures(degree, include_bias=False), core), remainder="passthrough"
        )
        last = LogisticRegression(C=1e3, max_iter=200) if binary else LinearRegression()
        yield make_pipeline(StandardScaler(), terms, last)
    boosting = HistGradientBoostingClassifier if binary else HistGradientBoostingRegressor
    yield boosting(**_BOOSTING)
