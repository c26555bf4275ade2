"""What a release's files list: ids alone, without the rows behind them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.tables import exam_places, tracks, truth_side
from builder.release.reader import (
    SIDES,
    column_names,
    configs,
    groups,
    open_shard,
    public_side,
    shards,
    splits,
)
from builder.release.shards import COMMITTED
from builder.tracks import TRACKS

BATCH: Final = 1 << 18
"""Ids that are read at a time."""


@dataclass(frozen=True, slots=True)
class Ids:
    """The first column of some shards, which is that of ids; ``place`` names config and split."""

    place: str
    paths: Sequence[Path]

    def batches(self) -> Iterator[pa.Array]:
        """The ids as they stand in the files, many at a time."""
        yield from _batches(self.paths, column_names(self.paths)[0])


@dataclass(frozen=True, slots=True)
class Roll:
    """One track of one split: how many tasks it has and where they are, its scenes
    (``instance_id``, ``view``; none in a track without), its worlds (in the order of their indices)
    and its exams. Of tasks there may be tens of millions: they are read when they are asked for."""

    split: str
    track: str
    private: bool
    tasks: int
    files: Sequence[Path]
    scenes: pa.Table
    worlds: pa.ChunkedArray
    exams: tuple[tuple[str, int, str], ...]

    def task_ids(self) -> Iterator[pa.Array]:
        """The ids of tasks, in the order of the files."""
        return _batches(self.files, "task_id")

    def instances(self) -> pa.Array:
        """The instances as the public side shows them, each once."""
        return self.scenes["instance_id"].unique() if TRACKS[self.track].scenes else self.asked()

    def asked(self) -> pa.Array:
        """The instances that tasks are about, each once."""
        found = pa.array([], pa.string())
        for batch in _batches(self.files, "instance_id"):
            found = pa.concat_arrays([found, batch]).unique()
        return found

    def instance_of(self) -> dict[str, str]:
        """The instance of every task; for private splits, where an instance has few."""
        table = _columns(self.files, ["task_id", "instance_id"])
        return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


def rolls(release: Path) -> list[Roll]:
    """The rolls of a release, in the grader's order of tracks; raises ``UsageError``."""
    public = public_side(release)
    return [_roll(release, t, split) for t in tracks(public) for split in splits(public, t)]


def _roll(release: Path, track: str, split: str) -> Roll:
    public, side = public_side(release), truth_side(release, track, split)
    worlds = shards(side, f"{track}_worlds", split)
    return Roll(
        split,
        track,
        side != public,
        sum(open_shard(path).metadata.num_rows for path in shards(public, track, split)),
        shards(public, track, split),
        _columns(shards(public, f"{track}_scenes", split), ["instance_id", "view"]),
        _by_index(worlds),
        exam_places(release, track, split),
    )


def _by_index(paths: Sequence[Path]) -> pa.ChunkedArray:
    """The instances of some worlds in the order in which they were planned."""
    table = pa.concat_tables(table for table, _ in groups(paths, ["instance_id", "index"]))
    return table.take(pc.sort_indices(table, [("index", "ascending")]))["instance_id"]


def raw_ids(release: Path) -> Iterator[Ids]:
    """The ids of every config and split of both sides.

    Exams and commitments have no id of their own, and a scene has a row per view: they are left
    out.
    """
    for side in SIDES:
        for config in configs(release / side):
            if config != COMMITTED and not config.endswith(("_exams", "_scenes")):
                for split in splits(release / side, config):
                    yield Ids(f"{config}/{split}", shards(release / side, config, split))


def _batches(paths: Sequence[Path], column: str) -> Iterator[pa.Array]:
    """One column of some shards, as texts, many rows at a time."""
    waiting: list[pa.Array] = []
    for table, _ in groups(paths, [column]):
        waiting.append(table[column].combine_chunks().cast(pa.string()))
        if sum(map(len, waiting)) >= BATCH:
            yield pa.concat_arrays(waiting)
            waiting = []
    if waiting:
        yield pa.concat_arrays(waiting)


def _columns(paths: Sequence[Path], names: Sequence[str]) -> pa.Table:
    schema = pa.schema([(name, pa.string()) for name in names])
    tables = [table.cast(schema) for table, _ in groups(paths, names)]
    return pa.concat_tables([schema.empty_table(), *tables])
