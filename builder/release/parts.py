"""Parts: the unit of work and of resuming.

A part is 20 instances of one track and split, or fewer in a small one, consecutive in the order of
their indices. A worker builds it, stages it as one uncompressed Arrow IPC file per config and a
record with their hashes, and checks it. A rerun keeps the parts whose record and hashes match.
"""

import json
import shutil
import traceback
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from builder.release.arrow import table_from_rows
from builder.release.engine import InstanceFailed
from builder.release.planning import Specs
from builder.splits.track import BuiltInstance, InstanceSpec, Track
from grader.errors import UsageError, error_text
from grader.io.files import file_sha256
from grader.io.jsonio import canonical_json

PART_INSTANCES: Final = 20
"""The instances of a part where a split has many."""

_SEVERAL: Final = 8
"""A small split has so many parts, so that no worker waits long for the last of another's."""

_FEWEST: Final = 4
"""Fewer instances make no part of their own: each has files to write, and to be read back."""

RECORD: Final = "part.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """The track and split that a part is of. ``private`` says that the split's truth is private,
    ``instances`` counts all instances of the track in the split."""

    track: str
    split: str
    private: bool
    instances: int

    @property
    def size(self) -> int:
        """The number of instances in each part; the last may have fewer."""
        return min(PART_INSTANCES, max(_FEWEST, -(-self.instances // _SEVERAL)))

    @property
    def parts(self) -> int:
        """The number of parts that the track has in the split."""
        return -(-self.instances // self.size)

    def folder(self, staging: Path, number: int) -> Path:
        """Return where part ``number`` is staged."""
        return staging / self.track / self.split / f"{number:05d}"


@dataclass(frozen=True, slots=True)
class Part:
    """A staged part: its folder, its configs, and the number of rejected attempts by reason."""

    origin: Origin
    folder: Path
    configs: Collection[str]
    rejections: dict[str, int]

    @property
    def number(self) -> int:
        """The number of the part within its track and split."""
        return int(self.folder.name)


Parts = Mapping[tuple[str, str], Sequence[Part]]
"""(split, track) to the staged parts."""


@dataclass(frozen=True, slots=True)
class PartJob:
    """The work of making a part of ``specs`` in ``folder``, where it may be if ``resuming``."""

    origin: Origin
    specs: Sequence[InstanceSpec]
    folder: Path
    resuming: bool

    def __str__(self) -> str:
        return f"{self.specs[0].label} to {self.specs[-1].index}"


def part_jobs(specs: Specs, staging: Path, resuming: bool) -> Iterator[PartJob]:
    """Yield the jobs of all parts of a build, staged below ``staging``."""
    for (split, track), members in specs.items():
        origin = Origin(track, split, any(spec.private for spec in members), len(members))
        for number in range(origin.parts):
            own = members[number * origin.size : (number + 1) * origin.size]
            yield PartJob(origin, own, origin.folder(staging, number), resuming)


def build_part(job: PartJob, track: Track) -> Part:
    """Build the instances of a job and stage them as a part, without a check.

    Raises ``InstanceFailed`` naming the instance when the track or its rows are wrong.
    """
    pieces = {config: [schema.empty_table()] for config, schema in track.tables.items()}
    rejections: Counter[str] = Counter()
    for spec in job.specs:
        tables, built = build_instance(track, spec)
        for config, table in tables.items():
            pieces[config].append(table)
        rejections.update(built.rejections)
    joined = {config: pa.concat_tables(tables) for config, tables in pieces.items()}
    return stage_part(job.origin, job.folder, joined, dict(rejections))


def build_instance(track: Track, spec: InstanceSpec) -> tuple[dict[str, pa.Table], BuiltInstance]:
    """Return one instance as tables of the track's schemas, by config, and as the track built it.

    Raises ``InstanceFailed`` for an error of ours. A ``UsageError`` is the user's to mend (a plan
    that cannot be met, an endpoint that is down) and passes as it is.
    """
    try:
        built = track.build(spec)
        tables = {
            config: table_from_rows(rows, track.tables[config])
            for config, rows in built.rows.items()
        }
        for config, table in tables.items():  # one of another would end up in a wrong part
            names = table["instance_id"] if "instance_id" in table.column_names else ()
            if strangers := {str(name) for name in names} - {spec.instance_id}:
                raise ValueError(f"{config} has a row of another instance ({min(strangers)})")
    except UsageError:
        raise
    except Exception as error:
        raise InstanceFailed(spec.label, error_text(error), traceback.format_exc()) from None
    return tables, built


def stage_part(
    origin: Origin,
    folder: Path,
    tables: Mapping[str, pa.Table],
    rejections: dict[str, int],
) -> Part:
    """Write the tables of a part, by config and each sorted by :func:`sort_key`, and its record
    into ``folder``, which appears when it is whole; return the part."""
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    for leftover in (unfinished, folder):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished.mkdir(parents=True, mode=0o700)
    hashes = {}
    for config, table in tables.items():
        keys, file = sort_key(table.schema), unfinished / f"{config}.arrow"
        table = table.combine_chunks().sort_by([(key, "ascending") for key in keys])
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        hashes[config] = file_sha256(file)
    record = {"origin": asdict(origin), "sha256": hashes, "rejections": rejections}
    (unfinished / RECORD).write_text(canonical_json(record), encoding="utf-8")
    unfinished.rename(folder)
    return Part(origin, folder, hashes, rejections)


def sort_key(schema: pa.Schema) -> tuple[str, ...]:
    """Return the unique columns that order a config's rows: the id, in scenes also the view."""
    first = schema.names[0]
    views = first == "instance_id" and "view" in schema.names
    return (first, "view") if views else (first,)


def find_part(folder: Path) -> Part | None:
    """Return the part staged in a folder; None unless its files have its record's hashes."""
    try:
        record = json.loads((folder / RECORD).read_bytes())
        for config, digest in record["sha256"].items():
            if file_sha256(folder / f"{config}.arrow") != digest:
                return None
        return Part(Origin(**record["origin"]), folder, record["sha256"], record["rejections"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_staged(folder: Path, config: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a config's rows of the part in a folder, memory-mapped; all columns by default."""
    with pa.memory_map(str(folder / f"{config}.arrow")) as source:
        table = pa.ipc.open_file(source).read_all()
    return table if columns is None else table.select(list(columns))


def staged_rows(
    parts: Sequence[Part], config: str, columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield some columns of a config over all parts; nothing if there is no such config."""
    for part in parts:
        if config in part.configs:
            yield from read_staged(part.folder, config, columns).to_pylist()
