"""The scorers of CausalDS (Tables 8-10, Eq. 1, A.9): exact matches, numbers, intervals, sets.

Predictions are scored from their files (:mod:`grader.tracks.causalds.prediction`).
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from grader.answers.check import with_known_labels
from grader.io.jsonio import clip
from grader.io.names import known_name, normal_label, normal_name
from grader.scoring.model import Mark, Truth
from grader.scoring.shape import Task


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


def interval_score(lower: float, upper: float, target: float, alpha: float) -> float:
    """The interval score of Gneiting & Raftery (2007, eq. 43); lower is better, 0 is perfect."""
    below = lower - target if target < lower else 0.0
    above = target - upper if target > upper else 0.0
    return (upper - lower) + 2.0 / alpha * (below + above)


def point(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """NRelErr = |answer - target| / (1 + |target|)."""
    target = numeric_target(truth)
    error = abs(float(answer[task.shape.field]) - target)
    return Mark("abs_error", value=error, loss=error / (1 + abs(target)))


def effect_point(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """A point, with its plain relative error beside it (Table 9), unless the effect is 0."""
    mark = point(task, truth, answer)
    target = numeric_target(truth)
    error = abs(float(answer[task.shape.field]) - target)
    return replace(mark, extra={"relative_error": error / abs(target) if target else None})


def effect_interval(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """NRelIS = interval score / (1 + |target|); the point estimate itself is not scored."""
    target = numeric_target(truth)
    lower, upper = float(answer["ci_lower"]), float(answer["ci_upper"])
    score = interval_score(lower, upper, target, float(task.inputs["alpha"]))
    return Mark(
        "interval_score",
        value=score,
        loss=score / (1 + abs(target)),
        coverage=float(lower <= target <= upper),
        width=upper - lower,
        extra={"normalised_width": (upper - lower) / (1 + abs(target))},
    )


def numeric_target(truth: Truth) -> float:
    """The truth's value; an identifiable numeric task without one is a broken release."""
    if truth.value is None:
        raise ValueError(f"task {truth.task_id}: identifiable, but the truth has no value")
    return truth.value


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
    given, target = (_unordered_pairs(ends, nodes) for ends in (pairs, truth.target["edges"]))
    return _f1_mark(given, target, chain.from_iterable(pairs), nodes)


def _unordered_pairs(
    pairs: Iterable[Iterable[str]], nodes: Iterable[str]
) -> frozenset[frozenset[str]]:
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
