"""Exact matches (CausalDS Tables 8-10, metric "Exact")."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.names import normal_label


def exact_label(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """1 if the label is among the accepted ones, else 0."""
    label = normal_label(answer[task.spec.field])
    right = label in {normal_label(accepted) for accepted in truth.target["accepted"]}
    return Content("exact", value=float(right), loss=float(not right))
