"""The rows of parts: read back from disk, or cut out of a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.rules import Tables
from builder.release.parts import Origin, Part, stage_part
from builder.release.reader import open_shard, public_side, shards
from builder.release.tables import (
    Row,
    SplitTables,
    scene_row,
    table_rows,
    task_row,
    truth_side,
)
from builder.splits.track import RowPlace, Track

_NOWHERE: Final = RowPlace(0, 0, 0)
"""Parts have no place in a file yet."""


@dataclass(frozen=True, slots=True)
class PartRows:
    """All rows of some instances.

    In ``tables`` there are no positions in exams, and places in files are 0. ``tasks``, ``truths``
    and ``labels`` are rows as they stand, by instance. ``scenes`` are in order of instance and
    view.
    """

    tables: SplitTables
    tasks: Mapping[str, Sequence[Row]]
    truths: Mapping[str, Sequence[Row]]
    labels: Mapping[str, Row]
    scenes: Sequence[Row]


def read_part(part: Part) -> PartRows:
    """Return all rows of a staged part."""
    track = part.origin.track
    tasks, truths = _rows(part, track), _rows(part, f"{track}_truth")
    scenes = sorted(_rows(part, f"{track}_scenes"), key=lambda r: (r["instance_id"], r["view"]))
    tables = SplitTables(
        split=part.origin.split,
        track=track,
        private=part.origin.private,
        tasks={row["task_id"]: task_row(row, _NOWHERE) for row in tasks},
        scenes={(row["instance_id"], row["view"]): scene_row(row, _NOWHERE) for row in scenes},
        positions={},
        truth={row["task_id"]: row for row in truths},
        worlds={row["instance_id"]: row for row in _rows(part, f"{track}_worlds")},
    )
    labels = {row["instance_id"]: row for row in _rows(part, f"{track}_labels")}
    return PartRows(tables, _by_instance(tasks), _by_instance(truths), labels, scenes)


def _rows(part: Part, config: str) -> list[dict[str, Any]]:
    """Return the rows of a config of the part; none if the part has no such config."""
    return list(table_rows(part.read(config))) if config in part.sizes else []


def _by_instance(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows by instance id, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["instance_id"], []).append(row)
    return found


def take_apart(
    release: Path, tables: Tables, track: Track, split: str, staging: Path
) -> list[Part]:
    """Stage the rows of one track of a split below ``staging`` as parts, and return the parts.

    Each holds the instances that it held when it was built, so that it can be checked like a part
    of a build. Every instance has a world, which the rule of ids sees to.
    """
    found = tables.rows(
        "SELECT instance_id FROM worlds WHERE split = $split AND track = $track ORDER BY index",
        {"split": split, "track": track.name},
    )
    names = [name for (name,) in found]
    origin = Origin(track.name, split, (split, track.name) in tables.private, len(names))
    released = {}
    for config in track.tables:
        hidden = config in track.private
        side = truth_side(release, track.name, split) if hidden else public_side(release)
        if paths := shards(side, config, split):
            whole = pa.concat_tables(open_shard(path).read() for path in paths)
            released[config] = whole.replace_schema_metadata(None)
    parts = []
    for number in range(origin.parts):
        own = pa.array(names[number * origin.size : (number + 1) * origin.size], pa.string())
        rows = {c: t.filter(pc.is_in(t["instance_id"], own)) for c, t in released.items()}
        parts.append(stage_part(origin, origin.folder(staging, number), rows, {}))
    return parts
