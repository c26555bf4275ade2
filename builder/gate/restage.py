"""A finished release taken apart again: its rows as staged parts, so that they can be checked like
those of a build.

Each part holds the instances that it held when it was built: consecutive ones in the order of their
indices. A few hundred parts are taken out of the shards at a time.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builder.gate.roll import Roll
from builder.gate.tables import truth_side
from builder.release.parts import Origin, Part, part_folder, part_size, stage_part
from builder.release.reader import configs, groups, open_shard, public_side, shards
from builder.tracks import TRACKS

WAVE: Final = 200
"""Parts that are taken out at a time: each has a file open."""


def restaged(release: Path, roll: Roll, staging: Path) -> Iterator[Part]:
    """The parts of one track of one split, staged below ``staging``."""
    # Those that only tasks know are a damage; they come last.
    instances = pa.concat_arrays([roll.worlds.unique(), roll.asked()]).unique()
    reference = TRACKS.reference(roll.track)
    origin = Origin(reference, roll.track, roll.split, roll.private, len(instances))
    sources, size = dict(_sources(release, roll)), part_size(len(instances))
    for first in range(0, origin.parts, WAVE):
        wave = range(first, min(first + WAVE, origin.parts))
        ends = size * wave.start, size * wave.stop
        with TemporaryDirectory(dir=staging) as scratch:
            wanted, folder = instances[slice(*ends)], Path(scratch)
            schemas = {c: _cut(paths, wanted, size, folder / c) for c, paths in sources.items()}
            for number in wave:
                place = str(number - first)
                tables = {c: _piece(folder / c / place, schema) for c, schema in schemas.items()}
                yield stage_part(origin, part_folder(staging, origin, number), tables, {}, {})


def _sources(release: Path, roll: Roll) -> Iterator[tuple[str, list[Path]]]:
    """The shards of every config of the track, on whichever side they are."""
    public, hidden = public_side(release), truth_side(release, roll.track, roll.split)
    for side in dict.fromkeys((public, hidden)):
        for config in configs(side):
            paths = shards(side, config, roll.split)
            own = config == roll.track or config.startswith(f"{roll.track}_")
            if own and paths and config != f"{roll.track}_exams":
                yield config, paths


def _cut(paths: list[Path], wanted: pa.Array, size: int, folder: Path) -> pa.Schema:
    """Writes the rows about some instances to a file for every part of them, of so many instances
    each; their schema."""
    folder.mkdir()
    schema = open_shard(paths[0]).schema_arrow.remove_metadata()
    with ExitStack() as stack:
        writers: dict[int, pa.RecordBatchWriter] = {}
        for table, _ in groups(paths):
            places = pc.index_in(table["instance_id"], wanted)
            numbers = pc.fill_null(places, -size).to_numpy() // size
            for number in np.unique(numbers[numbers >= 0]):
                if number not in writers:
                    file = pa.ipc.new_stream(str(folder / str(number)), schema)
                    writers[number] = stack.enter_context(file)
                rows = table.filter(pa.array(numbers == number))
                writers[number].write_table(rows.replace_schema_metadata(None))
    return schema


def _piece(file: Path, schema: pa.Schema) -> pa.Table:
    """What was written for a part; nothing where there was nothing."""
    if not file.exists():
        return schema.empty_table()
    with pa.memory_map(str(file)) as source:
        return pa.ipc.open_stream(source).read_all()
