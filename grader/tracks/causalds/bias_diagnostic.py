"""Whether an adjustment is biased (CausalDS Table 9)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds.labels import exact_answer
from grader.tracks.causalds.sets import listed_names


def collider_bias_boolean(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Whether conditioning on the named variable opens a path that is not causal."""
    return exact_answer(task, truth, answer)


def forbidden_controls_list(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """F1 over the variables that are in no valid adjustment set."""
    return listed_names(task, truth, answer)
