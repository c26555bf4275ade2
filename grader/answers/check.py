"""Checks of answers that shapes share, the same for ``validate`` and ``grade``: JSON, labels,
intervals, and prediction files, which are read row by row with no guess at their types.

Everything that can be said without the truth is decided here: whether the answer parses, fits its
schema, and commits or abstains. :data:`REASONS` is the closed list of what can be wrong.
"""

import csv
import hashlib
import io
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from grader.errors import Invalid
from grader.io.jsonio import canonical_json, clip, parse_strict
from grader.io.names import is_null_equivalent, normal_label
from grader.io.schemas import first_problem
from grader.scoring.model import CheckedAnswer, Predictions, RawAnswer
from grader.scoring.shape import Shape, Task

REASONS: Final[Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8")
)
"""Code to what it means, of everything that can be wrong with an answer."""

Step = Callable[[Task, dict[str, Any]], Any]
"""A further check of a document that fits its schema: returns the answer to score, or a checked
answer whose message says what is wrong with a part of it; raises :class:`Invalid`."""


def check_csv(task: Task, raw: RawAnswer, *, columns: Sequence[str]) -> CheckedAnswer:
    """Check a CSV file of predictions: it must hold ``columns``, and one row per held-out row."""
    rows = int(task.inputs["rows"])
    return read_answer(
        raw, lambda data: CheckedAnswer("scored", read_predictions(data, columns, rows))
    )


def check_json(task: Task, raw: RawAnswer, *, then: Step | None = None) -> CheckedAnswer:
    """Check a JSON object: unless it abstains, its schema, its labels and what ``then`` checks."""
    return read_answer(raw, lambda data: _document(task, parse_strict(data), then))


def read_answer(raw: RawAnswer, read: Callable[[bytes], CheckedAnswer]) -> CheckedAnswer:
    """Return what ``read`` makes of an answer's bytes, or the invalid answer with its reason."""
    try:
        if raw.data is None:
            raise Invalid(raw.reason, raw.message)
        return read(raw.data)
    except Invalid as problem:
        return CheckedAnswer(
            "invalid",
            paper_abstained=problem.paper_abstained,
            reason=problem.reason,
            message=f"{raw.source}: {problem.message}",
        )


def _document(task: Task, document: Any, then: Step | None) -> CheckedAnswer:
    """Return the checked answer or abstention of a parsed document; raises :class:`Invalid`."""
    shape = task.shape
    if not isinstance(document, dict):
        # A bare null is no object, yet the paper's reading knows null for an abstention only in
        # the answer's field, so it is invalid in both.
        raise Invalid("not_object", f"{clip(document)} is not an object; write {{…}}")
    if shape.field not in document:
        why = f'the member "{shape.field}" is absent; add it'
        raise Invalid("absent_field", why, paper_abstained=shape.abstainable)
    if shape.abstainable and _abstains(shape, document[shape.field]):
        return CheckedAnswer("scored", abstained=True, paper_abstained=True)
    problem = first_problem(f"answers/{shape.name}", document)
    if problem is not None:
        raise Invalid("schema", problem)
    if shape.labels:
        document = with_known_labels(task, document, shape.field)
    answer = document if then is None else then(task, document)
    return answer if isinstance(answer, CheckedAnswer) else CheckedAnswer("scored", answer)


def _abstains(shape: Shape, value: object) -> bool:
    """Whether a value is the shape's abstention or one of the paper's null-equivalents."""
    if is_null_equivalent(value):
        return True
    if isinstance(value, str):
        return normal_label(value) == shape.abstention
    return value is False and shape.abstention is False


def with_known_labels(task: Task, document: dict[str, Any], *fields: str) -> dict[str, Any]:
    """Return the document with the text in ``fields`` stripped and case-folded, as labels are.
    Raises :class:`Invalid` for text that is none of the shape's labels."""
    found = dict(document)
    for field in fields:
        if isinstance(document[field], str):
            found[field] = normal_label(document[field])
            if found[field] not in task.shape.labels:
                known = ", ".join(task.shape.labels)
                why = f"at /{field}: {clip(document[field])} is none of {known}"
                raise Invalid("unknown_label", why)
    return found


def with_bounds(task: Task, document: dict[str, Any]) -> dict[str, Any]:
    """Return the document; raises :class:`Invalid` unless its interval has both ends, in order."""
    for name in ("ci_lower", "ci_upper"):
        if is_null_equivalent(document.get(name)):
            # The reference reads a null in any of the three as an abstention (paper reading);
            # the fixed reading wants the interval that was asked for.
            remedy = f"add it, or abstain with null in /{task.shape.field}"
            why = f"at /{name}: a number needs both bounds; {remedy}"
            raise Invalid("absent_bound", why, paper_abstained=True)
    lower, upper = document["ci_lower"], document["ci_upper"]
    if lower > upper:
        why = f"at /ci_lower: {clip(lower)} is above ci_upper {clip(upper)}; swap them"
        raise Invalid("bounds_reversed", why)
    return document


MAX_COLUMNS: Final = 100
_DECIMAL: Final = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,4})?", re.ASCII)


def read_predictions(data: bytes, columns: Sequence[str], rows: int) -> Predictions:
    """Read the named columns of a CSV file with exactly ``rows`` rows after its header.

    ``columns`` name the prediction and, where asked, its lower and upper end, in this order. Other
    columns are ignored. Raises :class:`Invalid`, also where lower is above upper.
    """
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Invalid("encoding", f"byte {error.start} is not UTF-8") from None
    if not text.strip():
        raise Invalid("empty", f"the file is empty; write the header {','.join(columns)}")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [cell.strip() for cell in next(reader)]
        if len(header) > MAX_COLUMNS:
            raise Invalid("wrong_columns", f"{len(header)} columns; at most {MAX_COLUMNS} are read")
        for column in columns:
            if header.count(column) != 1:
                times = "appears twice" if column in header else "is absent"
                why = f"the column {column} {times} in the header {clip(','.join(header))}"
                raise Invalid("wrong_columns", f"{why}; the header must hold {','.join(columns)}")
        values = _values(reader, [header.index(column) for column in columns], columns, rows)
    except csv.Error as error:
        raise Invalid("not_csv", f"line {reader.line_num}: {error}") from None
    predictions = Predictions(*values)
    bounds = zip(predictions.lower, predictions.upper, strict=True)
    for row, (lower, upper) in enumerate(bounds, start=1):
        if lower > upper:
            raise Invalid("bounds_reversed", f"row {row}: lower {lower!r} is above upper {upper!r}")
    return predictions


def _values(
    reader: Iterator[list[str]], positions: Sequence[int], columns: Sequence[str], rows: int
) -> list[tuple[float, ...]]:
    """Return the numbers of each column; raises :class:`Invalid` for other than ``rows`` lines."""
    values: list[list[float]] = [[] for _ in positions]
    count = 0
    for count, cells in enumerate(filter(None, reader), start=1):  # blank lines are none
        if count > rows:
            raise Invalid("wrong_length", f"more than the {rows} rows of test_features")
        for column, position, name in zip(values, positions, columns, strict=True):
            cell = cells[position].strip() if position < len(cells) else ""
            number = float(cell) if _DECIMAL.fullmatch(cell) else math.nan
            if not math.isfinite(number):
                why = f"row {count}, column {name}: {clip(cell)} is not a finite decimal number"
                raise Invalid("not_a_number", why)
            column.append(number)
    if count != rows:
        raise Invalid("wrong_length", f"{count} rows, but test_features has {rows}")
    return [tuple(column) for column in values]


def answers_sha256(answers: Mapping[str, CheckedAnswer]) -> str:
    """Return one hash for equal answers by task id, however they were handed in. They must be
    those known without the truth, since boards show the hash."""
    total = hashlib.sha256()
    for task_id, told in sorted(answers.items()):
        answer = canonical_json(_plain(told.answer))
        total.update(f"{task_id} {told.status} {told.abstained} {answer}\n".encode())
    return total.hexdigest()


def _plain(value: Any) -> Any:
    """Return an answer as JSON that is equal for equal answers."""
    if is_dataclass(value):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return sorted(map(_plain, value), key=canonical_json) if isinstance(value, frozenset) else value
