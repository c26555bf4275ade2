"""Rows of a release's shards as tasks and truths."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.io.jsonio import as_mapping
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track

TASK_COLUMNS: Final = (
    "task_id", "instance_id", "track", "rung", "family", "variant", "view", "input_mode",
    "prompt", "answer_schema", "answer_file", "inputs_json",
)  # fmt: skip
TRUTH_COLUMNS: Final = (
    "task_id", "instance_id", "should_abstain", "structure", "value", "value_se", "target_json",
)  # fmt: skip


def task_of(row: Mapping[str, Any], tracks: Mapping[str, Track]) -> Task:
    """Return the task of one row of a config ``<track>``; raises ``KeyError`` for an unknown
    variant."""
    return Task(
        task_id=row["task_id"],
        instance_id=row["instance_id"],
        spec=tracks[row["track"]].variant(f"{row['family']}.{row['variant']}"),
        view=row["view"],
        input_mode=row["input_mode"],
        prompt=row["prompt"],
        answer_schema=row["answer_schema"],
        answer_file=row["answer_file"],
        inputs=as_mapping(row["inputs_json"]),
    )


def truth_of(row: Mapping[str, Any], labels: Sequence[float] | None = None) -> Truth:
    """Return the truth of one row of a config ``<track>_truth``, with its held-out labels."""
    return Truth(
        task_id=row["task_id"],
        instance_id=row["instance_id"],
        should_abstain=row["should_abstain"],
        structure=row["structure"],
        value=row["value"],
        value_se=row["value_se"],
        target=as_mapping(row["target_json"]),
        labels=None if labels is None else tuple(labels),
    )
