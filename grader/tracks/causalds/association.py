"""Association between treatment and outcome (CausalDS Table 8)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds.labels import exact, exact_answer, exact_name, is_accepted
from grader.tracks.causalds.numbers import point


def sign_only(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The sign of the correlation; "unknown" is the label of a correlation of exactly 0."""
    return exact_answer(task, truth, answer)


def effect_size_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The correlation."""
    return point(task, truth, answer)


def sign_before_after(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Both signs, each from a set of its own; which variable is named again is not looked at."""
    before = is_accepted(answer["sign_before"], truth.target["accepted_before"])
    after = is_accepted(answer["sign_after"], truth.target["accepted_after"])
    return exact(before and after)


def delta_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The partial correlation minus the correlation."""
    return point(task, truth, answer)


def delta_sign_only(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The sign of that difference; "0" is the label of one of exactly 0."""
    return exact_answer(task, truth, answer)


def argmax_change(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The candidate that changes the association most, by its name."""
    return exact_name(task, truth, answer)
