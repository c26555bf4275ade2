"""From staged parts to Parquet shards: order, row groups, shard sizes, writing.

The bytes of a shard depend on the rows and on the pinned Parquet writer alone. Rows are sorted by
id; dictionaries are kept for strings only (measured: float32 tables grow with one); a page index
lets the Hub's viewer and DuckDB read single pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builder.release.arrow import commitment, content_sha256
from builder.release.parts import Part, read_staged, sort_key
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


@dataclass(frozen=True, slots=True)
class ShardJob:
    """The work of writing one shard of a config to the path ``name`` in ``repository``.

    ``parts`` are the folders of the staged parts. ``places`` are row numbers in the order of ids:
    where each row group begins, and where the last ends. ``row_salts`` is set where every row is
    committed to; ``public`` is then the job of the shard of commitments.
    """

    config: str
    split: str
    repository: Path
    name: str
    schema: pa.Schema
    parts: Sequence[Path] = ()
    places: Sequence[int] = ()
    row_salts: bytes | None = field(repr=False, default=None)
    public: "ShardJob | None" = None

    def tables(self) -> Iterator[pa.Table]:
        """Yield the row groups of the shard from staged parts, in the order of ids."""
        if not self.places:
            return
        order, _ = _in_order(self.parts, self.config, self.schema)
        first, last = self.places[0], self.places[-1]
        staged = pa.concat_tables(read_staged(folder, self.config) for folder in self.parts)
        table = staged.take(order[first:last]).combine_chunks()
        for start, end in pairwise(self.places):
            yield table.slice(start - first, end - start)


@dataclass(frozen=True, slots=True)
class Shard:
    """A written shard as the manifest lists it.

    ``bytes`` and ``sha256`` are those of the file. ``groups`` are the content hashes of its row
    groups in order: a config's hash is made of them, so that it does not depend on where one shard
    ends and the next begins.
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


def plan_shards(
    parts: Sequence[Part],
    config: str,
    split: str,
    schema: pa.Schema,
    repository: Path,
    row_salts: bytes | None,
) -> list[ShardJob]:
    """Return the jobs of all shards of one config and split: whole row groups, spread evenly.

    Raises ``ValueError`` when two rows have the same id.
    """
    folders = [part.folder for part in parts]
    places = _row_groups(folders, config, schema)
    cuts = _spread(len(places) - 1, sum(part.sizes[config] for part in parts))
    return [
        ShardJob(
            config,
            split,
            repository,
            shard_name(config, split, index, len(cuts)),
            schema,
            folders,
            places[first : last + 1],
            row_salts,
        )
        for index, (first, last) in enumerate(cuts)
    ]


def _spread(groups: int, size: int) -> list[tuple[int, int]]:
    """Return the row groups of each shard as (first, one after the last).

    ``groups`` counts them all, ``size`` their bytes, which decide the number of shards.
    """
    count = max(1, min(groups, -(-size // SHARD_BYTES)))
    return list(pairwise(round(index * groups / count) for index in range(count + 1)))


def shard_name(config: str, split: str, index: int, count: int) -> str:
    """Return the path of shard ``index`` of ``count`` inside its repository, as the Hub expects
    it."""
    return f"{config}/{split}-{index:05d}-of-{count:05d}.parquet"


def schema_with_canary(schema: pa.Schema, canary: str) -> pa.Schema:
    """Return the schema with the canary in its metadata, so that every shard carries it."""
    return schema.with_metadata({"canary": f"causal-exams:{canary}"})


def write_groups(
    config: str, split: str, repository: Path, schema: pa.Schema, groups: Sequence[pa.Table]
) -> list[Shard]:
    """Write a config of a split, with one row group for each table in ``groups``; return its
    shards."""
    cuts, shards = _spread(len(groups), sum(group.nbytes for group in groups)), []
    for index, (first, last) in enumerate(cuts):
        name = shard_name(config, split, index, len(cuts))
        job = ShardJob(config, split, repository, name, schema)
        shards.append(write_tables(job, groups[first:last]))
    return shards


def with_commitments(
    jobs: Sequence[ShardJob], repository: Path, schema: pa.Schema
) -> Iterator[ShardJob]:
    """Yield the jobs of a split. Each job of private rows gets one for the shard of its commitments
    in the public ``repository``; these come first."""
    hidden = [job for job in jobs if job.row_salts is not None]
    for number, job in enumerate(hidden):
        name = shard_name(COMMITTED, job.split, number, len(hidden))
        yield replace(job, public=ShardJob(COMMITTED, job.split, repository, name, schema))
    yield from (job for job in jobs if job.row_salts is None)


def write_shard(job: ShardJob) -> list[Shard]:
    """Write one shard from staged parts and, if it is set, that of the commitments to its rows.

    Return the shards written. Runs in a worker.
    """
    if job.public is None or job.row_salts is None:
        return [write_tables(job, job.tables())]
    groups = list(job.tables())
    committed = [_commitments(job, job.row_salts, table) for table in groups]
    return [write_tables(job, groups), write_tables(job.public, committed)]


def _commitments(job: ShardJob, salts: bytes, table: pa.Table) -> pa.Table:
    """Return the table of commitments to the rows of ``table``, in their order."""
    pairs = [commitment(salts, job.config, job.split, row) for row in table.to_pylist()]
    ids, hashes = zip(*pairs, strict=True)
    return pa.table([[job.config] * len(pairs), ids, hashes], schema=COMMITMENTS)


def write_tables(job: ShardJob, groups: Iterable[pa.Table]) -> Shard:
    """Write one shard, with one row group for each table; the file appears under its name when
    whole."""
    file = job.repository / job.name
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(file.name + ".unfinished")
    written = []
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
            written.append(table)
    digest, size = file_sha256(temporary), temporary.stat().st_size
    temporary.rename(file)
    return Shard(
        job.config,
        job.split,
        job.repository,
        job.name,
        sum(table.num_rows for table in written),
        size,
        digest,
        content_sha256(job.schema, written),
        tuple(content_sha256(job.schema, [table]) for table in written),
    )


def _texts(path: str, kind: pa.DataType) -> Iterator[str]:
    """Yield the Parquet paths of the strings in a column, at any depth. ``path`` is the
    column's."""
    if pa.types.is_list(kind):
        yield from _texts(f"{path}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            yield from _texts(f"{path}.{kind.field(index).name}", kind.field(index).type)
    elif pa.types.is_string(kind):
        yield path


def _in_order(
    parts: Sequence[Path], config: str, schema: pa.Schema
) -> tuple[pa.Array, list[tuple[str, ...]]]:
    """Return the row numbers of a config in the order of ids, and the ids in that order.

    Rows are numbered through all parts. An id is the values of :func:`sort_key`.
    """
    keys = sort_key(schema)
    table = pa.concat_tables(read_staged(folder, config, keys) for folder in parts)
    order = pc.sort_indices(table, sort_keys=[(key, "ascending") for key in keys])
    columns = [column.to_pylist() for column in table.take(order).columns]
    return order, list(zip(*columns, strict=True))


def _row_groups(parts: Sequence[Path], config: str, schema: pa.Schema) -> list[int]:
    """Return the row numbers, in the order of ids, where the row groups of a config begin, and last
    the number of rows.

    The views of an instance are in one row group. Raises ``ValueError`` when two rows have the same
    id.
    """
    _, ids = _in_order(parts, config, schema)
    starts = [0]
    for place, (last, own) in enumerate(pairwise(ids), start=1):
        if own == last:
            raise ValueError(f"{config}: two rows have the id {'/'.join(own)}")
        if own[0] != last[0]:
            starts.append(place)  # of an instance, where rows are views of one
    if config.endswith(SCENES):
        return [*starts[::GROUP_SCENES], len(ids)]
    return [*range(0, len(ids), GROUP_ROWS), len(ids)]
