"""What a release's files list: ids alone, without the rows behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.tables import exam_places, tracks, truth_side
from builder.release.reader import SIDES, column_names, configs, groups, public_side, shards, splits


@dataclass(frozen=True, slots=True)
class Roll:
    """One track of one split: its tasks (``task_id``, ``instance_id``), its scenes
    (``instance_id``, ``view``; none in a track without), its worlds (in the order of their indices)
    and its exams."""

    split: str
    track: str
    private: bool
    tasks: pa.Table
    scenes: pa.Table
    worlds: pa.ChunkedArray
    exams: tuple[tuple[str, int, str], ...]


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
        _columns(shards(public, track, split), ["task_id", "instance_id"]),
        _columns(shards(public, f"{track}_scenes", split), ["instance_id", "view"]),
        _by_index(worlds),
        exam_places(release, track, split),
    )


def _by_index(paths: Sequence[Path]) -> pa.ChunkedArray:
    """The instances of some worlds in the order in which they were planned."""
    table = pa.concat_tables(table for table, _ in groups(paths, ["instance_id", "index"]))
    return table.take(pc.sort_indices(table, [("index", "ascending")]))["instance_id"]


def raw_ids(release: Path) -> dict[str, pa.ChunkedArray]:
    """The first column of every config and split of both sides, as it stands in the files.

    Exams have no id of their own, and a scene has a row per view: they are left out.
    """
    found: dict[str, pa.ChunkedArray] = {}
    for side in SIDES:
        for config in configs(release / side):
            if config.endswith(("_exams", "_scenes")):
                continue
            for split in splits(release / side, config):
                paths = shards(release / side, config, split)
                column = column_names(paths)[0]
                found[f"{config}/{split}"] = _columns(paths, [column]).column(0)
    return found


def _columns(paths: Sequence[Path], names: Sequence[str]) -> pa.Table:
    schema = pa.schema([(name, pa.string()) for name in names])
    tables = [table.cast(schema) for table, _ in groups(paths, names)]
    return pa.concat_tables([schema.empty_table(), *tables])
