"""Exact matches (CausalDS Tables 8-10, metric "Exact"): right or wrong, nothing between."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from grader.io.jsonio import clip
from grader.model import Mark, Truth
from grader.names import known_name, normal_label, normal_name
from grader.shape import Task
from grader.submission.check import with_known_labels


def exact(right: bool, message: str = "") -> Mark:
    """Value 1 and loss 0 if ``right``, else value 0 and loss 1."""
    return Mark("exact", value=float(right), loss=float(not right), message=message)


def exact_answer(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right if the answer's field holds one of the accepted labels, booleans or numbers."""
    return exact(is_accepted(answer[task.shape.field], truth.target["accepted"]))


def with_both_signs(task: Task, document: dict[str, Any]) -> dict[str, Any]:
    """The document with known labels in both of its signs."""
    return with_known_labels(task, document, "sign_before", "sign_after")


def both_signs(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Both signs, each from a set of its own; which variable is named again is not looked at."""
    before = is_accepted(answer["sign_before"], truth.target["accepted_before"])
    after = is_accepted(answer["sign_after"], truth.target["accepted_after"])
    return exact(before and after)


def is_accepted(given: object, accepted: Iterable[object]) -> bool:
    """Whether ``given`` is in the set: labels without case and padding, true is not 1."""
    return _comparable(given) in {_comparable(value) for value in accepted}


def _comparable(value: object) -> tuple[bool, object]:
    if isinstance(value, str):
        return False, normal_label(value)
    return isinstance(value, bool), value


def exact_name(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right if the answer's field names one of the accepted variables.

    A truth marked ``verbatim`` accepts names only as they are written there.
    """
    given, accepted = answer[task.shape.field], truth.target["accepted"]
    if truth.target.get("verbatim"):
        return exact(given in accepted)
    right = reader(task.inputs["candidates"])(given) in {normal_name(name) for name in accepted}
    return exact(right, count_as_wrong(unknown_names([given], task.inputs["candidates"])))


def reader(names: Iterable[str]) -> Callable[[str], str]:
    """How an answer's spelling of ``names`` is read: as the normal name that it spells."""
    return partial(known_name, known=frozenset(map(normal_name, names)))


def unknown_names(given: Iterable[str], known: Iterable[str]) -> list[str]:
    """The names of ``given``, as they are read, that are none of ``known``; sorted."""
    listed = list(known)
    return sorted(set(map(reader(listed), given)) - set(map(normal_name, listed)) - {""})


def count_as_wrong(unknown: list[str]) -> str:
    """What a score row says of unknown names: they are wrong members, none is guessed at."""
    return f"unknown names count as wrong: {clip(unknown, 200)}" if unknown else ""
