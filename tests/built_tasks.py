"""What a builder made, as a grader reads it: tasks with their truths, without a release."""

import json
from typing import Any, Final

from builder.splits.track import BuiltInstance
from grader.release.rows import task_of, truth_of
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks import TRACKS

_TASK_COLUMNS: Final = (
    "task_id", "instance_id", "track", "rung", "family", "variant", "view", "input_mode",
    "prompt", "answer_schema", "answer_file",
)  # fmt: skip


def task_row(task: Task) -> dict[str, Any]:
    """The row of a task on the public side of a release."""
    row = {name: getattr(task, name) for name in _TASK_COLUMNS}
    return {**row, "inputs_json": json.dumps(task.inputs)}


def pairs_of(built: BuiltInstance, track: str) -> list[tuple[Task, Truth]]:
    """The tasks of an instance with their truths, but for labels."""
    truths = {row["task_id"]: truth_of(row) for row in built.rows[f"{track}_truth"]}
    return [(task_of(row, TRACKS), truths[row["task_id"]]) for row in built.rows[track]]
