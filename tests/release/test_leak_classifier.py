"""The closed forms of the leak test against the long way round."""

from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from builder.gate.leak.classifier import (
    FOLDS,
    RIDGES,
    Smoothers,
    categorical,
    encode,
    numeric,
    permutation_test,
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """As in the gate; small matrices also run faster so."""
    with threadpool_limits(1):
        yield


def _gram(features: np.ndarray) -> np.ndarray:
    gram = features @ features.T
    return gram / (np.trace(gram) / len(gram))


def test_held_out_predictions_are_those_of_a_model_fitted_without_the_fold() -> None:
    """A wrong identity would let a row see its own label: every release would seem to leak."""
    rng = np.random.default_rng(3)
    features, labels = rng.normal(size=(60, 8)), rng.normal(size=60)
    strata = np.arange(60) % 4
    models = Smoothers(strata, [(features,)], np.random.default_rng(5))
    folds = np.random.default_rng(5).permutation(np.arange(60) % FOLDS)
    same = strata[:, None] == strata[None, :]
    kernel = _gram(features) * (1 + 0.5 * same)
    for model, ridge in zip(models, RIDGES, strict=True):
        for fold in range(FOLDS):
            out = folds == fold
            inner = kernel[np.ix_(~out, ~out)] + ridge * np.eye(int((~out).sum()))
            expected = kernel[np.ix_(out, ~out)] @ np.linalg.solve(inner, labels[~out])
            assert (model @ labels)[out] == pytest.approx(expected, abs=1e-9)


def test_permuting_labels_within_strata_equals_permuting_everything_else() -> None:
    """The test is stated for permuted features; its speed rests on permuting labels instead."""
    rng = np.random.default_rng(7)
    n = 40
    strata, labels = np.arange(n) % 4, rng.normal(size=n)
    features = rng.normal(size=(n, 5))
    moved = np.arange(n)
    for stratum in range(4):
        rows = np.flatnonzero(strata == stratum)
        moved[rows] = rng.permutation(rows)
    # Row i gets the features of row moved[i]; its fold belongs to the features and moves along.
    folds = np.random.default_rng(1).permutation(np.arange(n) % FOLDS)
    same = strata[:, None] == strata[None, :]
    kernel = _gram(features[moved]) * (1 + 0.5 * same)
    expected = np.empty(n)
    for fold in range(FOLDS):
        out = folds[moved] == fold
        inner = kernel[np.ix_(~out, ~out)] + RIDGES[0] * np.eye(int((~out).sum()))
        expected[out] = kernel[np.ix_(out, ~out)] @ np.linalg.solve(inner, labels[~out])
    model = next(iter(Smoothers(strata, [(features,)], np.random.default_rng(1))))
    assert (model @ labels[np.argsort(moved)])[moved] == pytest.approx(expected, abs=1e-9)


def test_p_values_are_uniform_when_nothing_leaks() -> None:
    """Too many small p-values would refuse honest releases, too few would hide leaks."""
    p_values = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 60
        strata, labels = rng.integers(0, 5, n), rng.integers(0, 3, n)
        features = tuple(numeric(rng.normal(size=n).tolist()) for _ in range(4))
        models = Smoothers(strata, [features], rng)
        p_values.append(permutation_test(models, labels, strata, 99, rng).p)
    assert 0.38 < np.mean(p_values) < 0.62
    assert np.mean(np.array(p_values) <= 0.1) < 0.25


@pytest.mark.parametrize("share", [1.0, 0.35])
def test_a_category_that_follows_the_label_is_found(share: float) -> None:
    """A leak in one digit of one id, in a third of the rows, must not drown among honest digits."""
    rng = np.random.default_rng(11)
    n = 250
    labels = np.arange(n) % 7
    digits = rng.integers(0, 16, (n, 16))
    leaking = rng.random(n) < share
    digits[leaking, 4] = labels[leaking]
    family = tuple(categorical(column.tolist()) for column in digits.T)
    strata = rng.integers(0, 6, n)
    models = Smoothers(strata, [family], rng)
    assert permutation_test(models, labels, strata, 199, rng).p == pytest.approx(1 / 200)


def test_accuracy_is_the_mean_score_of_the_true_class_balanced_over_classes() -> None:
    """The shortcut that saves the last class its own product must not change the number."""
    rng = np.random.default_rng(4)
    n = 30
    labels, strata = np.arange(n) % 3, np.zeros(n, dtype=np.int64)
    labels[:5] = 0
    family = (rng.normal(size=(n, 2)),)
    models = [next(iter(Smoothers(strata, [family], np.random.default_rng(0))))]
    tested = permutation_test(models, labels, strata, 5, rng)
    indicators = np.eye(3)[labels]
    scores = indicators.mean(axis=0) + models[0] @ (indicators - indicators.mean(axis=0))
    by_class = [scores[labels == label, label].mean() for label in range(3)]
    assert tested.accuracy == pytest.approx(np.mean(by_class), abs=1e-12)


def test_a_fact_that_the_strata_determine_cannot_be_found_leaking() -> None:
    """What the disclosures tell is allowed: permutations then change nothing, and p is 1."""
    rng = np.random.default_rng(2)
    strata = np.arange(40) % 2
    family = (rng.normal(size=(40, 3)),)
    models = Smoothers(strata, [family], rng)
    assert permutation_test(models, strata, strata, 50, rng).p == 1.0


def test_features_are_centred_and_weigh_the_same() -> None:
    """A feature with a larger scale would silence the others under one ridge penalty."""
    rng = np.random.default_rng(1)
    for feature in (
        numeric((1000 * rng.normal(size=50)).tolist()),
        categorical(rng.integers(0, 9, 50).tolist()),
    ):
        assert feature.mean(axis=0) == pytest.approx(0, abs=1e-12)
        assert (feature**2).sum() / 50 == pytest.approx(1)
    assert numeric([2.0] * 5).shape == (5, 0)
    assert categorical(["a"] * 5).shape == (5, 0)


def test_labels_are_coded_in_sorted_order() -> None:
    """Codes by order of appearance would make ties depend on the order of rows."""
    codes, names = encode(["b", "a", "b", "c"])
    assert codes.tolist() == [1, 0, 1, 2]
    assert names == ("a", "b", "c")
