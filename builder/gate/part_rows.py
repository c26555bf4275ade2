"""The rows of parts: read back from disk, held against released ones, cut out of a release."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.rules import Tables
from builder.release.parts import Origin, Part, part_name, read_staged, stage_part
from builder.release.reader import groups, open_shard, public_side, shards
from builder.release.shards import plan_shards
from builder.release.tables import (
    Row,
    SplitTables,
    scene_row,
    table_rows,
    task_row,
    truth_side,
)
from builder.splits.track import Place, Track

_NOWHERE: Final = Place(0, 0, 0, 0, ())
"""Parts have no place in a file yet."""


@dataclass(frozen=True, slots=True)
class PartRows:
    """All rows of some instances. ``tables`` has no exams and no places; ``tasks``, ``truths`` and
    ``labels`` are rows as they stand, by instance; ``scenes`` are in order of instance and view.
    """

    tables: SplitTables
    tasks: Mapping[str, Sequence[Row]]
    truths: Mapping[str, Sequence[Row]]
    labels: Mapping[str, Row]
    scenes: Sequence[Row]


def read_part(part: Part) -> PartRows:
    """Every row of a staged part."""
    track = part.origin.track
    tasks, truths = _rows(part, track), _rows(part, f"{track}_truth")
    scenes = sorted(_rows(part, f"{track}_scenes"), key=lambda r: (r["instance_id"], r["view"]))
    tables = SplitTables(
        split=part.origin.split,
        track=track,
        private=part.origin.private,
        tasks={row["task_id"]: task_row(row, _NOWHERE) for row in tasks},
        scenes={(row["instance_id"], row["view"]): scene_row(row, _NOWHERE) for row in scenes},
        exams=(),
        truth={row["task_id"]: row for row in truths},
        worlds={row["instance_id"]: row for row in _rows(part, f"{track}_worlds")},
    )
    labels = {row["instance_id"]: row for row in _rows(part, f"{track}_labels")}
    return PartRows(tables, _by_instance(tasks), _by_instance(truths), labels, scenes)


def _rows(part: Part, config: str) -> list[dict[str, Any]]:
    return list(table_rows(part.read(config))) if config in part.sizes else []


def _by_instance(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["instance_id"], []).append(row)
    return found


def differences(release: Path, track: Track, split: str, parts: Sequence[Part]) -> Iterator[str]:
    """Yield the shards of one track of one split that do not hold the rows that were staged."""
    for config, schema in track.tables.items():
        side = _side(release, split, track, config)
        jobs = plan_shards(parts, config, split, schema, side, None) if parts else []
        staged = (table for job in jobs for table in job.tables())
        for path in shards(side, config, split):
            with open_shard(path) as file:
                for number in range(file.num_row_groups):
                    found = file.read_row_group(number).replace_schema_metadata(None)
                    wanted = next(staged, schema.empty_table())
                    if not found.equals(wanted.replace_schema_metadata(None)):
                        yield (
                            f"{config}/{path.name}: row group {number} does not hold the rows "
                            "that were staged"
                        )
                        break
        if next(staged, None) is not None:
            yield f"{config}: rows that were staged are absent"


def take_apart(
    release: Path, tables: Tables, track: Track, split: str, staging: Path
) -> list[Part]:
    """Return the rows of one track of one split as staged parts, so that they can be checked like
    those of a build: each part holds the instances that it held when it was built.

    Every instance has a world, which the rule of ids sees to.
    """
    instances = tables.rows(
        "SELECT instance_id FROM worlds WHERE split = $split AND track = $track ORDER BY index",
        {"split": split, "track": track.name},
    )
    names = pa.array([name for (name,) in instances], pa.string())
    origin = Origin(track.name, split, (split, track.name) in tables.private, len(instances))
    with TemporaryDirectory(dir=staging) as scratch:
        folders = [Path(scratch, part_name(number)) for number in range(origin.parts)]
        for folder in folders:
            folder.mkdir()
        configs = [
            config
            for config in track.tables
            if _cut(
                _side(release, split, track, config), split, config, names, origin.size, folders
            )
        ]
        return [
            stage_part(
                origin,
                origin.folder(staging, number),
                {config: read_staged(folder, config) for config in configs},
                {},
            )
            for number, folder in enumerate(folders)
        ]


def _cut(
    side: Path, split: str, config: str, instances: pa.Array, size: int, folders: Sequence[Path]
) -> bool:
    """Write the rows of a config to a file in the folder of every part, of so many instances each;
    return whether the release has it."""
    paths = shards(side, config, split)
    if not paths:
        return False
    schema = open_shard(paths[0]).schema_arrow.remove_metadata()
    with ExitStack() as stack:
        writers = [
            stack.enter_context(pa.ipc.new_file(str(folder / f"{config}.arrow"), schema))
            for folder in folders
        ]
        for table, _ in groups(paths):
            places = pc.fill_null(pc.index_in(table["instance_id"], instances), -size)
            numbers = places.to_numpy() // size
            for number in np.unique(numbers[numbers >= 0]):
                rows = table.filter(pa.array(numbers == number))
                writers[number].write_table(rows.replace_schema_metadata(None))
    return True


def _side(release: Path, split: str, track: Track, config: str) -> Path:
    hidden = config in track.private
    return truth_side(release, track.name, split) if hidden else public_side(release)
