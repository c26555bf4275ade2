"""The right answer to a task, written from its truth in the answer format itself."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from grader.jsonio import pretty
from grader.model import Task, Truth
from grader.tracks import causalab, replayscm


def gold_answer(task: Task, truth: Truth) -> str:
    """The text of the answer file that scores 1 point; intervals have zero width."""
    return _WRITERS[task.spec.shape](task, truth)


def _csv(task: Task, truth: Truth) -> str:
    assert truth.labels is not None
    bounds = 2 if task.spec.pool == "nrel_interval" else 0
    header = ",".join(["prediction", "lower", "upper"][: 1 + bounds])
    rows = (",".join([repr(label)] * (1 + bounds)) for label in truth.labels)
    return "\n".join([header, *rows]) + "\n"


def _label(task: Task, truth: Truth) -> str:
    accepted = "none" if truth.should_abstain else truth.target["accepted"][0]
    return pretty({task.spec.field: accepted})


def _number(task: Task, truth: Truth) -> str:
    return pretty({task.spec.field: None if truth.should_abstain else truth.value})


def _interval(task: Task, truth: Truth) -> str:
    value = None if truth.should_abstain else truth.value
    return pretty({task.spec.field: value, "ci_lower": value, "ci_upper": value})


def _edges(task: Task, truth: Truth) -> str:
    return pretty({"edges": [{"from": a, "to": b} for a, b in truth.target["edges"]]})


def _sets(task: Task, truth: Truth) -> str:
    category = truth.target["category"]
    return pretty({"adjustment_sets": truth.target["sets"] if category == "set" else category})


def _units(task: Task, truth: Truth) -> str:
    answers = truth.target["answers"]
    return pretty({rung: [bit == "1" for bit in answers[rung]] for rung in sorted(answers)})


def _quantities(task: Task, truth: Truth) -> str:
    listed = truth.target["quantities"]
    return pretty({"quantities": {n: float(Fraction(q["exact"])) for n, q in listed.items()}})


def _deduction(task: Task, truth: Truth) -> str:
    verdict = truth.target["verdict"]
    return pretty({"value": truth.value if verdict == "value" else verdict})


_WRITERS: Final[Mapping[str, Callable[[Task, Truth], str]]] = {
    "prediction_csv": _csv,
    "prediction_interval_csv": _csv,
    "sign": _label,
    "method": _label,
    "value": _number,
    "ate": _number,
    "effect_value": _number,
    "ate_interval": _interval,
    "edges": _edges,
    "adjustment_sets": _sets,
    "unit_answers": _units,
    "quantities": _quantities,
    "deduction": _deduction,
    "mechanisms": replayscm.gold_answer,
    "roots_mechanisms": replayscm.gold_answer,
    "alternative_scm": replayscm.gold_answer,
    "laboratory_jsonl": causalab.gold_answer,
}
