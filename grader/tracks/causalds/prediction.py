"""Held-out prediction (CausalDS Eq. 1, Table 8 and A.9). Sums are exact (``fmean``)."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import compress
from operator import sub
from statistics import fmean

from grader.scoring.model import Mark, Predictions, Truth
from grader.scoring.shape import Task
from grader.tracks.causalds.scoring import interval_score


def point_predictor(task: Task, truth: Truth, answer: Predictions) -> Mark:
    """Mark predictions by RMSE/(1+sd) for a continuous outcome, sqrt(Brier)/(1+sd) for a binary
    one.

    A binary prediction is clipped to [0, 1] for the Brier score and to [1e-6, 1-1e-6] for the log
    loss; AUC ranks predictions as given.
    """
    labels = truth.labels or ()
    if truth.target["kind"] == "binary":
        return _binary(labels, answer.prediction, float(truth.target["sd"]))
    errors = [p - y for p, y in zip(answer.prediction, labels, strict=True)]
    # hypot scales internally, so a prediction of 1e200 gives a huge loss instead of an overflow
    rmse = math.hypot(*errors) / math.sqrt(len(errors))
    sd = float(truth.target["sd"])
    return Mark(
        "rmse",
        value=rmse,
        loss=rmse / (1 + sd),
        extra={
            "mae": _bounded_mean([abs(error) for error in errors]),
            "r2": 1 - (rmse / sd) ** 2 if sd > 0 and rmse / sd < 1e150 else None,
        },
    )


def _binary(labels: Sequence[float], predictions: Sequence[float], sd: float) -> Mark:
    """Mark probabilities by sqrt(Brier)/(1+sd); the value is AUC, or Brier with one class."""
    clipped = _clip_all(predictions, 0.0, 1.0)
    brier = fmean([(p - y) ** 2 for p, y in zip(clipped, labels, strict=True)])
    inner = _clip_all(predictions, 1e-6, 1 - 1e-6)
    log_loss = -fmean(
        [math.log(p if y == 1.0 else 1 - p) for p, y in zip(inner, labels, strict=True)]
    )
    loss = math.sqrt(brier) / (1 + sd)
    extra = {"brier": brier, "log_loss": log_loss}
    auc = area_under_roc(labels, predictions)
    if auc is None:
        return Mark("brier", value=brier, loss=loss, extra=extra)
    return Mark("auc", value=auc, loss=loss, extra={**extra, "auc": auc})


def _clip_all(values: Sequence[float], low: float, high: float) -> list[float]:
    """Return the values cut to ``low`` .. ``high``."""
    return [low if x < low else high if x > high else x for x in values]


def area_under_roc(labels: Sequence[float], scores: Sequence[float]) -> float | None:
    """Return the ROC AUC, ties at half; None when one class is absent."""
    is_positive = [label == 1.0 for label in labels]
    positives = list(compress(scores, is_positive))
    negatives = sorted(compress(scores, [not own for own in is_positive]))
    if not positives or not negatives:
        return None
    halves = sum(bisect_left(negatives, s) + bisect_right(negatives, s) for s in positives)
    return halves / 2 / (len(positives) * len(negatives))


def prediction_interval(task: Task, truth: Truth, answer: Predictions) -> Mark:
    """Mark intervals by the mean interval score over the held-out rows / (1 + sd)."""
    alpha = float(task.inputs["alpha"])
    rows = list(zip(answer.lower, answer.upper, truth.labels or (), strict=True))
    score = _bounded_mean([interval_score(lower, upper, y, alpha) for lower, upper, y in rows])
    width = _bounded_mean(list(map(sub, answer.upper, answer.lower)))
    sd = float(truth.target["sd"])
    return Mark(
        "interval_score",
        value=score,
        loss=score / (1 + sd),
        coverage=sum([lower <= y <= upper for lower, upper, y in rows]) / len(rows),
        width=width,
        extra={"normalised_width": width / (1 + sd)},
    )


def _bounded_mean(values: Sequence[float]) -> float:
    """Return the mean, or the largest double where the sum is beyond it (bounds like ±1e308)."""
    largest = math.nextafter(math.inf, 0.0)
    try:
        plain = fmean(values)
        return plain if plain < math.inf else fmean(min(value, largest) for value in values)
    except OverflowError:
        return largest


def check_labels(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` unless there is one held-out label for each row to predict."""
    count, rows = len(truth.labels or ()), task.inputs["rows"]
    if count != rows:
        raise ValueError(f"column values of its labels: {count} of {rows} labels")
