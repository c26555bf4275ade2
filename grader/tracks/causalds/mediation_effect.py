"""Natural direct and indirect effects (CausalDS Table 10)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds import numbers
from grader.tracks.causalds.labels import exact_answer


def effect_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The NDE or NIE that the task names."""
    return numbers.effect_point(task, truth, answer)


def effect_uq_95(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """A central 95% interval for it; the point estimate itself is not scored."""
    return numbers.effect_interval(task, truth, answer)


def sign_only(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Its sign; "0" is the label of an effect of exactly 0."""
    return exact_answer(task, truth, answer)


def direct_vs_indirect_dominance(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Which of |NDE| and |NIE| is larger, or "tie"."""
    return exact_answer(task, truth, answer)
