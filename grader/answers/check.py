"""What shapes have in common in checking bytes: the same for ``validate`` and ``grade``.

Everything that can be said without the truth is decided here: whether the answer parses, fits its
schema, and commits or abstains. :data:`REASONS` is the closed list of what can be wrong.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grader.answers.predictions import read_predictions
from grader.errors import Invalid
from grader.io.jsonio import BadJson, clip, parse_strict
from grader.io.names import is_null_equivalent, normal_label
from grader.io.schemas import first_problem
from grader.scoring.model import Checked, RawAnswer
from grader.scoring.shape import Shape, Task

_REASONS: Final = Path(__file__).with_name("reasons.toml")
REASONS: Final[Mapping[str, str]] = tomllib.loads(_REASONS.read_text(encoding="utf-8"))
"""Code to what it means, of everything that can be wrong with an answer."""

Step = Callable[[Task, dict[str, Any]], Any]
"""What a shape does with a document that fits its schema; raises :class:`Invalid`."""


def check_csv(task: Task, raw: RawAnswer, *, columns: Sequence[str]) -> Checked:
    """A CSV file with these columns and one row per held-out row."""
    rows = int(task.inputs["rows"])
    return read_answer(raw, lambda data: Checked("scored", read_predictions(data, columns, rows)))


def check_json(task: Task, raw: RawAnswer, *, then: Step | None = None) -> Checked:
    """A JSON object that fits the schema, with known labels; ``then`` looks further."""
    return read_answer(raw, lambda data: _document(task, parse_strict(data), then))


def read_answer(raw: RawAnswer, read: Callable[[bytes], Checked]) -> Checked:
    """What ``read`` makes of the bytes of an answer, or why it could not."""
    try:
        if raw.data is None:
            raise Invalid(raw.reason, raw.message)
        return read(raw.data)
    except (Invalid, BadJson) as problem:
        return Checked(
            "invalid",
            paper_abstained=getattr(problem, "paper_abstained", False),
            reason=problem.reason,
            message=f"{raw.source}: {problem.message}",
        )


def _document(task: Task, document: Any, then: Step | None) -> Checked:
    shape = task.shape
    if not isinstance(document, dict):
        # A bare null is no object, yet the paper's reading knows null for an abstention only in
        # the answer's field, so it is invalid in both.
        raise Invalid("not_object", f"{clip(document)} is not an object; write {{…}}")
    if shape.field not in document:
        raise Invalid(
            "absent_field",
            f'the member "{shape.field}" is absent; add it',
            paper_abstained=shape.abstainable,
        )
    if shape.abstainable and _abstains(shape, document[shape.field]):
        return Checked("scored", abstained=True, paper_abstained=True)
    problem = first_problem(f"answers/{shape.name}", document)
    if problem is not None:
        raise Invalid("schema", problem)
    if shape.labels:
        document = with_known_labels(task, document, shape.field)
    return Checked("scored", document if then is None else then(task, document))


def _abstains(shape: Shape, value: object) -> bool:
    """The shape's documented abstention, or one of the paper's null-equivalents."""
    if is_null_equivalent(value):
        return True
    if isinstance(value, str):
        return normal_label(value) == shape.abstention
    return value is False and shape.abstention is False


def with_known_labels(task: Task, document: dict[str, Any], *fields: str) -> dict[str, Any]:
    """The document with its labels as the shape lists them; a field may hold no other word."""
    found = dict(document)
    for field in fields:
        if isinstance(document[field], str):
            found[field] = normal_label(document[field])
            if found[field] not in task.shape.labels:
                raise Invalid(
                    "unknown_label",
                    f"at /{field}: {clip(document[field])} is none of "
                    f"{', '.join(task.shape.labels)}",
                )
    return found


def with_bounds(task: Task, document: dict[str, Any]) -> dict[str, Any]:
    """A document whose interval has both ends, in order."""
    for name in ("ci_lower", "ci_upper"):
        if is_null_equivalent(document.get(name)):
            # The reference reads a null in any of the three as an abstention (paper reading);
            # the fixed reading wants the interval that was asked for.
            raise Invalid(
                "absent_bound",
                f"at /{name}: a number needs both bounds; add it, or abstain with null in "
                f"/{task.shape.field}",
                paper_abstained=True,
            )
    lower, upper = document["ci_lower"], document["ci_upper"]
    if lower > upper:
        raise Invalid(
            "bounds_reversed",
            f"at /ci_lower: {clip(lower)} is above ci_upper {clip(upper)}; swap them",
        )
    return document
