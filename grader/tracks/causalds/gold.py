"""The right answers to causalds tasks, by shape of the answer."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grader.io.jsonio import pretty
from grader.model import Task, Truth

Members = dict[str, Any]


def gold_answer(task: Task, truth: Truth) -> str:
    """The text of the answer file that scores 1 point; intervals have zero width."""
    if task.spec.suffix == ".csv":
        return _csv(task, truth)
    if truth.should_abstain:
        return pretty({task.spec.field: task.spec.abstention})
    return pretty(_MEMBERS.get(task.spec.shape, _accepted)(task, truth))


def _csv(task: Task, truth: Truth) -> str:
    assert truth.labels is not None
    bounds = 2 if task.spec.pool == "nrel_interval" else 0
    header = ",".join(["prediction", "lower", "upper"][: 1 + bounds])
    rows = (",".join([repr(label)] * (1 + bounds)) for label in truth.labels)
    return "\n".join([header, *rows]) + "\n"


def _accepted(task: Task, truth: Truth) -> Members:
    return {task.spec.field: truth.target["accepted"][0]}


def _signs(task: Task, truth: Truth) -> Members:
    before, after = truth.target["accepted_before"][0], truth.target["accepted_after"][0]
    return {"sign_before": before, "sign_after": after}


def _number(task: Task, truth: Truth) -> Members:
    return {task.spec.field: truth.value}


def _interval(task: Task, truth: Truth) -> Members:
    return dict.fromkeys((task.spec.field, "ci_lower", "ci_upper"), truth.value)


def _edges(task: Task, truth: Truth) -> Members:
    return {"edges": [{"from": a, "to": b} for a, b in truth.target["edges"]]}


def _skeleton(task: Task, truth: Truth) -> Members:
    return {"skeleton_edges": [{"a": a, "b": b} for a, b in truth.target["edges"]]}


def _one_set(task: Task, truth: Truth) -> Members:
    category, sets = truth.target["category"], truth.target["sets"]
    return {task.spec.field: sets[0] if category == "set" else category}


def _sets(task: Task, truth: Truth) -> Members:
    category = truth.target["category"]
    return {task.spec.field: truth.target["sets"] if category == "set" else category}


def _names(task: Task, truth: Truth) -> Members:
    category = truth.target["category"]
    return {task.spec.field: truth.target["names"] if category == "set" else category}


_MEMBERS: Final[Mapping[str, Callable[[Task, Truth], Members]]] = {
    "signs_before_after": _signs,
    "value": _number,
    "delta": _number,
    "ate": _number,
    "effect_value": _number,
    "ate_interval": _interval,
    "effect_interval": _interval,
    "edges": _edges,
    "skeleton_edges": _skeleton,
    "adjustment_set": _one_set,
    "adjustment_sets": _sets,
    "forbidden": _names,
}
"""Shape of the answer to the members of a right one; the rest have a set of accepted answers."""
