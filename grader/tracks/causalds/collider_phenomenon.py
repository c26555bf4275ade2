"""What conditioning on a named variable does to an association (CausalDS Table 8)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds.labels import exact_answer
from grader.tracks.causalds.numbers import point


def induced_association_boolean(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Whether the partial correlation differs from 0."""
    return exact_answer(task, truth, answer)


def induced_association_sign_only(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Its sign; "unknown" is the label of a partial correlation of exactly 0."""
    return exact_answer(task, truth, answer)


def induced_association_strength_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The partial correlation."""
    return point(task, truth, answer)
