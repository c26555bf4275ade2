"""What a split file asks for: instance specs, and their description without building."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from builder.release.blocks import Members, blocks_of, unlike
from builder.release.config import ReleaseConfig, SplitConfig
from builder.release.engine import Workers, map_instances
from builder.release.roots import Root
from builder.track import Composition, InstanceSpec, Track
from builder.tracks import TRACKS, load_track
from grader.errors import UsageError
from grader.names import did_you_mean

Specs = Mapping[tuple[str, str], Sequence[InstanceSpec]]
"""(split, track) to the planned instances."""


def plan_specs(
    config: ReleaseConfig, roots: Mapping[str, Root], tracks: Mapping[str, Track] = TRACKS
) -> Specs:
    """The instances of every split and track, in index order.

    Raises ``UsageError`` when the exams of a private-truth split cannot hold each task once.
    """
    specs = {
        (split.name, name): tracks[name].plan(
            settings, split.name, roots[split.name].key, split.private
        )
        for split in config.splits
        for name, settings in split.tracks
    }
    for split in config.splits:
        for name, _ in split.tracks:
            _check_exam_counts(config, split, name, specs[split.name, name])
    return specs


def find_spec(specs: Specs, label: str) -> InstanceSpec:
    """The planned instance called ``track/split/index``; raises ``UsageError``."""
    track, _, rest = label.partition("/")
    split, _, index = rest.partition("/")
    groups = sorted({f"{b}/{a}" for a, b in specs})
    if (split, track) not in specs:
        raise UsageError(
            f"--only {label}: there is no {track}/{split}{did_you_mean(f'{track}/{split}', groups)}"
            f"; write track/split/index, such as {groups[0]}/0"
        )
    members = specs[split, track]
    if index in map(str, range(len(members))):
        return members[int(index)]
    raise UsageError(
        f"--only {label}: {index or 'no index'} is no index of {track}/{split}; "
        f"write a number from 0 to {len(members) - 1}"
    )


def task_bounds(specs: Sequence[InstanceSpec]) -> tuple[int, int]:
    """How many tasks there will be, at least and at most."""
    low, high = 0, 0
    for block, count in unlike(specs):
        low += count * sum(spec.asked.tasks[0] for spec in block)
        high += count * sum(spec.asked.tasks[1] for spec in block)
    return low, high


@dataclass(frozen=True, slots=True)
class Planned:
    """What some instances were planned to be: their number, what was decided of them (motifs, and
    variants where they are assigned) by axis and level, and requested beside planned."""

    instances: int
    requested: Mapping[str, Mapping[str, int]]
    composition: Composition


def planned(track: Track, settings: Any, specs: Sequence[InstanceSpec]) -> Planned:
    """A description of instances that were planned together."""
    counts: dict[str, Counter[str]] = {}
    for spec in specs:
        for axis, level in spec.asked.levels:
            counts.setdefault(axis, Counter())[level] += 1
    requested = {axis: dict(sorted(levels.items())) for axis, levels in counts.items()}
    return Planned(len(specs), requested, track.composition(settings, specs))


def planned_alike(track: Track, settings: Any, specs: Sequence[InstanceSpec]) -> Planned:
    """A description of a split by one block of every kind that it has, each taken as often as there
    are such: of all that is decided by shares the true numbers, of what chance decides (which names
    are met again) those of these blocks."""
    several = ((planned(track, settings, block), count) for block, count in unlike(specs))
    return added(chain.from_iterable(repeat(plan, count) for plan, count in several))


def planned_in_blocks(
    track: str, settings: Any, specs: Sequence[InstanceSpec], workers: Workers
) -> Planned:
    """A description of a split, added up over its blocks; workers plan those of a large one."""
    jobs = [(TRACKS.reference(track), settings, members) for members in blocks_of(specs)]
    return added(map_instances(_planned_block, jobs, workers))


def _planned_block(job: tuple[str, Any, Members]) -> Planned:
    reference, settings, members = job
    return planned(load_track(reference), settings, list(members))


def added(blocks: Iterable[Planned]) -> Planned:
    """Some blocks as one."""
    instances, requested = 0, dict[str, Counter[str]]()
    composition: dict[str, dict[str, dict[str, float]]] = {}
    for block in blocks:
        instances += block.instances
        for axis, counts in block.requested.items():
            requested.setdefault(axis, Counter()).update(counts)
        for axis, levels in block.composition.items():
            for level, row in levels.items():
                into = composition.setdefault(axis, {}).setdefault(level, dict.fromkeys(row, 0))
                for side, count in row.items():
                    into[side] += count
    listed = {axis: dict(sorted(levels.items())) for axis, levels in requested.items()}
    return Planned(instances, listed, composition)


def _check_exam_counts(
    config: ReleaseConfig, split: SplitConfig, track: str, specs: Sequence[InstanceSpec]
) -> None:
    """With one task an instance, whether private exams add up is known before building."""
    if not split.private:
        return
    low, high = task_bounds(specs)
    if low != high:
        return
    counts = [draw.tasks for exam in split.exams for draw in exam.draws if draw.track == track]
    asked = sum(count for count in counts if count is not None)
    if asked > high or (None not in counts and asked != high):
        raise UsageError(
            f"{config.path}: splits.{split.name}.exams: they take {asked} tasks of {track} but "
            f"the split has {high} and each is in exactly one exam; let the numbers add up or let "
            'one exam take tasks = "all"'
        )
