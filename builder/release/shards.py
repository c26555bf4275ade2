"""From staged parts to Parquet shards: order, row groups, shard sizes, writing.

The bytes of a shard depend on the rows and on the pinned Parquet writer alone. Rows are sorted by
id; dictionaries are kept for strings only (measured: float32 tables grow with one); a page index
lets the Hub's viewer and DuckDB read single pages. A shard is a range of ids: whoever writes it
looks for its rows in the parts, and nobody holds a list of all rows.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builder.release.arrow import ContentHasher, commitment, content_sha256
from builder.release.parts import NOTHING, Part, Staged, sort_key
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
class Ids:
    """A range of ids, of rows or of instances: from ``first`` on, and before ``stop`` unless that
    is empty."""

    first: str = ""
    stop: str = ""

    def of(self, column: pa.ChunkedArray) -> Indices:
        """The places in a column whose id is in the range."""
        inside = pc.greater_equal(column, self.first)
        if self.stop:
            inside = pc.and_(inside, pc.less(column, self.stop))
        return np.flatnonzero(inside.to_numpy())


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one row group in their final order: row ``rows[i]`` of part ``parts[i]``."""

    parts: Indices
    rows: Indices


@dataclass(frozen=True, slots=True)
class ShardJob:
    """What a worker needs to write one shard.

    ``name`` is the shard's path inside ``repository``. ``row_salts`` is set where every row is to
    be committed to; the commitments become the shard ``public``.
    """

    config: str
    split: str
    repository: Path
    name: str
    schema: pa.Schema
    staged: Staged = NOTHING
    ids: Ids = Ids()
    row_salts: bytes | None = field(repr=False, default=None)
    public: "ShardJob | None" = None


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
    shard_bytes: int = SHARD_BYTES,
) -> list[ShardJob]:
    """The shards of one config and split: whole row groups, spread evenly."""
    count = -(-sum(part.sizes[config][1] for part in parts) // shard_bytes)
    ranges = id_ranges(parts, config, schema, count)
    names = (shard_name(config, split, index, len(ranges)) for index in range(len(ranges)))
    staged = Staged.of(parts)
    return [
        ShardJob(config, split, repository, name, schema, staged, ids, row_salts)
        for name, ids in zip(names, ranges, strict=True)
    ]


def id_ranges(parts: Sequence[Part], config: str, schema: pa.Schema, count: int) -> list[Ids]:
    """The ranges of ids of so many shards, or of as many as there are row groups."""
    if count < 2:
        return [Ids()]
    key, unit = sort_key(schema)[0], GROUP_ROWS
    ids = np.empty(sum(part.sizes[config][0] for part in parts), f"S{_width(parts, config, key)}")
    end = 0
    for part in parts:  # into one array: of tens of millions of ids two copies are too many
        own = part.read(config, [key]).column(0).to_pylist()
        ids[end : end + len(own)] = own
        end += len(own)
    if config.endswith(SCENES):
        ids, unit = np.unique(ids), GROUP_SCENES
    groups = -(-len(ids) // unit)
    count = max(1, min(groups, count))
    cuts = [round(index * groups / count) * unit for index in range(1, count)]
    ids.sort()
    ends = ["", *(ids[cut].decode("utf-8") for cut in cuts), ""]
    return [Ids(*pair) for pair in pairwise(ends)]


def first_id(staged: Staged, config: str) -> str:
    """The smallest id of a config's rows over all parts, each of which is sorted; empty without
    rows."""
    heads = (staged.read(number, config).column(0)[:1] for number in range(staged.parts))
    return min((name for head in heads for name in head.to_pylist()), default="")


def _width(parts: Sequence[Part], config: str, key: str) -> int:
    """The bytes of the longest id."""
    columns = (part.read(config, [key]).column(0) for part in parts)
    return max((pc.max(pc.binary_length(ids)).as_py() or 1 for ids in columns), default=1)


def shard_name(config: str, split: str, index: int, count: int) -> str:
    """The path of a shard inside its repository, as the Hub expects it."""
    return f"{config}/{split}-{index:05d}-of-{count:05d}.parquet"


def marked(schema: pa.Schema, canary: str) -> pa.Schema:
    """The schema with the canary in its metadata, so that every shard carries it."""
    return schema.with_metadata({"canary": f"causal-exams:{canary}"})


def write_whole(
    config: str, split: str, repository: Path, schema: pa.Schema, groups: Iterable[pa.Table]
) -> Shard:
    """Writes a config of a split as its only shard, one row group to a table."""
    name = shard_name(config, split, 0, 1)
    return write_tables(ShardJob(config, split, repository, name, schema), groups)


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
    """Writes one shard from staged parts, and that of the commitments to its rows; runs in a
    worker. Raises ``ValueError`` when two rows have the same id."""
    groups = row_groups(job.staged, job.config, job.schema, job.ids)
    tables = (staged_group(job.staged, job.config, group) for group in groups)
    if job.public is None or job.row_salts is None:
        return [write_tables(job, tables)]
    committed: list[pa.Table] = []
    shard = write_tables(job, _committing(job, job.row_salts, tables, committed))
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


def row_groups(staged: Staged, config: str, schema: pa.Schema, ids: Ids) -> list[Group]:
    """The rows of a config in a range, in the order of their ids, cut into row groups; raises
    ``ValueError`` when two rows have the same id."""
    keys = sort_key(schema)
    numbers, rows, columns = [], [], []
    for number in range(staged.parts):
        found = staged.read(number, config, keys)
        rows.append(ids.of(found.column(0)))
        numbers.append(np.full(len(rows[-1]), number, dtype=np.int64))
        # Taken even where it is all of them: what is only mapped would keep its file open.
        columns.append(found.take(pa.array(rows[-1])).replace_schema_metadata(None))
    if not any(map(len, rows)):
        return []
    table = pa.concat_tables(columns)
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
    pieces = (np.split(np.concatenate(each)[places], cuts) for each in (numbers, rows))
    return [Group(part, row) for part, row in zip(*pieces, strict=True)]


def _unlike_the_last(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Of every row, whether some column differs from the row before."""
    differs = np.ones(len(table), dtype=np.bool_)
    differs[1:] = False
    for column in table.columns:
        flat = column.combine_chunks()
        differs[1:] |= pc.not_equal(flat[1:], flat[:-1]).to_numpy(zero_copy_only=False)
    return differs


def staged_group(staged: Staged, config: str, group: Group) -> pa.Table:
    """The staged rows of a row group, in their final order."""
    pieces, places = [], []
    for number in np.unique(group.parts):
        place = np.flatnonzero(group.parts == number)
        table = staged.read(int(number), config)
        pieces.append(table.take(pa.array(group.rows[place])))
        places.append(place)
    back = np.argsort(np.concatenate(places), kind="stable")
    return pa.concat_tables(pieces).take(pa.array(back)).combine_chunks()
