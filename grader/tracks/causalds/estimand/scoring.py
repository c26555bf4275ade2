"""How an estimand formula is checked and graded: by its value, not by its spelling."""

from typing import Any, Final

from grader.errors import Invalid, UsageError
from grader.io.jsonio import clip
from grader.model import Mark, Truth
from grader.shape import Task
from grader.tracks.causalds.estimand.language import Formula, read_formula, text_of
from grader.tracks.causalds.estimand.value import Models, Undefined, values
from grader.tracks.causalds.labels import exact

TOLERANCE: Final = 1e-6
"""By which a value may be off."""
_SHOWN: Final = 500


def with_formula(task: Task, document: dict[str, Any]) -> dict[str, Any]:
    """The document with its formula read, over the measured variables of the task."""
    field, inputs = task.shape.field, task.inputs
    ends = inputs["treatment"], inputs["outcome"]
    try:
        formula = read_formula(document[field], inputs["observed"], ends)
    except Invalid as problem:
        raise Invalid(problem.reason, f"at /{field}: {problem.message}") from None
    return {**document, field: formula}


def estimand_formula(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """Right if its value is P(y | do(x)) on every model, for all x and y; the message says what was
    evaluated, and where it is furthest off."""
    formula: Formula = answer[task.shape.field]
    if truth.models is None:
        raise UsageError(f"{task.task_id}: its models are absent; fetch the release again")
    found = f"evaluated {clip(text_of(formula), _SHOWN)} ({len(formula)} parts)"
    ends = task.inputs["treatment"], task.inputs["outcome"]
    try:
        given = values(formula, Models.of(truth.models), *ends)
    except Undefined as problem:
        return exact(False, f"{found}: {problem} on one of the models")
    worst, place = _furthest(given, truth.target["effects"])
    right = worst <= TOLERANCE
    return exact(right, f"{found}: {place}")


def _furthest(
    given: list[list[list[float]]], effects: list[list[list[float]]]
) -> tuple[float, str]:
    """How far the value is off where it is furthest off, and where that is."""
    cells = [
        (abs(value - true), model, x, y, value, true)
        for model, tables in enumerate(zip(given, effects, strict=True), start=1)
        for x, rows in enumerate(zip(*tables, strict=True))
        for y, (value, true) in enumerate(zip(*rows, strict=True))
    ]
    # A value that is no number is as far off as can be.
    off, model, x, y, value, true = max(cells, key=lambda c: c[0] if c[0] == c[0] else float("inf"))
    where = f"for y = {y} and x = {x} on model {model}"
    told = f"its value is {value:.6g} where P(y | do(x)) is {true:.6g}, {where}, off by {off:.2g}"
    return (off if off == off else float("inf")), told
