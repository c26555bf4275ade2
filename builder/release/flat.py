"""The config ``tasks``: all tracks in one flat table, what a viewer shows first.

It is what a notebook loads, and says nothing that the tracks' own configs do not say: the columns
that a person wants, the schema of the answer, and where truth is public the right answer as a test
taker would write it. So it is made from the written shards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from builder.release.arrow import table_from_rows
from builder.release.reader import groups, rows, shards
from builder.release.schemas import FLAT
from builder.release.shards import GROUP_ROWS, Shard, marked, write_groups
from builder.track import Row
from builder.tracks import TRACKS
from grader.io.jsonio import canonical
from grader.io.rows import Rows
from grader.io.schemas import schema

CONFIG: Final = "tasks"
_ALIKE: Final = tuple(name for name in FLAT.names if name not in ("answer_schema_json", "answer"))


@dataclass(frozen=True, slots=True)
class FlatJob:
    """The config of one split: the public repository, whose shards of tracks are written, and
    whether truth is public, so that there are answers."""

    public: Path
    split: str
    canary: str
    answered: bool


def write_flat(job: FlatJob) -> list[Shard]:
    """Write the config of a split, in the order of ids; return its shards. Runs in a worker."""
    tables = [_flat_table(job, track) for track in TRACKS if shards(job.public, track, job.split)]
    table = pa.concat_tables(tables).sort_by("task_id")
    pieces = [table.slice(start, GROUP_ROWS) for start in range(0, len(table), GROUP_ROWS)]
    return write_groups(CONFIG, job.split, job.public, marked(FLAT, job.canary), pieces)


def _flat_table(job: FlatJob, track: str) -> pa.Table:
    """Return the tasks of a track, in the order of its own config."""
    truths: dict[str, Row] = {}
    labels = pa.table({"instance_id": pa.array([], pa.string())})
    if job.answered:
        truths = {r["task_id"]: r for r in rows(shards(job.public, f"{track}_truth", job.split))}
        paths = shards(job.public, f"{track}_labels", job.split)
        if tables := [table for table, _ in groups(paths)]:
            labels = pa.concat_tables(tables)
    places = {name: k for k, name in enumerate(labels["instance_id"].to_pylist())}
    schemas: dict[str, str] = {}
    read = Rows()

    def answer(row: Mapping[str, Any]) -> str | None:
        """The right answer, as the content of the task's answer file."""
        if not job.answered:
            return None
        task, values = read.task(row), None
        if task.shape.kind == "predictions":
            values = labels["values"][places[task.instance_id]].as_py()
        return task.shape.gold(task, read.truth(truths[task.task_id], values))

    def flat(row: Mapping[str, Any]) -> Row:
        name = row["answer_schema"]
        text = schemas.setdefault(name, "") or canonical(schema(f"answers/{name}"))
        schemas[name] = text
        alike = {column: row[column] for column in _ALIKE}
        return {**alike, "answer_schema_json": text, "answer": answer(row)}

    return table_from_rows([flat(r) for r in rows(shards(job.public, track, job.split))], FLAT)
