"""The right answers to causalds tasks, one writer a form; each scores 1 point."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from grader.io.jsonio import pretty_json
from grader.scoring.model import Truth
from grader.scoring.shape import Task

Members = dict[str, Any]


def predictions(task: Task, truth: Truth, *, columns: tuple[str, ...]) -> str:
    """Return a CSV with the held-out labels in each of ``columns``: intervals of no width."""
    assert truth.labels is not None
    return _table(truth.labels, columns)


@lru_cache(maxsize=4)  # the views of a scene have the same labels
def _table(labels: tuple[float, ...], columns: tuple[str, ...]) -> str:
    """Return a CSV with each label in all of ``columns``."""
    rows = (",".join([repr(label)] * len(columns)) for label in labels)
    return "\n".join([",".join(columns), *rows]) + "\n"


def _or_abstention(members: Callable[[Task, Truth], Members]) -> Callable[[Task, Truth], str]:
    """Return a writer of what ``members`` returns as JSON, or of the abstention if due."""

    @wraps(members)
    def write(task: Task, truth: Truth) -> str:
        if truth.should_abstain:
            return pretty_json({task.shape.field: task.shape.abstention})
        return pretty_json(members(task, truth))

    return write


@_or_abstention
def first_accepted(task: Task, truth: Truth) -> Members:
    """Return the first of the accepted answers."""
    return {task.shape.field: truth.target["accepted"][0]}


@_or_abstention
def signs(task: Task, truth: Truth) -> Members:
    """Return the first accepted sign before, and the first after."""
    before, after = truth.target["accepted_before"][0], truth.target["accepted_after"][0]
    return {"sign_before": before, "sign_after": after}


@_or_abstention
def number(task: Task, truth: Truth) -> Members:
    """Return the number that is asked for."""
    return {task.shape.field: truth.value}


@_or_abstention
def interval(task: Task, truth: Truth) -> Members:
    """Return an interval of zero width at the number that is asked for."""
    return dict.fromkeys((task.shape.field, "ci_lower", "ci_upper"), truth.value)


@_or_abstention
def edges(task: Task, truth: Truth) -> Members:
    """Return the hidden graph."""
    return {"edges": [{"from": a, "to": b} for a, b in truth.target["edges"]]}


@_or_abstention
def skeleton(task: Task, truth: Truth) -> Members:
    """Return the hidden graph without directions."""
    return {"skeleton_edges": [{"a": a, "b": b} for a, b in truth.target["edges"]]}


@_or_abstention
def one_set(task: Task, truth: Truth) -> Members:
    """Return the first valid set, or the word for why there is none."""
    found = truth.target["sets"]
    return {task.shape.field: _or_word(truth, found[0] if found else None)}


@_or_abstention
def sets(task: Task, truth: Truth) -> Members:
    """Return all sets that the truth lists, or the word for why there is none."""
    return {task.shape.field: _or_word(truth, truth.target["sets"])}


@_or_abstention
def names(task: Task, truth: Truth) -> Members:
    """Return all forbidden names, or the word for why there is no set."""
    return {task.shape.field: _or_word(truth, truth.target["names"])}


def _or_word(truth: Truth, listed: Any) -> Any:
    """Return ``listed`` if the truth has a list, else its word: ``no_backdoor`` or ``non_id``."""
    category = truth.target["category"]
    return listed if category == "set" else category
