"""Direct and deductive tasks: numbers, and the two reasons why there may be none."""

from fractions import Fraction
from typing import Any

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
