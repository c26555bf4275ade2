"""Rows of a release's shards as tasks and truths, each checked by the schema of its shape."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, get_args

from grader.io.jsonio import as_mapping, clip
from grader.io.schemas import first_problem
from grader.scoring.model import InputMode, Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track

TASK_COLUMNS: Final = (
    "task_id", "instance_id", "track", "rung", "family", "variant", "view", "input_mode",
    "prompt", "answer_schema", "answer_file", "inputs_json",
)  # fmt: skip
TRUTH_COLUMNS: Final = (
    "task_id", "instance_id", "should_abstain", "structure", "value", "value_se", "target_json",
)  # fmt: skip

TEXT: Final = ("VARCHAR",)
_TABLE: Final = tuple(f"STRUCT(name VARCHAR, values {kind}[])[]" for kind in ("FLOAT", "DOUBLE"))
COLUMN_TYPES: Final[Mapping[str, Sequence[str]]] = {
    "rung": ("TINYINT",), "should_abstain": ("BOOLEAN",), "value": ("DOUBLE",),
    "value_se": ("DOUBLE",), "value_draws": ("BIGINT",), "values": ("FLOAT[]", "DOUBLE[]"),
    "columns": ("STRUCT(name VARCHAR, kind VARCHAR)[]",),
    "data": _TABLE, "test_features": _TABLE, "calibration": _TABLE,
}  # fmt: skip
"""The types in SQL that a column may have, of all columns that are not text."""


def task_of(row: Mapping[str, Any], tracks: Mapping[str, Track]) -> Task:
    """Return the task of one row of a config ``<track>``. Raises ``KeyError`` for an unknown
    variant, and ``ValueError`` for a row that no task has."""
    _check_texts(row, [name for name in TASK_COLUMNS if name != "rung"])
    spec = tracks[row["track"]].variant(f"{row['family']}.{row['variant']}")
    if row["input_mode"] not in get_args(InputMode):
        raise ValueError(f"column input_mode: {clip(row['input_mode'])} is none of them")
    schema = f"inputs/{spec.track}#{spec.shape.name}"
    inputs = _members(row, "inputs_json", schema, spec.shape.check_inputs)
    of_variant = ("track", "family", "variant", "rung", "inputs_json")
    plain = {name: row[name] for name in TASK_COLUMNS if name not in of_variant}
    return Task(**plain, spec=spec, inputs=inputs)


def truth_of(row: Mapping[str, Any], labels: Sequence[float] | None = None) -> Truth:
    """Return the truth of one row of a config ``<track>_truth``, with its held-out labels. Raises
    ``ValueError`` for a row that no truth has; :func:`check_truth` checks it further."""
    _check_texts(row, ("task_id", "instance_id", "structure", "target_json"))
    for name in ("value", "value_se"):
        if row[name] is not None and not math.isfinite(row[name]):
            raise ValueError(f"column {name}: {clip(row[name])} is not a finite number")
    if row["should_abstain"] is None or (row["value_se"] or 0) < 0:
        name = "should_abstain" if row["should_abstain"] is None else "value_se"
        raise ValueError(f"column {name}: {clip(row[name])} cannot be")
    plain = {name: row[name] for name in TRUTH_COLUMNS if name != "target_json"}
    checked = None if labels is None else tuple(finite(labels, "values"))
    return Truth(**plain, target=_members(row, "target_json"), labels=checked)


def check_truth(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` for a truth that does not fit the schema and rules of its shape."""
    problem = first_problem(f"truth/{task.track}#{task.shape.name}", truth.target)
    if problem is not None:
        raise ValueError(f"column target_json: {problem}")
    if task.shape.check_truth is not None:
        task.shape.check_truth(task, truth)


def finite(values: Sequence[float], column: str) -> Sequence[float]:
    """Return ``values``; raises ``ValueError`` unless all of them are finite numbers."""
    if None in values or not all(map(math.isfinite, values)):
        raise ValueError(f"column {column}: holds what is not a finite number")
    return values


def _members(
    row: Mapping[str, Any],
    column: str,
    schema: str = "",
    check: Callable[[Mapping[str, Any]], object] | None = None,
) -> Mapping[str, Any]:
    """Return the JSON object in a column; raises ``ValueError`` unless it passes the checks."""
    try:
        members = as_mapping(row[column])
        problem = first_problem(schema, members) if schema else None
        if problem is None and check is not None:
            check(members)
    except ValueError as error:
        problem = str(error)
    if problem is not None:
        raise ValueError(f"column {column}: {problem}")
    return members


def _check_texts(row: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise ``ValueError`` where one of the columns that the row has is null."""
    for name in names:
        if row.get(name, "") is None:
            raise ValueError(f"column {name}: null where text is needed")
