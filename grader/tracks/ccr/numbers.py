"""Direct and deductive tasks: numbers, intervals, and the two reasons why there may be none."""

from fractions import Fraction
from typing import Any, Final

from grader.model import Mark, Truth
from grader.shape import Task
from grader.tracks.ccr.rae import rae, within


def score_quantities(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right when every listed quantity is within the threshold; the value is the worst error."""
    given = answer["quantities"]
    worst, wrong = 0.0, []
    for name, quantity in sorted(truth.target["quantities"].items()):
        exact = float(Fraction(quantity["exact"]))
        if name not in given:
            wrong.append(f"{name} is absent")
            continue
        worst = max(worst, rae(exact, given[name]))
        if not within(exact, given[name]):
            wrong.append(f"{name} is off by {rae(exact, given[name]):.3g} of its value")
    count = len(truth.target["quantities"])
    extra = {"within": count - len(wrong), "listed": count}
    message = "; ".join(wrong) or "every quantity is within 0.1 of its value"
    return Mark("rae", worst, float(bool(wrong)), extra=extra, message=message)


MARGIN: Final = 0.01
"""The largest error of an end of an interval."""


def score_intervals(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right when both ends of every listed interval are; the value is the worst error."""
    given = answer["intervals"]
    worst, wrong = 0.0, []
    for name, interval in sorted(truth.target["intervals"].items()):
        if name not in given:
            wrong.append(f"{name} is absent")
            continue
        ends = (float(Fraction(interval[end])) for end in ("least", "greatest"))
        error = max(abs(told - end) for told, end in zip(given[name], ends, strict=True))
        worst = max(worst, error)
        if error > MARGIN + 1e-12:  # an error of exactly 0.01 must not be lost to rounding
            wrong.append(f"an end of {name} is off by {error:.3g}")
    count = len(truth.target["intervals"])
    extra = {"within": count - len(wrong), "listed": count}
    message = "; ".join(wrong) or "both ends of every interval are within 0.01"
    return Mark("abs_error", worst, float(bool(wrong)), extra=extra, message=message)


def score_deduction(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right when the number is within the threshold, or the word is the right one."""
    given, verdict = answer["value"], truth.target["verdict"]
    if isinstance(given, str) or verdict != "value":
        right = given == verdict
        said = given if isinstance(given, str) else "a number"
        due = "a number follows" if verdict == "value" else f"the givens are {verdict}"
        return Mark("verdict", float(right), float(not right), message=f"{said}; {due}")
    assert truth.value is not None
    error = rae(truth.value, given)
    right = within(truth.value, given)
    message = f"a relative error of {error:.3g}; at most 0.1 is right"
    return Mark("rae", error, float(not right), message=message)
