"""What a split file asks for: instance specs, and their description without building."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builder.release.config import ReleaseConfig, SplitConfig
from builder.release.roots import Root
from builder.track import Composition, InstanceSpec, Track
from builder.tracks import TRACKS
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
    return sum(spec.asked.tasks[0] for spec in specs), sum(spec.asked.tasks[1] for spec in specs)


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
