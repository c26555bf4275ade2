"""Repeated attempts: ``attempt-1/ ... attempt-k/`` of one submission, found and joined.

Shapes that merge attempts are scored over all of them together; every other task by the first
attempt, and a report says in ``attempts`` what the others add. An attempt folder without
any answer is left out; in the others, a task without a usable answer is a failed attempt at it.
"""

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grader.answers.collect import collect, run_card
from grader.answers.submission import Budget, Submission, SubmissionLimits
from grader.errors import UsageError
from grader.io.jsonio import BadJson, clip
from grader.scoring.shape import Task

MAX_ATTEMPTS: Final = 100
USAGE_FIGURES: Final = ("input_tokens", "output_tokens", "tool_calls", "seconds", "cost_usd")

_ATTEMPT: Final = re.compile(r"attempt-(\d{1,4})")
_ANSWERS: Final = (".json", ".jsonl", ".csv", ".parquet")


def attempt_folders(source: Path, tracks: Iterable[str]) -> list[Path]:
    """Return the folders ``attempt-<k>`` of a submission, by number; none for an ordinary folder.

    Raises ``UsageError`` when two folders have one number, when there are too many, or when
    answers or a folder named by one of ``tracks`` stand beside them (``run.json`` may).
    """
    if not source.is_dir():
        return []
    names = sorted(os.listdir(source))
    numbered: dict[int, Path] = {}
    for name in names:
        match, path = _ATTEMPT.fullmatch(name), source / name
        if match is None or not path.is_dir() or path.is_symlink():
            continue
        first = numbered.setdefault(int(match[1]), path)
        if first != path:
            raise UsageError(f"{source}: {first.name} and {name} have the same number; rename one")
    if not numbered:
        return []
    if len(numbered) > MAX_ATTEMPTS:
        raise UsageError(f"{source}: over {MAX_ATTEMPTS} attempts; remove some folders")
    for name in names:
        beside = name.endswith(_ANSWERS) and name != "run.json"
        if beside or (name in tracks and (source / name).is_dir()):
            raise UsageError(
                f"{source}: {clip(name)} stands beside {numbered[min(numbered)].name}; "
                "move it into one of the attempts"
            )
    return [numbered[number] for number in sorted(numbered)]


def read_submission(
    source: Path, tasks: Sequence[Task], limits: SubmissionLimits | None = None
) -> Submission:
    """Read the submission at ``source``: a folder of answers, a packed file, or attempt folders.

    ``tasks`` are those that it may answer, ``limits`` what it may cost. Raises
    ``UsageError`` where it cannot be used.
    """
    folders = attempt_folders(source, {task.track for task in tasks})
    budget = Budget(limits)
    parts = [collect(folder, tasks, budget) for folder in folders or [source]]
    if not folders:
        return parts[0]
    try:
        return join_attempts(source, parts, run_card(source))
    except BadJson:  # none of its own, or none that can be read
        return join_attempts(source, parts, {})


def join_attempts(source: Path, found: Sequence[Submission], run: Mapping[str, Any]) -> Submission:
    """Return one submission of all attempts ``found``: each task's answer is the first there is.

    ``run`` is the submission's own ``run.json``; without it the first one of an attempt counts. The
    usage of a task is the mean over the attempts that report a figure, with the first ``ending``.
    """
    kept = [attempt for attempt in found if attempt.answers] or found[:1]
    joined = Submission(source, run=dict(run), attempts=tuple(kept), budget=found[0].budget)
    for attempt in found:
        label = attempt.source.name
        joined.answers.update(
            {name: raw for name, raw in attempt.answers.items() if name not in joined.answers}
        )
        joined.unknown += attempt.unknown
        for text in attempt.notices:
            joined.notice(f"{label}: {text}")
        if not attempt.answers:
            joined.notice(f"{label}: no answer in it; left out")
        joined.run = joined.run or attempt.run
    for task_id in sorted({task_id for attempt in found for task_id in attempt.usage}):
        rows = [attempt.usage[task_id] for attempt in found if task_id in attempt.usage]
        first = {name: rows[0][name] for name in ("ending",) if name in rows[0]}
        joined.usage[task_id] = {"task_id": task_id, **first, **mean_usage(rows)}
    return joined


def mean_usage(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean of each figure over the lines of usage that have a plausible one; a figure
    that none has is left out."""
    means = {}
    for figure in USAGE_FIGURES:
        values = [amount for row in rows if (amount := amount_of(row, figure)) is not None]
        if values:
            means[figure] = math.fsum(values) / len(values)
    return means


def amount_of(row: Mapping[str, Any], figure: str) -> float | None:
    """Return a figure of a line of ``usage.jsonl``, or None where it is no number from 0 to 1e15
    (True and False are none)."""
    value = row.get(figure)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e15:
        return float(value)
    return None
