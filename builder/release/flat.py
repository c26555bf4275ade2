"""The config ``tasks``: all tracks in one flat table, what a viewer shows first.

It is what a notebook loads, and says nothing that the tracks' own configs do not say: the columns
that a person wants, the schema of the answer, and where truth is public the right answer as a test
taker would write it. So it is made from the written shards.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder.release.arrow import table_from_rows
from builder.release.reader import rows, shards
from builder.release.rows import FLAT, read_task
from builder.release.shards import GROUP_ROWS, Shard, schema_with_canary, write_groups
from builder.splits.track import Row
from grader.io.jsonio import canonical_json
from grader.io.schemas import schema
from grader.scoring.track import Track

CONFIG: Final = "tasks"
_ALIKE: Final = tuple(name for name in FLAT.names if name not in ("answer_schema_json", "answer"))


@dataclass(frozen=True, slots=True)
class FlatJob:
    """The work of writing the config ``tasks`` of one split.

    ``public`` is the public repository, where the shards of tracks are already. ``answered`` says
    that truth is public, so that rows have answers.
    """

    public: Path
    split: str
    canary: str
    answered: bool


def write_flat(job: FlatJob, tracks: Mapping[str, Track]) -> list[Shard]:
    """Write the config ``tasks`` of a split in the order of ids; return its shards.

    ``tracks`` may include some that the split does not have.
    """
    tasks = [row for track in tracks.values() for row in _flat_rows(job, track)]
    table = table_from_rows(sorted(tasks, key=lambda row: str(row["task_id"])), FLAT)
    groups = [table.slice(start, GROUP_ROWS) for start in range(0, len(table), GROUP_ROWS)]
    return write_groups(CONFIG, job.split, job.public, schema_with_canary(FLAT, job.canary), groups)


def _flat_rows(job: FlatJob, track: Track) -> Iterator[Row]:
    """Yield the rows of the config ``tasks`` for one track. Answers are None unless truth is
    public."""
    truths, labels = {}, {}
    if job.answered:
        paths = (
            shards(job.public, f"{track.name}_{name}", job.split) for name in ("truth", "labels")
        )
        truths, labels = ({next(iter(row.values())): row for row in rows(own)} for own in paths)
    schemas: dict[str, str] = {}
    for row in rows(shards(job.public, track.name, job.split)):
        name, answer = row["answer_schema"], None
        if name not in schemas:
            schemas[name] = canonical_json(schema(f"answers/{name}"))
        if job.answered:
            task, truth = read_task(row, truths, labels, track)
            answer = task.shape.gold(task, truth)
        alike = {column: row[column] for column in _ALIKE}
        yield {**alike, "answer_schema_json": schemas[name], "answer": answer}
