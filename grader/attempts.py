"""Repeated attempts: ``attempt-1/ ... attempt-k/`` as the replicates of one submission.

Variants in :data:`MERGED` are scored over all attempts together; every other variant by the
first attempt. An attempt folder without any answer is left out; in the others, a task without a
usable answer is a replicate of which every answer is invalid.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from grader.found import Found
from grader.model import Checked, Task

MERGED: Final = frozenset({"unit_answers"})
"""Answer shapes whose replicates are scored together."""

_ATTEMPT: Final = re.compile(r"attempt-(\d{1,4})")


def attempt_folders(source: Path) -> list[Path]:
    """The attempt folders of a submission, by number; none for an ordinary folder."""
    if not source.is_dir():
        return []
    found = [(m, source / name) for name in os.listdir(source) if (m := _ATTEMPT.fullmatch(name))]
    numbered = [
        (int(match[1]), path) for match, path in found if path.is_dir() and not path.is_symlink()
    ]
    return [path for _, path in sorted(numbered)]


def merge(task: Task, attempts: Sequence[Checked]) -> Checked:
    """One checked answer of all attempts at a task."""
    if task.spec.shape not in MERGED:
        return attempts[0]
    usable = [attempt for attempt in attempts if attempt.status == "scored"]
    if not usable:
        return next((a for a in attempts if a.status == "invalid"), attempts[0])
    sets: list[Any] = []
    for attempt in attempts:
        sets += attempt.content if attempt.status == "scored" else (None,)
    lost = [attempt.message for attempt in attempts if attempt.status != "scored"]
    return Checked("scored", content=tuple(sets), message="; ".join(lost))


def join(source: Path, found: Sequence[Found]) -> Found:
    """What the attempts hold, as one submission."""
    joined = Found(source)
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
    return joined
