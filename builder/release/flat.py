"""The config ``tasks``: all tracks in one flat table, what a viewer shows first.

It is what a notebook loads, and says nothing that the tracks' own configs do not say: the columns
that a person wants, the schema of the answer, and where truth is public the right answer as a test
taker would write it. So it is made from the written shards, one of its own for each of theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from builder.release.arrow import table_from_rows
from builder.release.reader import column_names, groups, rows, shards
from builder.release.schemas import FLAT
from builder.release.shards import Shard, ShardJob, marked, shard_name, write_tables
from builder.tracks import TRACKS
from grader.io.jsonio import canonical
from grader.io.rows import task_of, truth_of
from grader.io.schemas import schema
from grader.model import MODELS, Truth
from grader.shape import Task

CONFIG: Final = "tasks"
_TOLD: Final = tuple(name for name in FLAT.names if name not in ("answer_schema_json", "answer"))


def write_flat(public: Path, split: str, canary: str, *, private: bool) -> list[Shard]:
    """Write a split's part of the config from what stands in ``public``; its shards.

    ``private`` is whether the split's truth is: then no row has an answer.
    """
    sources = [(track, file) for track in TRACKS for file in shards(public, track, split)]
    sources.sort(key=lambda source: _first_id(source[1]))
    truths = {} if private else {track: _truths(public, track, split) for track, _ in sources}
    written = []
    for number, (track, file) in enumerate(sources):
        name = shard_name(CONFIG, split, number, len(sources))
        job = ShardJob(CONFIG, split, public, name, marked(FLAT, canary), (), ())
        written.append(write_tables(job, _groups(file, truths.get(track))))
    return written


def _first_id(file: Path) -> str:
    """Shards in the order of their first ids are, as a whole, in the order of ids. An empty one of
    an import comes first."""
    with pq.ParquetFile(file) as opened:
        if not opened.num_row_groups:
            return ""
        return min(opened.read_row_group(0, columns=["task_id"]).column(0).to_pylist(), default="")


def _groups(file: Path, truths: Iterator[Truth] | None) -> Iterator[pa.Table]:
    for group, _ in groups([file]):
        yield table_from_rows([_row(row, truths) for row in group.to_pylist()], FLAT)


def _row(row: Mapping[str, Any], truths: Iterator[Truth] | None) -> dict[str, Any]:
    told = {name: row[name] for name in _TOLD}
    told["answer_schema_json"] = canonical(schema(f"answers/{row['answer_schema']}"))
    return {**told, "answer": None if truths is None else _answer(task_of(row), next(truths))}


def _answer(task: Task, truth: Truth) -> str:
    """The right answer, as the content of the task's answer file; both tables are in one order."""
    if truth.task_id != task.task_id:
        raise ValueError(f"the truth after {task.task_id} is of {truth.task_id}")
    return task.shape.gold(task, truth)


def _truths(public: Path, track: str, split: str) -> Iterator[Truth]:
    """The truths of a track in the order of its tasks, with what the labels hold for them."""
    labels = _Labels(shards(public, f"{track}_labels", split))
    for row in rows(shards(public, f"{track}_truth", split)):
        yield truth_of(row, *labels.of(row["instance_id"]))


class _Labels:
    """Held-out labels by instance, as Arrow until one is asked for."""

    def __init__(self, files: Sequence[Path]) -> None:
        names = column_names(files)
        self._columns = [name for name in ("values", MODELS) if name in names]
        wanted = ["instance_id", *self._columns]
        tables = [table for table, _ in groups(files, wanted)]
        self._table = pa.concat_tables(tables) if tables else None
        ids = self._table.column("instance_id").to_pylist() if self._table is not None else []
        self._places = {name: place for place, name in enumerate(ids)}

    def of(self, instance: str) -> tuple[Any, Any]:
        """Labels and models of an instance, ``None`` where there are none."""
        place = self._places.get(instance)
        if place is None or self._table is None:
            return None, None
        found = {name: self._table.column(name)[place].as_py() for name in self._columns}
        return found.get("values"), found.get(MODELS)
