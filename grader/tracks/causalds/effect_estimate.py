"""The average treatment effect (CausalDS Table 9)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds.labels import exact_answer
from grader.tracks.causalds.numbers import effect_interval, effect_point


def ate_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The ATE."""
    return effect_point(task, truth, answer)


def ate_uq_95(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """A central 95% interval for it; the point estimate itself is not scored."""
    return effect_interval(task, truth, answer)


def ate_sign_only(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Its sign; "0" is the label of an ATE of exactly 0."""
    return exact_answer(task, truth, answer)


def ate_vs_assoc_sign_match(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Whether it has the sign of the association."""
    return exact_answer(task, truth, answer)
