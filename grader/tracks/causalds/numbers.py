"""Scalar estimates and intervals (CausalDS Eq. 1 and the interval score of A.9)."""

from dataclasses import replace
from typing import Any

from grader.model import Mark, Truth
from grader.shape import Task


def interval_score(lower: float, upper: float, target: float, alpha: float) -> float:
    """The interval score of Gneiting & Raftery (2007, eq. 43); lower is better, 0 is perfect."""
    below = lower - target if target < lower else 0.0
    above = target - upper if target > upper else 0.0
    return (upper - lower) + 2.0 / alpha * (below + above)


def point(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """NRelErr = |answer - target| / (1 + |target|)."""
    target = numeric_target(truth)
    error = abs(float(answer[task.shape.field]) - target)
    return Mark("abs_error", value=error, loss=error / (1 + abs(target)))


def effect_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """A point, with its plain relative error beside it (Table 9), unless the effect is 0."""
    mark = point(task, truth, answer)
    target = numeric_target(truth)
    error = abs(float(answer[task.shape.field]) - target)
    return replace(mark, extra={"relative_error": error / abs(target) if target else None})


def effect_interval(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """NRelIS = interval score / (1 + |target|); the point estimate itself is not scored."""
    target = numeric_target(truth)
    lower, upper = float(answer["ci_lower"]), float(answer["ci_upper"])
    score = interval_score(lower, upper, target, float(task.inputs["alpha"]))
    return Mark(
        "interval_score",
        value=score,
        loss=score / (1 + abs(target)),
        coverage=float(lower <= target <= upper),
        width=upper - lower,
        extra={"normalised_width": (upper - lower) / (1 + abs(target))},
    )


def numeric_target(truth: Truth) -> float:
    """The truth's value; an identifiable numeric task without one is a broken release."""
    if truth.value is None:
        raise ValueError(f"task {truth.task_id}: identifiable, but the truth has no value")
    return truth.value
