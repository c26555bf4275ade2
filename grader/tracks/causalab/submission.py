"""The check of an answer without its truth: a transcript, or the short form of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from grader.answers.check import read_answer
from grader.errors import Invalid
from grader.io.jsonio import BadJson, clip, parse_strict
from grader.io.schemas import first_problem
from grader.laboratory.equation import BadHypothesis
from grader.laboratory.hypothesis import Hypothesis, parse_hypothesis
from grader.laboratory.names import spellings_of
from grader.laboratory.session import Laboratory
from grader.laboratory.transcript import Line, TranscriptError, check_chain, read_lines
from grader.scoring.model import CheckedAnswer, RawAnswer
from grader.scoring.shape import Task


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """An answer: a transcript with its chain checked, or a short form.

    ``lines`` are the transcript's, empty in a short form. ``prediction``, ``hypothesis`` and
    ``refusal`` are of a short form alone. ``refusal`` says why its hypothesis was not read.
    ``signed`` is whether the host's key was checked. ``laboratory`` is the session, None until the
    answer is verified.
    """

    lines: Sequence[Line]
    prediction: float | None = None
    hypothesis: Hypothesis | None = None
    refusal: str = ""
    signed: bool = False
    laboratory: Laboratory | None = None


SHORT_FORM: Final = 'one JSON object {"prediction": …, "hypothesis": {…}}'


def check(task: Task, raw: RawAnswer) -> CheckedAnswer:
    """Check a transcript or a short form in all but the replay, which needs the truth."""
    return read_answer(raw, lambda data: _check_document(task, raw.source, data))


def sign(checked: CheckedAnswer, source: str, key: bytes) -> tuple[CheckedAnswer, frozenset[str]]:
    """Compare a transcript's signatures with the host's ``key``.

    Returns the answer, invalid where they differ, and the name of the submission whose session it
    records. Other answers come back as they are, without a name. The short form needs no signature:
    there is no session to sign where nothing can be set.
    """
    if checked.status != "scored" or not checked.answer.lines:
        return checked, frozenset()
    lines = checked.answer.lines
    try:
        check_chain(lines, key)
    except TranscriptError as error:
        reason = f"{source}: {error}"
        return CheckedAnswer("invalid", reason="signature", message=reason), frozenset()
    signed = replace(checked, answer=replace(checked.answer, signed=True))
    return signed, frozenset({str(lines[0].get("submission"))})


def _check_document(task: Task, source: str, data: bytes) -> CheckedAnswer:
    """Return the checked answer; a short form's hypothesis may be refused, as the message says."""
    try:
        document = _short_form(data)
        answer = _transcript(task, data) if document is None else _check_short(task, document)
    except TranscriptError as error:
        raise Invalid("transcript", str(error)) from None
    refusal = f"{source}: the hypothesis is not read: {answer.refusal}" if answer.refusal else ""
    return CheckedAnswer("scored", answer, message=refusal)


def _transcript(task: Task, data: bytes) -> LabAnswer:
    """Return a transcript, chain checked without key; ``TranscriptError`` if broken or unclosed."""
    lines = read_lines(data)
    check_chain(lines)
    if lines[0].get("task_id") != task.task_id:
        named = clip(lines[0].get("task_id"))
        raise TranscriptError(1, f"a session of {named}, another task")
    if lines[-1].get("event") != "closed":
        raise TranscriptError(len(lines), "the transcript ends without its closing line")
    return LabAnswer(lines)


def _short_form(data: bytes) -> Mapping[str, Any] | None:
    """Return the answer as one object, None if a transcript; raises ``BadJson`` for others."""
    try:
        document = parse_strict(data)
    except BadJson as error:
        if error.reason == "not_json" and data.strip().count(b"\n"):
            return None
        raise
    if not isinstance(document, dict):
        raise BadJson("not_object", f"{clip(document)} is neither a transcript nor {SHORT_FORM}")
    return None if "event" in document else document


def _check_short(task: Task, document: Mapping[str, Any]) -> LabAnswer:
    """Return a short form, either half alone too. A hypothesis beside a prediction may be refused.

    Raises ``TranscriptError`` if the task has a budget, and ``Invalid`` if the schema is not kept,
    both halves are absent, or a hypothesis alone cannot be read.
    """
    if task.inputs["budget"]:
        raise TranscriptError(
            0, "an answer without a transcript; only a task without interventions takes one"
        )
    # A session reads hypotheses by the language alone, so the schema is asked of the rest.
    problem = first_problem(f"answers/{task.shape.name}", {**document, "hypothesis": None})
    if problem is not None:
        raise Invalid("schema", problem)
    prediction, stated = document.get("prediction"), document.get("hypothesis")
    if prediction is None and stated is None:
        raise Invalid("schema", f"neither a prediction nor a hypothesis; write {SHORT_FORM}")
    number = None if prediction is None else float(prediction)
    if stated is None:
        return LabAnswer((), number)
    try:
        hypothesis = parse_hypothesis(stated, task.inputs, spellings_of(task.inputs))
    except BadHypothesis as error:
        if number is None:
            raise Invalid("hypothesis", str(error)) from None
        return LabAnswer((), number, refusal=str(error))
    return LabAnswer((), number, hypothesis)
