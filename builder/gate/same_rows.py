"""Whether a release holds the very rows that were staged and checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from builder.gate.roll import Roll
from builder.gate.tables import truth_side
from builder.release.parts import Part
from builder.release.reader import open_shard, public_side, shards
from builder.release.shards import Group, row_groups, staged_group
from builder.tracks import TRACKS


@dataclass(frozen=True, slots=True)
class CompareJob:
    """A shard, and the groups of staged rows that it should hold."""

    config: str
    path: Path
    parts: tuple[Part, ...]
    groups: tuple[Group, ...]


def compare_jobs(release: Path, roll: Roll, parts: Sequence[Part]) -> Iterator[CompareJob]:
    """A job for every shard of one track of one split."""
    track = TRACKS[roll.track]
    public, hidden = public_side(release), truth_side(release, roll.track, roll.split)
    for config, schema in track.tables.items():
        paths = shards(hidden if config in track.private else public, config, roll.split)
        groups, start = row_groups(parts, config, schema), 0
        for number, path in enumerate(paths):
            with open_shard(path) as file:
                stop = start + file.num_row_groups
            if number == len(paths) - 1:
                stop = max(stop, len(groups))
            yield CompareJob(config, path, tuple(parts), tuple(groups[start:stop]))
            start = stop


def differences(job: CompareJob) -> list[str]:
    """What a shard holds that was not staged; runs in a worker."""
    where = f"{job.config}/{job.path.name}"
    with open_shard(job.path) as file:
        if file.num_row_groups != len(job.groups):
            staged = f"{len(job.groups)} were staged"
            return [f"{where}: {file.num_row_groups} row groups, {staged}"]
        for number, group in enumerate(job.groups):
            found = file.read_row_group(number).replace_schema_metadata(None)
            staged = staged_group(job.parts, job.config, group).replace_schema_metadata(None)
            if not found.equals(staged):
                return [f"{where}: row group {number} does not hold the rows that were staged"]
    return []
