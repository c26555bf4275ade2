"""Edges and sets of variables, by F1 or as a whole (CausalDS A.9)."""

from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any

from grader.model import Mark, Truth
from grader.names import normal_label, normal_name
from grader.shape import Task
from grader.tracks.causalds.labels import count_as_wrong, exact, unknown_names


def f1(answer: frozenset[Hashable], target: frozenset[Hashable]) -> float:
    """F1 = 2|A ∩ B| / (|A| + |B|); 1 when both are empty."""
    if not answer and not target:
        return 1.0
    return 2 * len(answer & target) / (len(answer) + len(target))


def directed_edges(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over (cause, effect) pairs; an unknown name makes its edge a wrong member."""
    given = frozenset((normal_name(e["from"]), normal_name(e["to"])) for e in answer["edges"])
    target = frozenset((normal_name(a), normal_name(b)) for a, b in truth.target["edges"])
    return _f1_mark(given, target, chain.from_iterable(given), truth.target["nodes"])


def undirected_edges(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over unordered pairs; a pair of a variable with itself says nothing and is left out."""
    given = _unordered((pair["a"], pair["b"]) for pair in answer["skeleton_edges"])
    target = _unordered(truth.target["edges"])
    return _f1_mark(given, target, chain.from_iterable(given), truth.target["nodes"])


def _unordered(pairs: Iterable[Iterable[str]]) -> frozenset[frozenset[str]]:
    named = (_names(pair) for pair in pairs)
    return frozenset(pair for pair in named if len(pair) == 2)


def listed_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over a set of sets of variables; a sentinel is right or wrong as a whole."""
    given = answer[task.shape.field]
    if (right := _as_a_word(given, truth)) is not None:
        return Mark("f1", value=float(right), loss=float(not right))
    members = frozenset(_names(entry) for entry in given)
    target = frozenset(_names(entry) for entry in truth.target["sets"])
    return _f1_mark(members, target, chain.from_iterable(members), task.inputs["available"])


def listed_names(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over a set of variables; a sentinel is right or wrong as a whole."""
    given = answer[task.shape.field]
    if (right := _as_a_word(given, truth)) is not None:
        return Mark("f1", value=float(right), loss=float(not right))
    members = _names(given)
    target = _names(truth.target["names"])
    return _f1_mark(members, target, members, task.inputs["available"])


def one_of_the_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right if the listed variables are one of the true sets, or the sentinel is the right one."""
    given = answer[task.shape.field]
    if (right := _as_a_word(given, truth)) is not None:
        return exact(right)
    members = _names(given)
    valid = {_names(entry) for entry in truth.target["sets"]}
    unknown = unknown_names(members, task.inputs["available"])
    return exact(members in valid, count_as_wrong(unknown))


def _as_a_word(given: object, truth: Truth) -> bool | None:
    """Whether the category is right where either side gives a word in place of a list."""
    category = normal_label(given) if isinstance(given, str) else "set"
    right: str = truth.target["category"]
    return None if category == right == "set" else category == right


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(normal_name(name) for name in names)


def _f1_mark(
    given: frozenset[Any], target: frozenset[Any], named: Iterable[str], known: Iterable[str]
) -> Mark:
    """F1 with its parts; ``named`` are the normalised names that occur in the answer."""
    unknown = unknown_names(named, known)
    shared = len(given & target)
    score = f1(given, target)
    return Mark(
        "f1",
        value=score,
        loss=1 - score,
        extra={
            "precision": shared / len(given) if given else 0.0,
            "recall": shared / len(target) if target else 0.0,
            "unknown_names": len(unknown),
        },
        message=count_as_wrong(unknown),
    )
