"""ReplaySCM: Boolean programs induced from intervention worlds, graded by replay."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grader.io.jsonio import pretty
from grader.model import Content, Task, Truth
from grader.tracks.replayscm.scoring import alternative, facts, induction
from grader.tracks.replayscm.submission import check

__all__ = ["SCORERS", "check", "facts", "gold_answer"]

SCORERS: Final[Mapping[str, Callable[[Task, Truth, Any], Content]]] = {
    "induction.ordered": induction,
    "induction.block": induction,
    "induction.hidden": induction,
    "induction.hidden_roots": induction,
    "alternative.alternative_ordered": alternative,
    "alternative.alternative_hidden": alternative,
}


def gold_answer(task: Task, truth: Truth) -> str:
    """The hidden program, or for an alternative the one the audit found."""
    target = truth.target
    if task.family == "alternative":
        return pretty(target["alternative"])
    answer: dict[str, Any] = {"mechanisms": target["gold"]}
    if task.spec.shape == "roots_mechanisms":
        answer["roots"] = target["roots"]
    return pretty(answer)
