"""From staged parts to Parquet shards: order, row groups, shard sizes, writing.

The bytes of a shard depend on the rows and on the pinned Parquet writer alone. Rows are sorted by
id; dictionaries are kept for strings only (measured: float32 tables grow with one); a page index
lets the Hub's viewer and DuckDB read single pages.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builder.release.arrow import ContentHasher, commitment, content_sha256
from builder.release.parts import Part, part_name, read_staged, sort_key
from builder.release.schemas import COMMITMENTS
from grader.io.files import file_sha256

SHARD_BYTES: Final = 256 * 2**20
"""Target size of a shard's rows in memory; a shard is a little smaller on disk."""

GROUP_ROWS: Final = 1000
"""Rows in a row group, scenes apart."""

GROUP_SCENES: Final = 20
"""Instances in a row group of scenes, whose rows carry tables."""

SCENES: Final = "_scenes"

COMMITTED: Final = "commitments"
"""The public config of commitments to private rows."""

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one row group in their final order: row ``rows[i]`` of part ``parts[i]``."""

    parts: Indices
    rows: Indices


@dataclass(frozen=True, slots=True)
class ShardJob:
    """What a worker needs to write one shard: the row ``groups`` of the parts in the folder
    ``staged``.

    ``name`` is the shard's path inside ``repository``. ``row_salts`` is set where every row is to
    be committed to; the commitments become the shard ``public``.
    """

    config: str
    split: str
    repository: Path
    name: str
    schema: pa.Schema
    staged: Path = Path()
    groups: Sequence[Group] = ()
    row_salts: bytes | None = field(repr=False, default=None)
    public: "ShardJob | None" = None

    def tables(self, config: str = "") -> Iterator[pa.Table]:
        """The rows of each group in their final order, or those of another ``config`` that stand at
        the same places of their parts."""
        for group in self.groups:
            pieces, places = [], []
            for number in np.unique(group.parts):
                place = np.flatnonzero(group.parts == number)
                table = read_staged(self.staged / part_name(number), config or self.config)
                pieces.append(table.take(pa.array(group.rows[place])))
                places.append(place)
            back = np.argsort(np.concatenate(places), kind="stable")
            yield pa.concat_tables(pieces).take(pa.array(back)).combine_chunks()


@dataclass(frozen=True, slots=True)
class Shard:
    """A written shard as the manifest lists it.

    ``groups`` are the content hashes of its row groups in order: a config's hash is made of them,
    so that it does not depend on where one shard ends and the next begins. ``seconds`` is the time
    that writing took; it never enters a release.
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
    seconds: float


def plan_shards(
    parts: Sequence[Part],
    config: str,
    split: str,
    schema: pa.Schema,
    repository: Path,
    row_salts: bytes | None,
) -> list[ShardJob]:
    """The shards of one config and split: whole row groups, spread evenly; raises ``ValueError``
    when two rows have the same id."""
    groups = row_groups(parts, config, schema)
    size = sum(part.sizes[config][1] for part in parts)
    count = max(1, min(len(groups), -(-size // SHARD_BYTES)))
    cuts = [round(index * len(groups) / count) for index in range(count + 1)]
    staged = parts[0].folder.parent
    return [
        ShardJob(
            config,
            split,
            repository,
            shard_name(config, split, index, count),
            schema,
            staged,
            groups[cuts[index] : cuts[index + 1]],
            row_salts,
        )
        for index in range(count)
    ]


def shard_name(config: str, split: str, index: int, count: int) -> str:
    """The path of a shard inside its repository, as the Hub expects it."""
    return f"{config}/{split}-{index:05d}-of-{count:05d}.parquet"


def marked(schema: pa.Schema, canary: str) -> pa.Schema:
    """The schema with the canary in its metadata, so that every shard carries it."""
    return schema.with_metadata({"canary": f"causal-exams:{canary}"})


def write_groups(
    config: str,
    split: str,
    repository: Path,
    schema: pa.Schema,
    groups: Iterable[pa.Table],
    number: int = 1,
    size: int = 0,
) -> list[Shard]:
    """Write a config of a split, one row group to a table; return its shards: one, or as many as
    ``number`` groups of ``size`` bytes in all ask for."""
    count = max(1, min(number, -(-size // SHARD_BYTES)))
    cuts = [round(index * number / count) for index in range(count + 1)]
    names = [shard_name(config, split, index, count) for index in range(count)]
    waiting = iter(groups)
    return [
        write_tables(
            ShardJob(config, split, repository, name, schema),
            waiting if last == number else islice(waiting, last - first),
        )
        for name, (first, last) in zip(names, pairwise(cuts), strict=True)
    ]


def with_commitments(
    jobs: Iterable[ShardJob], repository: Path, schema: pa.Schema
) -> list[ShardJob]:
    """The jobs of a split, those of private rows with a shard of commitments each, as whose public
    ``repository`` this is."""
    jobs = list(jobs)
    count = sum(job.row_salts is not None for job in jobs)
    found: list[ShardJob] = []
    number = 0
    for job in jobs:
        if job.row_salts is not None:
            name = shard_name(COMMITTED, job.split, number, count)
            public = ShardJob(COMMITTED, job.split, repository, name, schema)
            job, number = replace(job, public=public), number + 1
        found.append(job)
    return found


def write_shard(job: ShardJob) -> list[Shard]:
    """Write one shard from staged parts, and that of the commitments to its rows; runs in a
    worker."""
    if job.public is None or job.row_salts is None:
        return [write_tables(job, job.tables())]
    committed: list[pa.Table] = []
    shard = write_tables(job, _committing(job, job.row_salts, job.tables(), committed))
    return [shard, write_tables(job.public, committed)]


def _committing(
    job: ShardJob, salts: bytes, tables: Iterable[pa.Table], into: list[pa.Table]
) -> Iterator[pa.Table]:
    """The tables as they are; the commitments to their rows are added to ``into``."""
    for table in tables:
        pairs = (commitment(salts, job.config, job.split, row) for row in table.to_pylist())
        names = [field.name for field in COMMITMENTS]
        told = [dict(zip(names, (job.config, *pair), strict=True)) for pair in pairs]
        into.append(pa.Table.from_pylist(told, schema=COMMITMENTS))
        yield table


def write_tables(job: ShardJob, groups: Iterable[pa.Table]) -> Shard:
    """Writes one shard, one row group to a table; the file appears under its name when whole."""
    started = time.process_time()
    file = job.repository / job.name
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(file.name + ".unfinished")
    hasher = ContentHasher(job.schema)
    hashes = []
    rows = 0
    with pq.ParquetWriter(
        str(temporary),
        job.schema,
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=[path for field in job.schema for path in _texts(field.name, field.type)],
        write_page_index=True,
    ) as writer:
        for table in groups:
            table = table.replace_schema_metadata(job.schema.metadata)
            writer.write_table(table, row_group_size=max(1, table.num_rows))
            hasher.update(table)
            hashes.append(content_sha256(job.schema, [table]))
            rows += table.num_rows
    digest, size = file_sha256(temporary), temporary.stat().st_size
    temporary.rename(file)
    return Shard(
        job.config,
        job.split,
        job.repository,
        job.name,
        rows,
        size,
        digest,
        hasher.hexdigest(),
        tuple(hashes),
        time.process_time() - started,
    )


def _texts(path: str, kind: pa.DataType) -> Iterator[str]:
    """The Parquet paths of the strings in a column, at any depth."""
    if pa.types.is_list(kind):
        yield from _texts(f"{path}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            yield from _texts(f"{path}.{kind.field(index).name}", kind.field(index).type)
    elif pa.types.is_string(kind):
        yield path


def row_groups(parts: Sequence[Part], config: str, schema: pa.Schema) -> list[Group]:
    """The rows of a config in the order of their ids, cut into row groups; raises ``ValueError``
    when two rows have the same id."""
    keys = sort_key(schema)
    columns = [part.read(config, keys).replace_schema_metadata(None) for part in parts]
    numbers = np.repeat([part.number for part in parts], [len(table) for table in columns])
    rows = np.concatenate([np.arange(len(table)) for table in columns])
    table = pa.concat_tables(columns)
    if not len(table):
        return []
    order = pc.sort_indices(table, sort_keys=[(key, "ascending") for key in keys])
    table, places = table.take(order), order.to_numpy()
    repeated = _unlike_the_last(table)
    if not repeated[1:].all():
        row = table.slice(int(np.flatnonzero(~repeated[1:])[0]), 1).to_pylist()[0]
        raise ValueError(f"{config}: two rows have the id {'/'.join(row.values())}")
    if config.endswith(SCENES):
        instances = np.cumsum(_unlike_the_last(table.select(keys[:1]))) - 1
        cuts = np.flatnonzero(np.diff(instances // GROUP_SCENES)) + 1
    else:
        cuts = np.arange(GROUP_ROWS, len(places), GROUP_ROWS)
    pieces = (np.split(each[places], cuts) for each in (numbers, rows))
    return [Group(part, row) for part, row in zip(*pieces, strict=True)]


def _unlike_the_last(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Of every row, whether some column differs from the row before."""
    differs = np.ones(len(table), dtype=np.bool_)
    differs[1:] = False
    for column in table.columns:
        flat = column.combine_chunks()
        differs[1:] |= pc.not_equal(flat[1:], flat[:-1]).to_numpy(zero_copy_only=False)
    return differs
