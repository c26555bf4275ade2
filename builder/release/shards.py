"""From staged parts to Parquet shards: order, row groups, shard sizes, writing.

The bytes of a shard depend on the rows and on the pinned Parquet writer alone. Rows are sorted by
id; dictionaries are kept for strings only (measured: float32 tables grow with one); a page index
lets the Hub's viewer and DuckDB read single pages.

The config ``tasks`` has all tracks in one flat table, what a viewer shows first and a notebook
loads. It is made from the written shards and says nothing that these do not say: the columns that a
person wants, the schema of the answer, and where truth is public the right answer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builder.release.arrow import commitment, content_sha256, table_from_rows
from builder.release.parts import read_staged, sort_key
from builder.release.reader import rows, shards
from builder.release.rows import COMMITMENTS, FLAT, read_task
from builder.splits.track import Row
from grader.io.files import file_sha256
from grader.io.jsonio import canonical_json
from grader.io.schemas import schema as answer_schema
from grader.scoring.track import Track

SHARD_BYTES: Final = 256 * 2**20
"""Target size of a shard's rows in memory; a shard is a little smaller on disk."""

GROUP_ROWS: Final = 1000
"""Rows in a row group, scenes apart."""

GROUP_SCENES: Final = 20
"""Instances in a row group of scenes, whose rows carry tables."""

SCENES: Final = "_scenes"

COMMITTED: Final = "commitments"
"""The public config of commitments to private rows."""


CONFIG: Final = "tasks"
_ALIKE: Final = tuple(name for name in FLAT.names if name not in ("answer_schema_json", "answer"))


@dataclass(frozen=True, slots=True)
class ConfigJob:
    """The work of writing one config of a split into ``repository``, from the folders of staged
    ``parts`` if there are any. ``row_salts`` is set where every row is committed to."""

    config: str
    split: str
    repository: Path
    schema: pa.Schema
    parts: Sequence[Path] = ()
    row_salts: bytes | None = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class Shard:
    """A written shard as the manifest lists it.

    ``groups`` are the content hashes of its row groups in order: a config's hash is made of them,
    so that it does not depend on where one shard ends and the next begins.
    """

    config: str
    split: str
    repository: Path
    name: str
    rows: int
    bytes: int
    sha256: str
    content_sha256: str
    groups: tuple[str, ...]


def write_config(job: ConfigJob) -> tuple[list[Shard], list[list[pa.Table]]]:
    """Write a config from staged parts: whole row groups, spread evenly over its shards.

    Return the shards and, if rows are committed to, the commitments to the rows of each: a table
    for each row group. Raises ``ValueError`` when two rows have the same id. Runs in a worker.
    """
    order, places = _row_groups(job)
    size = sum(read_staged(folder, job.config).nbytes for folder in job.parts)
    cuts = _spread(len(places) - 1, size)
    shards, committed = list[Shard](), list[list[pa.Table]]()
    for index, (first, last) in enumerate(cuts):
        # Mapped one at a time: a config may be larger than the memory there is.
        tables = (read_staged(folder, job.config) for folder in job.parts)
        begin, bounds = places[first], pairwise(places[first : last + 1])
        shard = _take(tables, order[begin : places[last]].to_numpy().astype(np.int64))
        groups = [shard.slice(start - begin, end - start) for start, end in bounds]
        place = (index, len(cuts))
        shards.append(write_shard(job, place, groups))
        if job.row_salts is not None:
            committed.append([_commitments(job, job.row_salts, table) for table in groups])
    return shards, committed


def _take(tables: Iterable[pa.Table], numbers: npt.NDArray[np.int64]) -> pa.Table:
    """Return the rows with these numbers, in their order, as one chunk."""
    taken, home, start = list[pa.Table](), np.empty_like(numbers), 0
    for number, table in enumerate(tables):
        own = (start <= numbers) & (numbers < start + table.num_rows)
        taken.append(table.take(numbers[own] - start))
        home[own], start = number, start + table.num_rows
    places = np.argsort(np.argsort(home, kind="stable"))
    return pa.concat_tables(taken).combine_chunks().take(places)


def _spread(groups: int, size: int) -> list[tuple[int, int]]:
    """Return the row groups of each shard as (first, one after the last). ``groups`` counts them
    all, ``size`` their bytes, which decide the number of shards."""
    count = max(1, min(groups, -(-size // SHARD_BYTES)))
    return list(pairwise(round(index * groups / count) for index in range(count + 1)))


def schema_with_canary(schema: pa.Schema, canary: str) -> pa.Schema:
    """Return the schema with the canary in its metadata, so that every shard carries it."""
    return schema.with_metadata({"canary": f"causal-exams:{canary}"})


def write_groups(job: ConfigJob, sizes: Sequence[int], groups: Iterable[pa.Table]) -> list[Shard]:
    """Write a row group of ``sizes`` bytes for each of ``groups``; return the shards."""
    cuts, waiting = _spread(len(sizes), sum(sizes)), iter(groups)
    return [
        write_shard(job, (index, len(cuts)), [*islice(waiting, last - first)])
        for index, (first, last) in enumerate(cuts)
    ]


def _commitments(job: ConfigJob, salts: bytes, table: pa.Table) -> pa.Table:
    pairs = [commitment(salts, job.config, job.split, row) for row in table.to_pylist()]
    ids, hashes = zip(*pairs, strict=True)
    return pa.table([[job.config] * len(pairs), ids, hashes], schema=COMMITMENTS)


def write_shard(job: ConfigJob, place: tuple[int, int], groups: Sequence[pa.Table]) -> Shard:
    """Write one shard, with one row group for each table; the file appears under its name when
    whole. ``place`` is its number and how many shards the config has."""
    name, schema = f"{job.config}/{job.split}-{place[0]:05d}-of-{place[1]:05d}.parquet", job.schema
    file = job.repository / name
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(file.name + ".unfinished")
    with pq.ParquetWriter(
        str(temporary),
        schema,
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=[path for field in schema for path in _texts(field.name, field.type)],
        write_page_index=True,
    ) as writer:
        for table in groups:
            table = table.replace_schema_metadata(schema.metadata)
            writer.write_table(table, row_group_size=max(1, table.num_rows))
    digest, size = file_sha256(temporary), temporary.stat().st_size
    temporary.rename(file)
    return Shard(
        job.config,
        job.split,
        job.repository,
        name,
        sum(table.num_rows for table in groups),
        size,
        digest,
        content_sha256(schema, groups),
        tuple(content_sha256(schema, [table]) for table in groups),
    )


def _texts(path: str, kind: pa.DataType) -> Iterator[str]:
    """Yield the Parquet paths of the strings in the column ``path``, at any depth."""
    if pa.types.is_list(kind):
        yield from _texts(f"{path}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            yield from _texts(f"{path}.{kind.field(index).name}", kind.field(index).type)
    elif pa.types.is_string(kind):
        yield path


def _row_groups(job: ConfigJob) -> tuple[pa.Array, list[int]]:
    """Return the numbers of a config's rows, through all parts, in the order of ids, and where row
    groups begin and the last ends. Views of an instance are in one. Raises ``ValueError`` when two
    rows have the same id."""
    keys = sort_key(job.schema)
    table = pa.concat_tables(read_staged(folder, job.config, keys) for folder in job.parts)
    order = pc.sort_indices(table, sort_keys=[(key, "ascending") for key in keys])
    ids = list(zip(*(column.to_pylist() for column in table.take(order).columns), strict=True))
    starts = [0]
    for place, (last, own) in enumerate(pairwise(ids), start=1):
        if own == last:
            raise ValueError(f"{job.config}: two rows have the id {'/'.join(own)}")
        if own[0] != last[0]:
            starts.append(place)  # of an instance, where rows are views of one
    if job.config.endswith(SCENES):
        return order, [*starts[::GROUP_SCENES], len(ids)]
    return order, [*range(0, len(ids), GROUP_ROWS), len(ids)]


def write_flat(job: ConfigJob, tracks: Mapping[str, Track]) -> list[Shard]:
    """Write the config ``tasks`` of a split, beside the shards of its tracks and in the order of
    ids; return its shards. The rows are made once to count their bytes and once to write them: they
    may be larger than the memory."""
    sizes = [table.nbytes for table in _flat_groups(job, tracks)]
    return write_groups(job, sizes, _flat_groups(job, tracks))


def _flat_groups(job: ConfigJob, tracks: Mapping[str, Track]) -> Iterator[pa.Table]:
    """Yield the row groups of the config ``tasks``, one in memory at a time."""
    tasks = merge(*(_flat_rows(job, track) for track in tracks.values()), key=itemgetter("task_id"))
    while batch := list(islice(tasks, GROUP_ROWS)):
        yield table_from_rows(batch, FLAT)


def _flat_rows(job: ConfigJob, track: Track) -> Iterator[Row]:
    """Yield the rows of the config ``tasks`` for one track in the order of ids. Answers are None
    unless truth is public, and so beside the tasks."""
    tasks, truths, labels = (
        shards(job.repository, f"{track.name}{end}", job.split) for end in ("", "_truth", "_labels")
    )
    right, by_instance = rows(truths), {row["instance_id"]: row for row in rows(labels)}
    schemas: dict[str, str] = {}
    for row in rows(tasks):
        name, answer = row["answer_schema"], None
        if name not in schemas:
            schemas[name] = canonical_json(answer_schema(f"answers/{name}"))
        if truths:
            own = next(right)  # rows of both are in the order of ids
            task, truth = read_task(row, {own["task_id"]: own}, by_instance, track)
            answer = task.shape.gold(task, truth)
        alike = {column: row[column] for column in _ALIKE}
        yield {**alike, "answer_schema_json": schemas[name], "answer": answer}
