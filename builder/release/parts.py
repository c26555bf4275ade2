"""Parts: the unit of work and of resuming.

A part is 20 instances of one track and split, or fewer in a small one, consecutive in the order of
their indices. It is staged as one uncompressed Arrow IPC file per config and a record with their
hashes, and appears under its final name in one step. A rerun keeps the parts whose record and
hashes match.
"""

import json
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builder.release.arrow import table_from_rows
from builder.release.blocks import Members
from builder.release.engine import InstanceFailed
from builder.track import Built, InstanceSpec, Track
from builder.tracks import load_track
from grader.errors import UsageError
from grader.io.files import file_sha256
from grader.io.jsonio import canonical

PART_INSTANCES: Final = 20
"""The instances of a part where a split has many."""

_SEVERAL: Final = 8
"""A small split has so many parts, so that no worker waits long for the last of another's."""

_FEWEST: Final = 4
"""Fewer instances make no part of their own: each has files to write, and to be read back."""

RECORD: Final = "part.json"


def part_size(instances: int) -> int:
    """How many of so many instances of a track and split make a part."""
    return min(PART_INSTANCES, max(_FEWEST, -(-instances // _SEVERAL)))


@dataclass(frozen=True, slots=True)
class Origin:
    """What a part is of: a track (``reference`` is its ``module:attribute``) of a split that has so
    many ``instances`` of it."""

    reference: str
    track: str
    split: str
    private: bool
    instances: int

    @property
    def size(self) -> int:
        """The number of instances in a part, the last perhaps apart."""
        return part_size(self.instances)

    @property
    def parts(self) -> int:
        """The number of parts that the track has in the split."""
        return -(-self.instances // self.size)


@dataclass(frozen=True, slots=True)
class PartJob:
    """What a worker needs to stage one part."""

    origin: Origin
    specs: Members
    folder: Path

    @property
    def name(self) -> str:
        """``track/split/number``: how a message names the part."""
        return f"{self.origin.track}/{self.origin.split}/{self.folder.name}"

    @property
    def mark(self) -> Path:
        """Says which instance is under way, for whoever finds a worker dead."""
        return self.folder.with_name(f"{self.folder.name}.under-way")


@dataclass(frozen=True, slots=True)
class Part:
    """A staged part: its folder and what its record says.

    ``sizes`` maps a config to (rows, bytes in memory); ``seconds`` is the time of each stage.
    """

    origin: Origin
    folder: Path
    sizes: dict[str, tuple[int, int]]
    rejections: dict[str, int]
    seconds: dict[str, float]

    @property
    def number(self) -> int:
        """Which part of its track and split it is."""
        return int(self.folder.name)

    @property
    def name(self) -> str:
        """``track/split/number``: how a message names the part."""
        return f"{self.origin.track}/{self.origin.split}/{self.folder.name}"

    def read(self, config: str, columns: Sequence[str] | None = None) -> pa.Table:
        """One config's rows, memory-mapped."""
        return _read(self.folder, config, columns)


@dataclass(frozen=True, slots=True)
class Staged:
    """Where the parts of one track of one split are staged: what a worker is told of them all."""

    folder: Path
    parts: int

    @staticmethod
    def of(parts: Sequence[Part]) -> "Staged":
        """All parts of a track and split."""
        return Staged(parts[0].folder.parent, len(parts)) if parts else NOTHING

    def read(self, number: int, config: str, columns: Sequence[str] | None = None) -> pa.Table:
        """One config's rows of a part, memory-mapped."""
        return _read(self.folder / _folder_name(number), config, columns)


NOTHING: Final = Staged(Path(), 0)


def _read(folder: Path, config: str, columns: Sequence[str] | None) -> pa.Table:
    with pa.memory_map(str(folder / f"{config}.arrow")) as source:
        table = pa.ipc.open_file(source).read_all()
    return table if columns is None else table.select(list(columns))


def staged_rows(
    parts: Sequence[Part],
    config: str,
    columns: Sequence[str],
    only: pa.Array | None = None,
) -> Iterator[dict[str, Any]]:
    """Some columns of a config's rows over all parts, or of those about ``only`` some instances;
    none where the track has no such config."""
    for part in parts:
        if config in part.sizes:
            table = part.read(config)
            if only is not None:
                table = table.filter(pc.is_in(table["instance_id"], only))
            yield from table.select(list(columns)).to_pylist()


def sort_key(schema: pa.Schema) -> tuple[str, ...]:
    """The columns that order a config's rows and must be unique: the id, and the view if any.

    A task's id is its own; only where rows are views of one instance does the view belong to it.
    """
    first = schema.names[0]
    views = first == "instance_id" and "view" in schema.names
    return (first, "view") if views else (first,)


def split_into_parts(
    origin: Origin, specs: Sequence[InstanceSpec], staging: Path
) -> Iterator[PartJob]:
    """The parts of one track and split, in the order of their instances' indices."""
    for number in range(origin.parts):
        start = number * origin.size
        members = Members.of(specs, start, min(start + origin.size, origin.instances))
        yield PartJob(origin, members, part_folder(staging, origin, number))


def part_folder(staging: Path, origin: Origin, number: int) -> Path:
    """Where part ``number`` of a track and split is staged."""
    return staging / origin.track / origin.split / _folder_name(number)


def _folder_name(number: int) -> str:
    return f"{number:05d}"


def build_part(job: PartJob) -> Part:
    """Builds the instances of a part and stages them; runs in a worker.

    Raises ``InstanceFailed`` naming the instance when the track or its rows are wrong.
    """
    started = time.process_time()
    track = load_track(job.origin.reference)
    # The first conversion in a process may load libraries; it belongs to no instance.
    table_from_rows([], next(iter(track.tables.values())))
    pa.array([np.zeros(1)])
    pieces: dict[str, list[pa.Table]] = {config: [] for config in track.tables}
    rejections: Counter[str] = Counter()
    seconds = {"start-up": time.process_time() - started}
    job.folder.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    for spec in job.specs:
        job.mark.write_text(spec.label, encoding="utf-8")
        instance, built = build_instance(track, spec)
        for config, table in instance.items():
            pieces[config].append(table)
        rejections.update(built.rejections)
        for stage, spent in built.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    job.mark.unlink(missing_ok=True)
    started = time.process_time()
    tables = {
        config: pa.concat_tables([schema.empty_table(), *pieces[config]])
        for config, schema in track.tables.items()
    }
    seconds["staging"] = seconds.get("staging", 0.0) + time.process_time() - started
    return stage_part(job.origin, job.folder, tables, dict(rejections), seconds)


def under_way(job: PartJob) -> str:
    """The label of the instance that a worker was building when it was lost; empty if none is
    known."""
    try:
        return job.mark.read_text(encoding="utf-8")
    except OSError:
        return ""


def stage_part(
    origin: Origin,
    folder: Path,
    tables: Mapping[str, pa.Table],
    rejections: dict[str, int],
    seconds: dict[str, float],
) -> Part:
    """Writes the tables of a part, by config, and its record; it appears under its name when
    whole.

    A machine that was given up for lost may still be at it: nobody writes into another's files.
    """
    started = time.process_time()
    folder.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    unfinished = Path(mkdtemp(".unfinished", f"{folder.name}.", folder.parent))
    files = {config: unfinished / f"{config}.arrow" for config in tables}
    sizes = {config: _stage(file, tables[config]) for config, file in files.items()}
    record: dict[str, Any] = {
        "origin": asdict(origin),
        "sha256": {config: file_sha256(file) for config, file in files.items()},
        "sizes": sizes,
        "rejections": rejections,
        "seconds": seconds,
    }
    seconds["staging"] = seconds.get("staging", 0.0) + time.process_time() - started
    (unfinished / RECORD).write_text(canonical(record), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        unfinished.rename(folder)
    except OSError:
        if not (folder / RECORD).is_file():
            raise
        shutil.rmtree(unfinished)  # the same part has come from elsewhere meanwhile
    return Part(origin, folder, sizes, rejections, seconds)


def build_instance(track: Track, spec: InstanceSpec) -> tuple[dict[str, pa.Table], Built]:
    """One instance as tables that fit the track's schemas, and as the track built it; raises
    ``InstanceFailed``.

    A ``UsageError`` is the user's to mend (a plan that cannot be met, an endpoint that is down) and
    passes as it is.
    """
    try:
        built = track.build(spec)
        unknown = built.rows.keys() - track.tables.keys()
        if unknown:
            raise ValueError(f"rows for the unknown config {min(unknown)}")
        started = time.process_time()
        tables = {
            config: table_from_rows(rows, track.tables[config])
            for config, rows in built.rows.items()
        }
        for config, table in tables.items():
            _check_owner(config, table, spec)
        seconds = {**built.seconds, "staging": time.process_time() - started}
    except UsageError:
        raise
    except Exception as error:
        summary = f"{type(error).__name__}: {error}"
        raise InstanceFailed(spec.label, summary, traceback.format_exc()) from None
    return tables, replace(built, seconds=seconds)


def _check_owner(config: str, table: pa.Table, spec: InstanceSpec) -> None:
    """A row that names another instance would end up outside its part."""
    if "instance_id" in table.schema.names:
        strangers = set(table.column("instance_id").to_pylist()) - {spec.instance_id}
        if strangers:
            raise ValueError(f"{config} has a row of another instance ({min(strangers)})")


def find_part(folder: Path) -> Part | None:
    """The part if it was staged there before, whole and unchanged; otherwise nothing."""
    try:
        record = json.loads((folder / RECORD).read_bytes())
        if staged_sha256(folder, record["sha256"]) != record["sha256"]:
            return None
        sizes = {config: (rows, size) for config, (rows, size) in record["sizes"].items()}
        origin = Origin(**record["origin"])
        return Part(origin, folder, sizes, record["rejections"], record["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def staged_sha256(folder: Path, configs: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of the staged rows of each config, as they now stand on disk."""
    return {config: file_sha256(folder / f"{config}.arrow") for config in configs}


def _stage(file: Path, table: pa.Table) -> tuple[int, int]:
    """Writes one config of a part, sorted; its rows and bytes."""
    table = table.combine_chunks()
    table = table.sort_by([(key, "ascending") for key in sort_key(table.schema)]).combine_chunks()
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return table.num_rows, table.nbytes
