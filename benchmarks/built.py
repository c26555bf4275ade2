"""What a builder made, as a grader reads it: tasks with their truths, without a release."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from benchmarks.timing import MAIN, median_seconds
from builder.causalds.plan.config import Config
from builder.release.config import load_config
from builder.track import Built
from grader.model import RawAnswer, Task, Truth
from grader.score import score_answer

Pairs = Sequence[tuple[Task, Truth]]

_KEPT: Final = ("task_id", "instance_id", "should_abstain", "structure", "value", "value_se")


def main_config() -> Config:
    """The causalds table of the split ``dev`` of splits/main.toml."""
    config = dict(load_config(MAIN).splits[0].tracks)["causalds"]
    assert isinstance(config, Config)
    return config


def pairs_of(built: Built, track: str) -> list[tuple[Task, Truth]]:
    """The tasks of an instance with their truths, but for labels."""
    truths: dict[Any, dict[str, Any]] = {
        row["task_id"]: dict(row) for row in built.rows[f"{track}_truth"]
    }
    found = []
    for row in built.rows[track]:
        values: dict[str, Any] = dict(row)
        task = Task(inputs=json.loads(values.pop("inputs_json")), **values)
        truth = truths[task.task_id]
        target = json.loads(truth["target_json"])
        found.append((task, Truth(target=target, **{name: truth[name] for name in _KEPT})))
    return found


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
