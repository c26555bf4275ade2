"""The plan of a split file: a spec for each instance, and counts of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from builder.release.exams import assign_exams, compose_public, planned_candidates
from builder.splits.config import ReleaseConfig, SplitConfig
from builder.splits.roots import Root
from builder.splits.track import InstanceSpec
from grader.errors import UsageError
from grader.io.names import did_you_mean

Specs = Mapping[tuple[str, str], Sequence[InstanceSpec]]
"""(split, track) to the planned instances."""


def plan_specs(config: ReleaseConfig, roots: Mapping[str, Root]) -> Specs:
    """Return the planned instances by (split, track), in index order; with private truth each has
    its exam. Raises ``UsageError`` when the exams cannot be composed of what is planned."""
    return {
        (split.name, name): _planned_split(config, split, name, settings, roots)
        for split in config.splits
        for name, settings in split.tracks
    }


def _planned_split(
    config: ReleaseConfig, split: SplitConfig, name: str, settings: Any, roots: Mapping[str, Root]
) -> Sequence[InstanceSpec]:
    """Return the planned instances of one track of a split, as :func:`plan_specs` does."""
    file, track, root = str(config.path), config.tracks[name], roots[split.name].key
    try:
        specs = track.plan(settings, split.name, root, split.private)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None
    if not split.private:
        compose_public(split, track, planned_candidates(track, specs), root, file)
        return specs
    exam_of = assign_exams(split, track, specs, root, file)
    return [
        replace(spec, task_plan=replace(spec.task_plan, exam=exam_of[spec.instance_id]))
        for spec in specs
    ]


def plan_one(config: ReleaseConfig, roots: Mapping[str, Root], label: str) -> InstanceSpec:
    """Return the instance called ``track/split/index`` (``label``); only its own track is planned.
    Raises ``UsageError`` when there is none of that name."""
    group, _, index = label.rpartition("/")
    groups = {
        f"{name}/{split.name}": (split, name, settings)
        for split in config.splits
        for name, settings in split.tracks
    }
    if group not in groups:
        raise UsageError(
            f"--only {label}: there is no {group or label}{did_you_mean(group, sorted(groups))}"
            f"; write track/split/index, such as {min(groups)}/0"
        )
    members = _planned_split(config, *groups[group], roots)
    if index in map(str, range(len(members))):
        return members[int(index)]
    raise UsageError(
        f"--only {label}: {index or 'no index'} is not an index of {group}; "
        f"write a number from 0 to {len(members) - 1}"
    )


def planned_levels(specs: Sequence[InstanceSpec]) -> dict[str, dict[str, int]]:
    """Return the numbers of planned instances: {axis, such as motif: {level: count}}."""
    counts: dict[str, Counter[str]] = {}
    for spec in specs:
        for axis, level in spec.task_plan.levels:
            counts.setdefault(axis, Counter())[level] += 1
    return {axis: dict(sorted(levels.items())) for axis, levels in counts.items()}
