"""Released rows beside staged ones: whether they are the same, and a release taken apart again."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.roll import Roll
from builder.gate.tables import truth_side
from builder.release.parts import Origin, Part, part_name, read_staged, stage_part
from builder.release.reader import groups, open_shard, public_side, shards
from builder.release.shards import plan_shards
from builder.tracks import TRACKS


def differences(release: Path, roll: Roll, parts: Sequence[Part]) -> Iterator[str]:
    """The shards of one track of one split that do not hold the rows that were staged."""
    for config, schema in TRACKS[roll.track].tables.items():
        side = _side(release, roll, config)
        jobs = plan_shards(parts, config, roll.split, schema, side, None) if parts else []
        staged = (table for job in jobs for table in job.tables())
        for path in shards(side, config, roll.split):
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


def take_apart(release: Path, roll: Roll, staging: Path) -> list[Part]:
    """The rows of one track of one split as staged parts, so that they can be checked like those of
    a build: each part holds the instances that it held when it was built."""
    # Instances that only tasks know are a damage; they come last.
    instances = list(dict.fromkeys((*roll.worlds, *roll.tasks.values())))
    origin = Origin(roll.track, roll.split, roll.private, len(instances))
    with TemporaryDirectory(dir=staging) as scratch:
        folders = [Path(scratch, part_name(number)) for number in range(origin.parts)]
        for folder in folders:
            folder.mkdir()
        configs = [
            config
            for config in TRACKS[roll.track].tables
            if _cut(release, roll, config, pa.array(instances, pa.string()), origin.size, folders)
        ]
        return [
            stage_part(
                origin,
                origin.folder(staging, number),
                {config: read_staged(folder, config) for config in configs},
                {},
                {},
            )
            for number, folder in enumerate(folders)
        ]


def _cut(
    release: Path, roll: Roll, config: str, instances: pa.Array, size: int, folders: Sequence[Path]
) -> bool:
    """Write the rows of a config to a file in the folder of every part, of so many instances each;
    whether the release has it."""
    paths = shards(_side(release, roll, config), config, roll.split)
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


def _side(release: Path, roll: Roll, config: str) -> Path:
    hidden = config in TRACKS[roll.track].private
    return truth_side(release, roll.track, roll.split) if hidden else public_side(release)
