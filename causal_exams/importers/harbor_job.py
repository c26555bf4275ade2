"""Answers and usage out of a job of Harbor whose tasks ``export harbor`` wrote."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from causal_exams.endings import ANSWERED, ERROR, NO_ANSWER, SECONDS
from causal_exams.importers.taken import Taken
from grader.errors import UsageError
from grader.shape import Task
from grader.submission.submission import MAX_BYTES, Unreadable, open_regular

_TIMED_OUT: Final = "AgentTimeoutError"


def read(source: Path, tasks: Mapping[str, Task]) -> Iterator[Taken]:
    """Every trial in the folder of a job, or of one trial; raises ``UsageError``.

    Trials of one task are its attempts, in the order of their names.
    """
    results = sorted(source.rglob("result.json")) if source.is_dir() else []
    counted: Counter[str] = Counter()
    for file in results:
        try:
            result = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue
        name = str(result.get("task_name", "")) if isinstance(result, dict) else ""
        task = tasks.get(name.rpartition("/")[2])
        if task is None:  # the result of the job as a whole, or of another task
            continue
        counted[task.task_id] += 1
        yield _trial(file.parent, result, task, counted[task.task_id])
    if not counted:
        raise UsageError(f"{source}: no trial of a task of the exam; give the folder of a job")


def _trial(folder: Path, result: Mapping[str, Any], task: Task, attempt: int) -> Taken:
    answer = _answer(folder, task)
    failed = (result.get("exception_info") or {}).get("exception_type")
    if failed is not None:
        why = SECONDS if failed == _TIMED_OUT else ERROR
    else:
        why = NO_ANSWER if answer is None else ANSWERED
    spent = result.get("agent_result") or {}
    usage = {
        "input_tokens": spent.get("n_input_tokens"),
        "output_tokens": spent.get("n_output_tokens"),
        "cost_usd": spent.get("cost_usd"),
        "seconds": _seconds(result.get("agent_execution") or {}),
    }
    known = {name: value for name, value in usage.items() if value is not None}
    return Taken(task.task_id, attempt, answer, {**known, "ending": why})


def _answer(folder: Path, task: Task) -> bytes | None:
    """The answer file that the verifier kept, or that was collected."""
    for path in sorted(
        folder.rglob(task.answer_file), key=lambda p: ("verifier" not in p.parts, p)
    ):
        try:
            with open_regular(path) as stream:
                return stream.read(MAX_BYTES[task.shape.suffix] + 1)
        except Unreadable:
            continue
    return None


def _seconds(timing: Mapping[str, Any]) -> float | None:
    try:
        begun, ended = (datetime.fromisoformat(timing[k]) for k in ("started_at", "finished_at"))
    except (LookupError, TypeError, ValueError):
        return None
    return round((ended - begun).total_seconds(), 3)
