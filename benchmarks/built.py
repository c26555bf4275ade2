"""What a builder made, as a grader reads it: tasks with their truths, without a release."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from benchmarks.timing import MAIN, median_seconds
from builder.causalds.plan.config import Config
from builder.release.config import load_config
from builder.track import Built
from grader.io.rows import task_of, truth_of
from grader.model import RawAnswer, Truth
from grader.score import score_answer
from grader.shape import Task

_TASK_COLUMNS: Final = (
    "task_id", "instance_id", "track", "rung", "family", "variant", "view", "input_mode",
    "prompt", "answer_schema", "answer_file",
)  # fmt: skip
Pairs = Sequence[tuple[Task, Truth]]


def task_row(task: Task) -> dict[str, Any]:
    """The row of a task on the public side of a release."""
    row = {name: getattr(task, name) for name in _TASK_COLUMNS}
    return {**row, "inputs_json": json.dumps(task.inputs)}


def main_config() -> Config:
    """The causalds table of the split ``dev`` of splits/main.toml."""
    config = dict(load_config(MAIN).splits[0].tracks)["causalds"]
    assert isinstance(config, Config)
    return config


def pairs_of(built: Built, track: str) -> list[tuple[Task, Truth]]:
    """The tasks of an instance with their truths, but for labels."""
    truths = {row["task_id"]: truth_of(row) for row in built.rows[f"{track}_truth"]}
    return [(task_of(row), truths[row["task_id"]]) for row in built.rows[track]]


def grading_seconds(
    pairs: Pairs,
    answers: Sequence[bytes],
    count: int,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median seconds to check and score ``count`` answers, repeated as often as needed."""
    jobs = [
        (*pairs[k % len(pairs)], RawAnswer("answer", answers[k % len(pairs)])) for k in range(count)
    ]

    def grade() -> None:
        for job in jobs:
            result = score_answer(*job)
            if result.status != "scored":
                raise AssertionError(result.message)

    return median_seconds(grade, rounds, clock)
