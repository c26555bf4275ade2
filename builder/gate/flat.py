"""Whether the config ``tasks`` says what the tracks' configs say, and no more.

The check of a part leaves two hashes of each of its tasks: of what the flat row must repeat, and of
the right answer, by the grader's own reading of truths and labels. The gate holds the
released rows against them.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from builder.gate.marks import SetSum
from builder.gate.part_rows import PartRows
from builder.release.engine import Workers, map_instances
from builder.release.flat import CONFIG
from builder.release.reader import rows, shards
from builder.release.schemas import FLAT, TASKS
from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task

_ALIKE: Final = tuple(name for name in FLAT.names if name in TASKS.names)

Mark = Sequence[str]
"""A task's id, the hash of what its flat row repeats, and that of its right answer; the last is
empty where truth is private."""


def flat_marks(part: PartRows, asked: Iterable[tuple[Task, Truth]]) -> list[list[str]]:
    """The marks of a part's tasks; ``asked`` are the tasks with their truths."""
    answers = {}
    if not part.tables.private:
        for task, truth in asked:
            try:
                answers[task.task_id] = _hash(task.shape.gold(task, truth))
            except Exception:  # a damaged truth, which other checks name: no answer is right
                answers[task.task_id] = "none"
    return [
        [row["task_id"], _repeated(row), answers.get(row["task_id"], "")]
        for tasks in part.tasks.values()
        for row in tasks
    ]


@dataclass(frozen=True, slots=True)
class FlatFile:
    """A shard of the config, and whether the truth of its split is public."""

    path: Path
    answered: bool


def flat_problems(
    public: Path, split: str, sums: int, marks: Iterable[Mark], answered: bool, workers: Workers
) -> Iterator[str]:
    """Rows that are not those of the tracks; answers that are not right, or are private.

    ``sums`` are those of all ``marks``: where the rows have the same, nobody looks at single ones.
    """
    files = [FlatFile(path, answered) for path in shards(public, CONFIG, split)]
    if (sum(map_instances(_sum_of, files, workers)) - sums) % SetSum.MODULUS:
        yield from _row_problems(public, split, marks)


def _sum_of(file: FlatFile) -> int:
    """The sum of the marks of a shard's rows; runs in a worker."""
    found = SetSum()
    for row in rows([file.path]):
        found.add([row["task_id"], _repeated(row), _answer(row, file.answered)])
    return found.value


def _answer(row: Mapping[str, Any], answered: bool) -> str:
    return _hash(row["answer"] or "") if answered or row["answer"] is not None else ""


def _row_problems(public: Path, split: str, marks: Iterable[Mark]) -> Iterator[str]:
    own = {name: (repeated, answer) for name, repeated, answer in marks}
    for row in rows(shards(public, CONFIG, split)):
        name = row["task_id"]
        repeated, answer = own.pop(name, ("", ""))
        if _repeated(row) != repeated:
            yield f"{CONFIG}: {name} is not as its track's config has it"
        elif not answer and row["answer"] is not None:
            yield f"{CONFIG}: {name} has an answer, and its truth is private"
        elif answer and _hash(row["answer"] or "") != answer:
            yield f"{CONFIG}: the answer to {name} is not the right one"
    yield from (f"{CONFIG}: {name} is absent" for name in own)


def _repeated(row: Mapping[str, Any]) -> str:
    return _hash(canonical([row[column] for column in _ALIKE]))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
