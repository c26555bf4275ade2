"""The config ``tasks``: all tracks in one flat table, what a viewer shows first.

It is what a notebook loads, and says nothing that the tracks' own configs do not say: the columns
that a person wants, the schema of the answer, and where truth is public the right answer as a test
taker would write it. So it is made from the written shards, one of its own for each of theirs, by
whoever wrote that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from builder.release.arrow import table_from_rows
from builder.release.parts import part_name, read_staged
from builder.release.reader import groups, rows, shards
from builder.release.schemas import FLAT
from builder.release.shards import (
    Shard,
    ShardJob,
    marked,
    shard_name,
    write_shard,
    write_tables,
)
from builder.track import Row
from builder.tracks import TRACKS
from grader.io.jsonio import canonical
from grader.io.rows import Rows
from grader.io.schemas import schema
from grader.shape import Task

CONFIG: Final = "tasks"
_TOLD: Final = tuple(name for name in FLAT.names if name not in ("answer_schema_json", "answer"))
Truth = tuple[Row, Callable[[], Any]]
"""A row of truth, and the values that its instance's labels hold."""


@dataclass(frozen=True, slots=True)
class FlatJob:
    """What a worker needs to tell one shard of a track: what it writes, the written ``file``, the
    job that wrote it, and whether there are answers. Without the job the truths are those of the
    repository, all of them."""

    shard: ShardJob
    track: str
    file: Path
    staged: ShardJob | None
    answered: bool


@dataclass(frozen=True, slots=True)
class WriteJob:
    """A shard to write, and what tells it in the config, if it is one of tasks."""

    shard: ShardJob
    told: FlatJob | None


def write_jobs(
    public: Path, split: str, canary: str, staged: Sequence[ShardJob], *, private: bool
) -> list[WriteJob]:
    """All that is written of a split, of which ``staged`` are the shards of the tracks' configs;
    first those that are told besides, which takes longest. ``private`` is whether its truth is:
    then no row has an answer."""
    tasks = [job for job in staged if job.config in TRACKS]
    tasks.sort(key=_first_staged)
    sources = [_Source(job.config, job.repository / job.name, job) for job in tasks]
    told = _jobs(public, split, canary, sources, answered=not private)
    rest = (job for job in staged if job.config not in TRACKS)
    return [*map(WriteJob, tasks, told), *(WriteJob(job, None) for job in rest)]


def flat_jobs(public: Path, split: str, canary: str) -> list[FlatJob]:
    """What tells a split of an import from what stands in ``public``; its truth is there, too."""
    sources = [
        _Source(track, file, None) for track in TRACKS for file in shards(public, track, split)
    ]
    sources.sort(key=lambda source: _first_id(source.file))
    return _jobs(public, split, canary, sources, answered=True)


@dataclass(frozen=True, slots=True)
class _Source:
    """A shard of a track's tasks, and the job that writes it, if one does."""

    track: str
    file: Path
    staged: ShardJob | None


def _jobs(
    public: Path, split: str, canary: str, sources: Sequence[_Source], *, answered: bool
) -> list[FlatJob]:
    """A job for each source. Shards in the order of their first ids are, as a whole, in the order
    of ids."""
    schema = marked(FLAT, canary)
    names = (shard_name(CONFIG, split, number, len(sources)) for number in range(len(sources)))
    return [
        FlatJob(
            ShardJob(CONFIG, split, public, name, schema),
            source.track,
            source.file,
            source.staged,
            answered,
        )
        for name, source in zip(names, sources, strict=True)
    ]


def write_job(job: WriteJob) -> list[Shard]:
    """Writes what a job asks for; runs in a worker."""
    return [*write_shard(job.shard), *([] if job.told is None else write_flat(job.told))]


def write_flat(job: FlatJob) -> list[Shard]:
    """Writes one shard of the config."""
    return [write_tables(job.shard, _groups(job))]


def _first_staged(job: ShardJob) -> str:
    """The first id of a shard of tasks that is not written yet; empty without rows."""
    return next((table.column(0)[0].as_py() for table in job.tables()), "")


def _first_id(file: Path) -> str:
    """The first id of a shard; an empty one of an import comes first."""
    with pq.ParquetFile(file) as opened:
        if not opened.num_row_groups:
            return ""
        return min(opened.read_row_group(0, columns=["task_id"]).column(0).to_pylist(), default="")


def _groups(job: FlatJob) -> Iterator[pa.Table]:
    truths: Iterator[Truth] | None = None
    if job.answered:
        truths = _published(job) if job.staged is None else _staged(job.staged)
    read = Rows()
    for group, _ in groups([job.file]):
        yield table_from_rows([_row(row, truths, read) for row in group.to_pylist()], FLAT)


def _row(row: Row, truths: Iterator[Truth] | None, read: Rows) -> dict[str, Any]:
    told = {name: row[name] for name in _TOLD}
    told["answer_schema_json"] = _schema_json(row["answer_schema"])
    answer = None if truths is None else _answer(read, read.task(row), *next(truths))
    return {**told, "answer": answer}


@cache
def _schema_json(name: str) -> str:
    return canonical(schema(f"answers/{name}"))


def _answer(read: Rows, task: Task, truth: Row, values: Callable[[], Any]) -> str:
    """The right answer, as the content of the task's answer file; both tables are in one order."""
    if truth["task_id"] != task.task_id:
        raise ValueError(f"the truth after {task.task_id} is of {truth['task_id']}")
    labels = values() if task.shape.kind == "predictions" else None
    return task.shape.gold(task, read.truth(truth, labels))


def _staged(job: ShardJob) -> Iterator[Truth]:
    """The truths of a shard of tasks in their order: a part holds both in the order of ids."""
    read = cache(lambda number: read_staged(job.staged / part_name(number), f"{job.config}_labels"))
    for group, truths in zip(job.groups, job.tables(f"{job.config}_truth"), strict=True):
        for number, row in zip(group.parts.tolist(), truths.to_pylist(), strict=True):
            yield row, partial(_label, partial(read, number), row["instance_id"])


def _published(job: FlatJob) -> Iterator[Truth]:
    """The truths of a track in the order of its tasks, from what stands in the repository."""
    public, split = job.shard.repository, job.shard.split
    tables = [table for table, _ in groups(shards(public, f"{job.track}_labels", split))]
    labels = pa.concat_tables(tables) if tables else pa.table({"instance_id": []})
    for row in rows(shards(public, f"{job.track}_truth", split)):
        yield row, partial(_label, lambda: labels, row["instance_id"])


def _label(read: Callable[[], pa.Table], instance: str) -> Any:
    """The values that the labels hold for an instance; None where there are none."""
    labels = read()
    place = labels["instance_id"].index(instance).as_py()
    return labels["values"][place].as_py() if place >= 0 else None
