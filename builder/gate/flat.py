"""Whether the config ``tasks`` says what the tracks' configs say, and no more."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builder.release.flat import CONFIG
from builder.release.reader import rows, shards
from builder.release.schemas import FLAT, TASKS
from grader.io.release import Release

_ALIKE = tuple(name for name in FLAT.names if name in TASKS.names)


def flat_problems(opened: Release, split: str) -> Iterator[str]:
    """Rows that are not those of the tracks; answers that are not right, or are private.

    Right answers are asked of the grader's own reading of truths and labels, not of the builder's.
    """
    public = opened.public.path
    truths: dict[str, Any] = {}
    if opened.has_public_truth(split):
        tasks = opened.tasks(split, prompts=False)
        known = opened.truths(split, tasks)
        truths = {task.task_id: (task, known[task.task_id]) for task in tasks}
    own = {row["task_id"]: row for row in _tracks_rows(opened, public, split)}
    for row in rows(shards(public, CONFIG, split)):
        name = row["task_id"]
        theirs = own.pop(name, None)
        if theirs is None or any(row[column] != theirs[column] for column in _ALIKE):
            yield f"{CONFIG}: {name} is not as its track's config has it"
        elif name not in truths and row["answer"] is not None:
            yield f"{CONFIG}: {name} has an answer, and its truth is private"
        elif name in truths:
            task, truth = truths[name]
            if row["answer"] != task.shape.gold(task, truth):
                yield f"{CONFIG}: the answer to {name} is not the right one"
    yield from (f"{CONFIG}: {name} is absent" for name in own)


def _tracks_rows(opened: Release, public: Path, split: str) -> Iterator[dict[str, Any]]:
    for track in opened.public.manifest["splits"][split]["tracks"]:
        yield from rows(shards(public, track, split), _ALIKE)
