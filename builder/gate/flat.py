"""Whether the config ``tasks`` says what the tracks' configs say, and no more.

The check of a part leaves a hash of the right answer to each of its tasks, by the grader's own
reading of truths and labels; the gate holds the released answers against them.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import duckdb

from builder.gate.tables import tracks
from builder.release.flat import CONFIG
from builder.release.reader import shards
from builder.release.schemas import FLAT, TASKS
from grader.model import Truth
from grader.shape import Task

_ALIKE: Final = tuple(name for name in FLAT.names if name in TASKS.names)

_BESIDE: Final = f"""
SELECT
  coalesce(flat.task_id, own.task_id),
  flat.task_id IS NULL,
  {" OR ".join(f"flat.{name} IS DISTINCT FROM own.{name}" for name in _ALIKE)},
  sha256(flat.answer)
FROM read_parquet($flat) AS flat
FULL JOIN read_parquet($tracks) AS own ON flat.task_id = own.task_id
ORDER BY 1
"""


def answer_hashes(asked: Iterable[tuple[Task, Truth]]) -> dict[str, str]:
    """The hash of the right answer to each task, by its id."""
    answers = {}
    for task, truth in asked:
        try:
            text = task.shape.gold(task, truth)
        except Exception:  # a damaged truth, which other checks name: no answer is right
            answers[task.task_id] = ""
        else:
            answers[task.task_id] = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return answers


def flat_problems(public: Path, split: str, answers: Mapping[str, str] | None) -> Iterator[str]:
    """Rows that are not those of the tracks; ``answers`` that are not right, or, where the truth of
    the split is private (None), are there."""
    paths = {
        "flat": [str(path) for path in shards(public, CONFIG, split)],
        "tracks": [str(p) for track in tracks(public) for p in shards(public, track, split)],
    }
    with duckdb.connect() as connection:
        rows = connection.execute(_BESIDE, paths).fetchall()
    for name, absent, differs, answer in rows:
        if absent:
            yield f"{CONFIG}: {name} is absent"
        elif differs:
            yield f"{CONFIG}: {name} is not as its track's config has it"
        elif answers is None and answer is not None:
            yield f"{CONFIG}: {name} has an answer, and its truth is private"
        elif answers is not None and answer != answers.get(name):
            yield f"{CONFIG}: the answer to {name} is not the right one"
