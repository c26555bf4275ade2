"""The classifier of the leak test, and its permutation test in closed form.

A row's score for a class is what the disclosures tell, the share of the class among all rows with
equal disclosures, plus what everything else adds: kernel ridge regression of the class indicators
less those shares. Its k-fold predictions are *linear* in the labels. Write H = (K + lambda I)^-1
for the kernel matrix K of all n rows. Leaving out the rows B gives y_B - (H_BB)^-1 (H y)_B, the
block form of the leave-one-out identity of ridge regression (Wahba 1990, section 4.2), so that one
inverse serves every fold and every permutation.

Accuracy is that of answering each class in proportion to its score. Taking the largest score
instead is an accuracy that does not notice small changes of a score: on 400 scenes it overlooks
what this one finds (the number of sentences of a story, where it hangs on the graph).

Permuting the block "everything else" among rows with equal disclosures leaves the shares as they
are, and is therefore the same as permuting the labels among those rows: the held-out predictions
of all permutations are one matrix product. Folds belong to the rows of the permuted block and are
drawn without looking at labels, so the permutation test stays exact (Phipson & Smyth 2010,
p = (1 + b)/(1 + N)). As the shares count a row's own label, in every permutation alike, accuracies
are for comparison with each other; they are no estimate of what a guesser would reach.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
import scipy  # whose parts are imported when asked for
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Family = Sequence[Floats]
"""One kind of "everything else": features, each a matrix of shape (n, p_i)."""

FOLDS: Final = 10
RIDGES: Final = (0.5, 5.0)
"""Ridge penalties, for kernels whose mean diagonal is about one per block."""
BATCH: Final = 500
"""Permutations that are judged together."""
MODELS: Final = 8
"""Matrices held at once."""
TIE: Final = 1e-9
"""Standardised accuracies this close are equal: a verdict must not hang on a library's last bit."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A permutation test. ``accuracy`` and ``permuted_mean`` are balanced accuracies in [0, 1]."""

    accuracy: float
    permuted_mean: float
    permutations: int
    p: float


def encode(values: Sequence[object]) -> tuple[Ints, tuple[object, ...]]:
    """Labels as codes 0..c-1, shape (n,), and the sorted distinct labels."""
    names = sorted(set(values), key=str)
    index = {name: code for code, name in enumerate(names)}
    return np.array([index[value] for value in values], dtype=np.int64), tuple(names)


def numeric(values: Sequence[float], bins: int = 5) -> Floats:
    """A number as features of total variance one: its z-score and the indicators of its quantiles.

    The indicators let the linear classifier see what is not monotone. Shape (n, <= 1 + bins).
    """
    column = np.asarray(values, dtype=np.float64)
    if len(column) == 0 or np.ptp(column) == 0:
        return np.zeros((len(column), 0))
    cuts = np.unique(np.quantile(column, np.linspace(0, 1, bins + 1)[1:-1], method="higher"))
    scaled = (column - column.mean()) / column.std()
    binned = categorical(np.searchsorted(cuts, column, side="right").tolist())
    return np.hstack([scaled[:, None] * np.sqrt(0.5), binned * np.sqrt(0.5)])


def categorical(values: Sequence[object]) -> Floats:
    """Centred indicators of a category, scaled to total variance one; shape (n, categories)."""
    codes, names = encode(values)
    if len(names) < 2:
        return np.zeros((len(codes), 0))
    indicators = np.eye(len(names))[codes]
    centred = indicators - indicators.mean(axis=0)
    return np.asarray(centred / np.sqrt((centred**2).sum() / len(codes)))


class Smoothers:
    """The held-out prediction matrices M, each (n, n): predictions are ``M @ residuals``.

    One for all families together and one for each family, at each ridge penalty, and one for each
    single feature: a weak leak in one digit of one id drowns when sixty features share one
    penalty. ``strata``, shape (n,), number the rows' disclosures. A matrix is worked out when its
    turn comes, and again by another pass: a hundred of them are as large as a small release.
    """

    def __init__(self, strata: Ints, families: Sequence[Family], rng: np.random.Generator) -> None:
        self._strata = strata
        self._families = [[feature for feature in family if feature.any()] for family in families]
        self._folds = rng.permutation(np.arange(len(strata)) % min(FOLDS, len(strata)))

    def __iter__(self) -> Iterator[Floats]:
        same = (self._strata[:, None] == self._strata[None, :]).astype(np.float64)
        for gram, ridge in self._settings():
            # The product with `same` lets a feature mean one thing for a scene of three variables
            # and another for a scene of five.
            yield _hold_out(gram + 0.5 * gram * same, ridge, self._folds)

    def _settings(self) -> Iterator[tuple[Floats, float]]:
        """Kernels and penalties."""
        wholes = [
            np.asarray(sum(map(_gram, family))) / len(family) for family in self._families if family
        ]
        if len(wholes) > 1:
            wholes.append(np.add.reduce(wholes))
        for whole in wholes:
            yield from ((whole, ridge) for ridge in RIDGES)
        for family in self._families:
            if len(family) > 1:
                yield from ((_gram(feature), RIDGES[0]) for feature in family)


def permutation_test(
    models: Iterable[Floats],
    labels: Ints,
    strata: Ints,
    permutations: int,
    rng: np.random.Generator,
) -> Tested:
    """Compare the held-out accuracy with itself under ``permutations`` draws within ``strata``.

    Each model's accuracy is standardised by its own mean and standard deviation over all draws,
    the data among them, and the largest standardised accuracy is the statistic, for the data and
    for each permutation alike: models differ much in how far chance takes them. Reported is the
    accuracy of the model that stands out most.

    The accuracy is *balanced*, the mean over classes of the accuracy within the class: most facts
    are unbalanced, and plain accuracy would hide a leak of the rare class behind the frequent one.
    """
    shares = _shares(labels, strata)
    blocks = [labels[:, None], *_permuted(labels, strata, permutations, rng)]
    waiting, rows = iter(models), []
    while some := list(islice(waiting, MODELS)):
        rows.append(np.hstack([_accuracies(some, block, shares) for block in blocks]))
    accuracies = np.vstack(rows)
    means, spreads = accuracies.mean(axis=1), accuracies.std(axis=1)
    scale = np.where(spreads > 1e-12, spreads, np.inf)
    standardised = (accuracies - means[:, None]) / scale[:, None]
    statistic = standardised.max(axis=0)
    exceeding = int((statistic[1:] >= statistic[0] - TIE).sum())
    most = int(standardised[:, 0].argmax())
    return Tested(
        float(accuracies[most, 0]),
        float(accuracies[most, 1:].mean()),
        permutations,
        (1 + exceeding) / (1 + permutations),
    )


def _gram(features: Floats) -> Floats:
    """Linear kernel with mean diagonal one; zero for a block without features."""
    gram = np.asarray(features @ features.T)
    mean = float(np.trace(gram)) / max(len(gram), 1)
    return gram / mean if mean > 0 else gram


def _hold_out(kernel: Floats, ridge: float, folds: Ints) -> Floats:
    inverse = _inverse(kernel, ridge)
    smoother = np.zeros_like(kernel)
    for fold in range(int(folds.max()) + 1):
        held = np.flatnonzero(folds == fold)
        rows = inverse[held]
        # The block is small and well conditioned: its inverse takes a tenth of the time of solving
        # for as many right sides as there are rows.
        smoother[held] = -np.linalg.inv(rows[:, held]) @ rows
        smoother[np.ix_(held, held)] = 0.0  # exactly: a held-out row never sees its own fold
    return smoother


def _inverse(kernel: Floats, ridge: float) -> Floats:
    """(K + ridge I)^-1: Cholesky's factor and the inverse from it take a third of the time of a
    general inverse."""
    shifted = kernel.copy()
    shifted[np.diag_indices_from(shifted)] += ridge
    # LAPACK stores columns and reads one triangle: of a symmetric matrix it can take the transpose,
    # and write over it, without a copy.
    factor, failed = scipy.linalg.lapack.dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)
    half, singular = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed or singular:
        raise ValueError("a kernel with its ridge is positive definite, and this one is not")
    return np.asarray(np.where(np.tri(len(half), dtype=bool), half, half.T))


def _permuted(
    labels: Ints, strata: Ints, permutations: int, rng: np.random.Generator
) -> Iterator[NDArray[np.integer[Any]]]:
    """Blocks of label columns, each (n, <= BATCH), permuted among rows of equal stratum."""
    home = np.argsort(strata, kind="stable")
    for start in range(0, permutations, BATCH):
        size = min(BATCH, permutations - start)
        keys = strata[:, None] + rng.random((len(labels), size))
        block = np.empty((len(labels), size), dtype=np.int16)
        block[home] = labels[np.argsort(keys, axis=0)]
        yield block


def _shares(labels: Ints, strata: Ints) -> Floats:
    """Share of each class among the rows of the same stratum, shape (n, classes)."""
    indicators = np.eye(int(labels.max()) + 1)[labels]
    sums = np.zeros((int(strata.max()) + 1, indicators.shape[1]))
    np.add.at(sums, strata, indicators)
    return np.asarray((sums / sums.sum(axis=1, keepdims=True).clip(min=1))[strata])


def _accuracies(
    models: Sequence[Floats], block: NDArray[np.integer[Any]], shares: Floats
) -> Floats:
    """Balanced accuracy of each model for each column of ``block``, shape (models, columns)."""
    columns = block.shape[1]
    classes = shares.shape[1]
    weights = 1.0 / (classes * shares.sum(axis=0))
    told = float((weights * shares**2).sum())
    # Residuals add up to zero over the classes: the last one needs no product of its own, and a
    # row of the last class counts the other predictions negatively.
    residuals = np.hstack([(block == c) - shares[:, c : c + 1] for c in range(classes - 1)])
    last = (block == classes - 1) * weights[-1]
    counted = np.hstack([(block == c) * weights[c] - last for c in range(classes - 1)])
    accuracies = np.empty((len(models), columns))
    for number, model in enumerate(models):
        added = np.einsum("ij,ij->j", model @ residuals, counted)
        accuracies[number] = told + added.reshape(classes - 1, columns).sum(axis=0)
    return accuracies
