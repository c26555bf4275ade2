"""Linear and logistic regression, fitted for many sets of weights at once.

A bootstrap is then a handful of matrix products: with weights of shape (B, n) every fit returns
coefficients of shape (B, p). A response may itself differ between replicates, shape (B, n).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Final

import numpy as np
from scipy.special import expit

from baselines.release import FloatArray

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
    beta[:, intercept] = expit_inverse(start)
    beta = _newton(design, y[:1], weights[:1], beta)
    if len(weights) == 1:
        return beta
    # The other sets of weights are draws around the first, and so are their coefficients.
    return _newton(design, y[1:], weights[1:], beta, first=beta)


def _newton(
    design: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    start: FloatArray,
    first: FloatArray | None = None,
) -> FloatArray:
    """Penalised maximum likelihood from ``start``, shape (1, p); ``first`` is put on top."""
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
    return beta if first is None else np.concatenate([first, beta])


def predict(design: FloatArray, beta: FloatArray, logistic: bool) -> FloatArray:
    """Conditional means, shape (B, n), of coefficients (B, p)."""
    linear = beta @ design.T
    return expit(linear) if logistic else linear


def expit_inverse(p: FloatArray | float) -> FloatArray:
    """Log odds."""
    return np.asarray(np.log(p / (1 - p)))


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
