"""From raw bytes to a checked answer: the same for ``validate`` and ``grade``.

Everything that can be said without the truth is decided here: whether the answer parses, fits its
schema, and commits or abstains. :data:`REASONS` is the closed list of what can be wrong.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grader.io.jsonio import BadJson, clip, parse_strict
from grader.io.schemas import first_problem
from grader.model import Checked, RawAnswer, Task
from grader.names import is_null_equivalent, normal_label
from grader.spec import Variant
from grader.submission.predictions import read_predictions
from grader.tracks import causalab, replayscm
from grader.tracks.ccr import checks as ccr

REASONS: Final[Mapping[str, str]] = {
    "no_answer": "no answer file for the task",
    "unreadable": "a link, a directory, a device, or a file that cannot be opened",
    "too_large": "larger than any honest answer",
    "duplicate_answer": "the task is answered in two places",
    "encoding": "not UTF-8, a byte order mark, or half a surrogate pair",
    "empty": "nothing in the file",
    "not_json": "no JSON",
    "too_deep": "nested too deeply",
    "duplicate_key": "a key appears twice in one object",
    "non_finite": "NaN, Infinity, or a number beyond a double",
    "huge_number": "an integer of too many digits",
    "not_object": "JSON, but not an object",
    "schema": "an object that does not fit the answer schema",
    "absent_field": "the answer's field is absent",
    "unknown_label": "not one of the labels the prompt lists",
    "bounds_reversed": "a lower bound above its upper bound",
    "absent_bound": "a number with a null or absent bound",
    "not_csv": "no CSV with a header line",
    "wrong_columns": "a required column is absent or appears twice",
    "wrong_length": "not exactly one row per held-out row, or one answer per case",
    "unknown_quantity": "a quantity, cause or effect that the task does not ask about",
    "not_a_number": "a cell that is not a finite decimal number",
    "wrong_roots": "not three different variables of the task",
    "wrong_variables": "not exactly one mechanism for every variable that is no root",
    "formula": "a mechanism that is no formula of the language",
    "formula_limit": "a formula of more nodes or levels than are read",
    "illegal_reference": "a mechanism that mentions a variable it may not depend on",
    "too_many_variables": "a mechanism that mentions more variables than the task allows",
    "cyclic": "mechanisms that depend on each other in a circle",
    "transcript": "no transcript of a finished session with the task's episode",
    "hypothesis": "a hypothesis that does not follow the hypothesis language",
    "replay": "a transcript that the laboratory would not have written",
    "signature": "a transcript that the host's key did not sign",
}

CHECKERS: Final[Mapping[str, Callable[[Task, RawAnswer], Checked]]] = {
    "causalab": causalab.check,
    "replayscm": replayscm.check,
}
"""Track to the validation of its answers, where the common one will not do."""


class Invalid(Exception):
    """The submitter's fault: a reason code of :data:`REASONS` and a message."""

    def __init__(self, reason: str, message: str, *, paper_abstained: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.paper_abstained = paper_abstained


def check(task: Task, raw: RawAnswer | None) -> Checked:
    """Validate one raw answer. Never raises for anything an answer can contain."""
    if raw is None:
        return Checked("missing", reason="no_answer", message=f"no file {task.answer_file}")
    if task.track in CHECKERS:
        return CHECKERS[task.track](task, raw)
    try:
        if raw.data is None:
            raise Invalid(raw.reason, raw.message)
        if task.spec.suffix == ".csv":
            return _check_csv(task, raw.data)
        return _check_json(task, parse_strict(raw.data))
    except (Invalid, BadJson) as problem:
        return Checked(
            "invalid",
            paper_abstained=getattr(problem, "paper_abstained", False),
            reason=problem.reason,
            message=f"{raw.source}: {problem.message}",
        )


def _check_csv(task: Task, data: bytes) -> Checked:
    bounds = ("lower", "upper") if task.spec.pool == "nrel_interval" else ()
    columns = ("prediction", *bounds)
    predictions = read_predictions(data, columns, int(task.inputs["rows"]), Invalid)
    return Checked("scored", content=predictions)


def _check_json(task: Task, document: Any) -> Checked:
    spec = task.spec
    if not isinstance(document, dict):
        # A bare null is no object, yet the paper's reading knows null for an abstention only in
        # the answer's field, so it is invalid in both.
        raise Invalid("not_object", f"{clip(document)} is not an object; write {{…}}")
    if spec.field not in document:
        raise Invalid(
            "absent_field",
            f'the member "{spec.field}" is absent; add it',
            paper_abstained=spec.abstainable,
        )
    if spec.abstainable and _abstains(spec, document[spec.field]):
        return Checked("scored", abstained=True, paper_abstained=True)
    problem = first_problem(f"answers/{spec.shape}", document)
    if problem is not None:
        raise Invalid("schema", problem)
    content = _with_known_labels(spec, document)
    if spec.shape in _BOUNDED:
        _check_bounds(spec, content)
    if spec.shape in _TASK_CHECKS:
        content = _TASK_CHECKS[spec.shape](task, content, Invalid)
    return Checked("scored", content=content)


def _abstains(spec: Variant, value: object) -> bool:
    """The variant's documented abstention, or one of the paper's null-equivalents."""
    if is_null_equivalent(value):
        return True
    if isinstance(value, str):
        return normal_label(value) == spec.abstention
    return value is False and spec.abstention is False


def _with_known_labels(spec: Variant, document: dict[str, Any]) -> dict[str, Any]:
    """The document with its labels as the variant lists them; a field may hold no other word."""
    found = dict(document)
    for field in _LABEL_FIELDS.get(spec.shape, (spec.field,) if spec.labels else ()):
        if isinstance(document[field], str):
            found[field] = normal_label(document[field])
            if found[field] not in spec.labels:
                raise Invalid(
                    "unknown_label",
                    f"at /{field}: {clip(document[field])} is none of {', '.join(spec.labels)}",
                )
    return found


def _check_bounds(spec: Variant, document: dict[str, Any]) -> None:
    for name in ("ci_lower", "ci_upper"):
        if is_null_equivalent(document.get(name)):
            # The reference reads a null in any of the three as an abstention (paper reading);
            # the fixed reading wants the interval that was asked for.
            raise Invalid(
                "absent_bound",
                f"at /{name}: a number needs both bounds; add it, or abstain with null in "
                f"/{spec.field}",
                paper_abstained=True,
            )
    lower, upper = document["ci_lower"], document["ci_upper"]
    if lower > upper:
        raise Invalid(
            "bounds_reversed",
            f"at /ci_lower: {clip(lower)} is above ci_upper {clip(upper)}; swap them",
        )


_LABEL_FIELDS: Final = {"signs_before_after": ("sign_before", "sign_after")}
"""Where labels stand in more members than the answer's field."""

_BOUNDED: Final = frozenset({"ate_interval", "effect_interval"})

_TASK_CHECKS: Final[Mapping[str, Callable[[Task, dict[str, Any], type[Invalid]], Any]]] = {
    "unit_answers": ccr.check_units,
    "quantities": ccr.check_quantities,
    "deduction": ccr.check_deduction,
}
"""Checks that need to know what the task declares."""
