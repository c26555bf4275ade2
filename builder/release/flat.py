"""The config ``tasks``: all tracks in one flat table, what a viewer shows first.

It is what a notebook loads, and says nothing that the tracks' own configs do not say: the columns
that a person wants, the schema of the answer, and where truth is public the right answer as a test
taker would write it. So it is made from the written shards.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from builder.release.arrow import table_from_rows
from builder.release.reader import groups, rows, shards
from builder.release.schemas import FLAT
from builder.release.shards import GROUP_ROWS, Shard, marked, write_groups
from builder.splits.track import Row
from grader.io.jsonio import canonical
from grader.io.schemas import schema
from grader.release.rows import Rows
from grader.scoring.track import Track

CONFIG: Final = "tasks"
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
    read = Rows(tracks)
    paths = [path for track in tracks for path in shards(job.public, track, job.split)]
    files = [pq.ParquetFile(path).metadata for path in paths]
    count = -(-sum(file.num_rows for file in files) // GROUP_ROWS)
    size = sum(f.row_group(k).total_byte_size for f in files for k in range(f.num_row_groups))
    merged = merge(*(_flat_rows(job, track, read) for track in tracks), key=itemgetter("task_id"))
    tables = (
        table_from_rows(rows, FLAT) for rows in iter(lambda: [*islice(merged, GROUP_ROWS)], [])
    )
    return write_groups(
        CONFIG, job.split, job.public, marked(FLAT, job.canary), tables, count, size
    )


def _flat_rows(job: FlatJob, track: str, read: Rows) -> Iterator[Row]:
    """Yield the tasks of a track in the order of ids, in which its truths are too."""
    truths: Iterator[Row] = iter(())
    labels = pa.table({"instance_id": pa.array([], pa.string())})
    if job.answered:
        truths = rows(shards(job.public, f"{track}_truth", job.split))
        paths = shards(job.public, f"{track}_labels", job.split)
        if tables := [table for table, _ in groups(paths)]:
            labels = pa.concat_tables(tables)
    places = {name: k for k, name in enumerate(labels["instance_id"].to_pylist())}
    schemas: dict[str, str] = {}
    for row in rows(shards(job.public, track, job.split)):
        name = row["answer_schema"]
        if name not in schemas:
            schemas[name] = canonical(schema(f"answers/{name}"))
        answer = None
        if job.answered:
            task, truth, values = read.task(row), next(truths), None
            if truth["task_id"] != task.task_id:
                raise ValueError(f"the truth after {task.task_id} is of {truth['task_id']}")
            if task.shape.kind == "predictions":
                values = labels["values"][places[task.instance_id]].as_py()
            answer = task.shape.gold(task, read.truth(truth, values))
        alike = {column: row[column] for column in _ALIKE}
        yield {**alike, "answer_schema_json": schemas[name], "answer": answer}
