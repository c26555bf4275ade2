"""Whether a release holds the very rows that were staged and checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from builder.gate.tables import truth_side
from builder.release.parts import Part, Staged
from builder.release.reader import open_shard, public_side, shards
from builder.release.shards import Ids, id_ranges, row_groups, staged_group
from builder.tracks import TRACKS

NO_IDS: Final = Ids("~")
"""No id begins like this: what a shard should hold that is one too many."""


@dataclass(frozen=True, slots=True)
class CompareJob:
    """A shard, and the range of staged rows that it should hold."""

    config: str
    schema: pa.Schema
    path: Path
    staged: Staged
    ids: Ids


def compare_jobs(
    release: Path, name: str, split: str, parts: Sequence[Part]
) -> Iterator[CompareJob]:
    """A job for every shard of one track of one split."""
    track = TRACKS[name]
    public, hidden = public_side(release), truth_side(release, name, split)
    for config, schema in track.tables.items():
        paths = shards(hidden if config in track.private else public, config, split)
        ranges = id_ranges(parts, config, schema, len(paths))
        more = [NO_IDS] * (len(paths) - len(ranges))
        for path, ids in zip(paths, [*ranges, *more], strict=False):
            yield CompareJob(config, schema, path, Staged.of(parts), ids)


def differences(job: CompareJob) -> list[str]:
    """What a shard holds that was not staged; runs in a worker."""
    where = f"{job.config}/{job.path.name}"
    groups = row_groups(job.staged, job.config, job.schema, job.ids)
    with open_shard(job.path) as file:
        if file.num_row_groups != len(groups):
            return [f"{where}: {file.num_row_groups} row groups, {len(groups)} were staged"]
        for number, group in enumerate(groups):
            found = file.read_row_group(number).replace_schema_metadata(None)
            staged = staged_group(job.staged, job.config, group).replace_schema_metadata(None)
            if not found.equals(staged):
                return [f"{where}: row group {number} does not hold the rows that were staged"]
    return []
