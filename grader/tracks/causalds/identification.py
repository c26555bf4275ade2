"""Whether and how the ATE is identifiable (CausalDS Table 9)."""

from typing import Any

from grader.model import Content, Task, Truth
from grader.tracks.causalds.labels import exact_answer
from grader.tracks.causalds.sets import listed_sets, one_of_the_sets


def one_valid_adjustment_set(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Any of the valid adjustment sets."""
    return one_of_the_sets(task, truth, answer)


def method_label(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The first label that applies."""
    return exact_answer(task, truth, answer)


def identifiable_boolean(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Whether the ATE is identifiable; "no" is the abstention and never gets here."""
    return exact_answer(task, truth, answer)


def minimal_adjustment_set_size(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The size of the smallest valid adjustment set."""
    return exact_answer(task, truth, answer)


def n_valid_adjustment_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """The number of valid adjustment sets."""
    return exact_answer(task, truth, answer)


def all_minimal_adjustment_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """F1 over the inclusion-minimal valid adjustment sets."""
    return listed_sets(task, truth, answer)
