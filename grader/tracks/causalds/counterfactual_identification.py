"""Whether an ETT, NDE or NIE is identifiable (CausalDS Table 10)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds.labels import exact_answer


def identifiable_boolean(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Whether the named estimand is; "no" is the abstention and never gets here."""
    return exact_answer(task, truth, answer)
