"""F1 over edges and over sets of variables (CausalDS A.9)."""

from collections.abc import Hashable
from typing import Any

from grader.jsonio import clip
from grader.model import Content, Task, Truth
from grader.names import normal_label, normal_name


def f1(answer: frozenset[Hashable], target: frozenset[Hashable]) -> float:
    """F1 = 2|A ∩ B| / (|A| + |B|); 1 when both are empty."""
    if not answer and not target:
        return 1.0
    return 2 * len(answer & target) / (len(answer) + len(target))


def edges(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """Directed edges in story-name space; an unknown name makes its edge a wrong member."""
    given = frozenset(
        (normal_name(edge["from"]), normal_name(edge["to"])) for edge in answer["edges"]
    )
    target = frozenset((normal_name(a), normal_name(b)) for a, b in truth.target["edges"])
    known = {normal_name(name) for name in truth.target["nodes"]}
    unknown = sorted({name for edge in given for name in edge} - known)
    return _content(given, target, unknown)


def adjustment_sets(task: Task, truth: Truth, answer: dict[str, Any]) -> Content:
    """A set of sets; the sentinel "no_backdoor" is right or wrong as a whole."""
    given = answer["adjustment_sets"]
    category = normal_label(given) if isinstance(given, str) else "set"
    if category != "set" or truth.target["category"] != "set":
        right = category == truth.target["category"]
        return Content("f1", value=float(right), loss=float(not right))
    members = frozenset(frozenset(normal_name(name) for name in entry) for entry in given)
    target = frozenset(
        frozenset(normal_name(name) for name in entry) for entry in truth.target["sets"]
    )
    known = {normal_name(name) for name in task.inputs["available"]}
    unknown = sorted({name for entry in members for name in entry} - known)
    return _content(members, target, unknown)


def _content(given: frozenset[Any], target: frozenset[Any], unknown_names: list[str]) -> Content:
    score = f1(given, target)
    shared = len(given & target)
    message = ""
    if unknown_names:
        message = f"unknown names count as wrong: {clip(unknown_names, 200)}"
    return Content(
        "f1",
        value=score,
        loss=1 - score,
        extra={
            "precision": shared / len(given) if given else 0.0,
            "recall": shared / len(target) if target else 0.0,
            "unknown_names": len(unknown_names),
        },
        message=message,
    )
