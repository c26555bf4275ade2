"""The right answer to a task, written from its truth in the answer format itself."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from grader.io.jsonio import pretty
from grader.model import Task, Truth
from grader.tracks import causalab, replayscm
from grader.tracks.causalds import gold as causalds


def gold_answer(task: Task, truth: Truth) -> str:
    """The text of the answer file that scores 1 point; intervals have zero width."""
    if task.track in _TRACKS:
        return _TRACKS[task.track](task, truth)
    return _WRITERS[task.spec.shape](task, truth)


def _units(task: Task, truth: Truth) -> str:
    answers = truth.target["answers"]
    return pretty({rung: [bit == "1" for bit in answers[rung]] for rung in sorted(answers)})


def _quantities(task: Task, truth: Truth) -> str:
    listed = truth.target["quantities"]
    return pretty({"quantities": {n: float(Fraction(q["exact"])) for n, q in listed.items()}})


def _deduction(task: Task, truth: Truth) -> str:
    verdict = truth.target["verdict"]
    return pretty({"value": truth.value if verdict == "value" else verdict})


_TRACKS: Final[Mapping[str, Callable[[Task, Truth], str]]] = {
    "causalds": causalds.gold_answer,
    "replayscm": replayscm.gold_answer,
}
"""Track to the writer of its right answers, where it has its own."""

_WRITERS: Final[Mapping[str, Callable[[Task, Truth], str]]] = {
    "unit_answers": _units,
    "quantities": _quantities,
    "deduction": _deduction,
    "laboratory_jsonl": causalab.gold_answer,
}
