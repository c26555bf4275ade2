"""The config ``tasks``: all tracks in one flat table, what a viewer shows first.

It is what a notebook loads, and says nothing that the tracks' own configs do not say: the columns
that a person wants, the schema of the answer, and where truth is public the right answer as a test
taker would write it. So it is made from the written shards.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Final

from builder.release.arrow import table_from_rows
from builder.release.reader import rows, shards
from builder.release.schemas import FLAT
from builder.release.shards import GROUP_ROWS, Shard, marked, write_groups
from builder.splits.track import Row
from grader.io.jsonio import canonical
from grader.io.schemas import schema
from grader.release.rows import task_of, truth_of
from grader.scoring.track import Track

CONFIG: Final = "tasks"
_SCHEMA: Final = itemgetter("answer_schema")
_ALIKE: Final = tuple(name for name in FLAT.names if name not in ("answer_schema_json", "answer"))


@dataclass(frozen=True, slots=True)
class FlatJob:
    """The config of one split: the public repository, where the shards of tracks are written, and
    whether truth is public, so that there are answers."""

    public: Path
    split: str
    canary: str
    answered: bool


def write_flat(job: FlatJob, tracks: Mapping[str, Track]) -> list[Shard]:
    """Write the config of a split in the order of ids, of those of the tracks that it has; return
    its shards."""
    tasks = [row for track in tracks for row in _flat_rows(job, track, tracks)]
    table = table_from_rows(sorted(tasks, key=lambda row: str(row["task_id"])), FLAT)
    groups = [table.slice(start, GROUP_ROWS) for start in range(0, len(table), GROUP_ROWS)]
    return write_groups(CONFIG, job.split, job.public, marked(FLAT, job.canary), groups)


def _flat_rows(job: FlatJob, track: str, tracks: Mapping[str, Track]) -> Iterator[Row]:
    """Yield the tasks of a track."""
    truths, labels = {}, {}
    if job.answered:
        truths = {r["task_id"]: r for r in rows(shards(job.public, f"{track}_truth", job.split))}
        values = ("instance_id", "values")
        for label in rows(shards(job.public, f"{track}_labels", job.split), values):
            labels[label["instance_id"]] = label["values"]
    tasks = list(rows(shards(job.public, track, job.split)))
    schemas = {name: canonical(schema(f"answers/{name}")) for name in {*map(_SCHEMA, tasks)}}
    for row in tasks:
        answer, task = None, task_of(row, tracks)
        if job.answered:
            known = labels[task.instance_id] if task.shape.kind == "predictions" else None
            answer = task.shape.gold(task, truth_of(truths[task.task_id], known))
        alike = {column: row[column] for column in _ALIKE}
        yield {**alike, "answer_schema_json": schemas[_SCHEMA(row)], "answer": answer}
