"""Edges and sets of variables, by F1 or as a whole (CausalDS A.9)."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any

from grader.model import Mark, Truth
from grader.names import normal_label
from grader.shape import Task
from grader.tracks.causalds.labels import count_as_wrong, exact, reader, unknown_names


def f1(answer: frozenset[Hashable], target: frozenset[Hashable]) -> float:
    """F1 = 2|A ∩ B| / (|A| + |B|); 1 when both are empty."""
    if not answer and not target:
        return 1.0
    return 2 * len(answer & target) / (len(answer) + len(target))


def directed_edges(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over (cause, effect) pairs; an unknown name makes its edge a wrong member."""
    nodes = truth.target["nodes"]
    read = reader(nodes)
    ends = [(edge["from"], edge["to"]) for edge in answer["edges"]]
    # A name of brackets alone is no name: the reference leaves its edge out, and so do we.
    given = frozenset((a, b) for a, b in (map(read, pair) for pair in ends) if a and b)
    target = frozenset((read(a), read(b)) for a, b in truth.target["edges"])
    return _f1_mark(given, target, chain.from_iterable(ends), nodes)


def undirected_edges(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over unordered pairs; a pair of a variable with itself says nothing and is left out."""
    nodes = truth.target["nodes"]
    pairs = [(pair["a"], pair["b"]) for pair in answer["skeleton_edges"]]
    given, target = (_unordered(ends, nodes) for ends in (pairs, truth.target["edges"]))
    return _f1_mark(given, target, chain.from_iterable(pairs), nodes)


def _unordered(pairs: Iterable[Iterable[str]], nodes: Iterable[str]) -> frozenset[frozenset[str]]:
    read = reader(nodes)
    named = (frozenset(map(read, pair)) - {""} for pair in pairs)
    return frozenset(pair for pair in named if len(pair) == 2)


def listed_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over a set of sets of variables; a sentinel is right or wrong as a whole."""
    given = answer[task.shape.field]
    if (right := _as_a_word(given, truth)) is not None:
        return Mark("f1", value=float(right), loss=float(not right))
    members, target = _read_sets(given, truth.target["sets"])
    return _f1_mark(members, target, chain.from_iterable(given), task.inputs["available"])


def listed_names(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 over a set of variables; a sentinel is right or wrong as a whole."""
    given = answer[task.shape.field]
    if (right := _as_a_word(given, truth)) is not None:
        return Mark("f1", value=float(right), loss=float(not right))
    read = reader(truth.target["names"])
    members, target = frozenset(map(read, given)), frozenset(map(read, truth.target["names"]))
    return _f1_mark(members, target, given, task.inputs["available"])


def one_of_the_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right if the listed variables are one of the true sets, or the sentinel is the right one."""
    given = answer[task.shape.field]
    if (right := _as_a_word(given, truth)) is not None:
        return exact(right)
    members, valid = _read_sets([given], truth.target["sets"])
    unknown = unknown_names(given, task.inputs["available"])
    return exact(members <= valid, count_as_wrong(unknown))


def _as_a_word(given: object, truth: Truth) -> bool | None:
    """Whether the category is right where either side gives a word in place of a list."""
    category = normal_label(given) if isinstance(given, str) else "set"
    right: str = truth.target["category"]
    return None if category == right == "set" else category == right


Sets = frozenset[frozenset[str]]


def _read_sets(given: Iterable[list[str]], target: Sequence[list[str]]) -> tuple[Sets, Sets]:
    """Both sides' sets; names are read as those that occur in the true ones."""
    read = reader(chain.from_iterable(target))
    answered, true = (
        frozenset(frozenset(map(read, entry)) for entry in sets) for sets in (given, target)
    )
    return answered, true


def _f1_mark(
    given: frozenset[Any], target: frozenset[Any], named: Iterable[str], known: Iterable[str]
) -> Mark:
    """F1 with its parts; ``named`` are the names that occur in the answer, as it spells them."""
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
