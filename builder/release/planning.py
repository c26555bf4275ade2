"""What a split file asks for: instance specs, and their description without building."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from builder.release.config import ReleaseConfig, SplitConfig
from builder.release.manifest import Composition, Specs, composition_of
from builder.release.parts import PART_INSTANCES
from builder.release.roots import Root
from builder.release.types import InstanceSpec, Track
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.names import did_you_mean
from grader.spec import VARIANTS


def plan_specs(
    config: ReleaseConfig, roots: Mapping[str, Root], tracks: Mapping[str, Track] = TRACKS
) -> Specs:
    """The instances of every split and track, in index order.

    Raises ``UsageError`` when the exams of a private-truth split cannot hold each task once, and
    ``ValueError`` (our bug) when ids collide.
    """
    specs = {
        (split.name, name): tracks[name].plan(
            settings, split.name, roots[split.name].key, split.private
        )
        for split in config.splits
        for name, settings in split.tracks
    }
    ids = [spec.instance_id for members in specs.values() for spec in members]
    if len(ids) != len(set(ids)):
        raise ValueError("two planned instances have the same public id")
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
    for spec in members:
        if str(spec.index) == index:
            return spec
    raise UsageError(
        f"--only {label}: {index or 'no index'} is no index of {track}/{split}; "
        f"write a number from 0 to {len(members) - 1}"
    )


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One track of one split as planned. ``tasks`` is (at least, at most)."""

    split: str
    truth: str
    track: str
    instances: int
    tasks: tuple[int, int]
    parts: int
    requested: Mapping[str, Mapping[str, int]]
    composition: Composition
    exams: tuple[str, ...]


def plan_lines(config: ReleaseConfig, specs: Specs) -> list[PlanLine]:
    """The plan, one line for every track of every split."""
    lines = []
    for split in config.splits:
        for name, settings in split.tracks:
            members = specs[split.name, name]
            exams = tuple(
                f"{exam.name} ({'all' if draw.tasks is None else draw.tasks})"
                for exam in split.exams
                for draw in exam.draws
                if draw.track == name
            )
            lines.append(
                PlanLine(
                    split.name,
                    split.truth,
                    name,
                    len(members),
                    _task_bounds(name, members),
                    -(-len(members) // PART_INSTANCES),
                    _requested(members),
                    composition_of(name, settings, members),
                    exams,
                )
            )
    return lines


def _requested(specs: Sequence[InstanceSpec]) -> dict[str, dict[str, int]]:
    """Counts of what was decided while planning: motifs, and variants where they are assigned."""
    counts: dict[str, dict[str, int]] = {}
    for spec in specs:
        settings = json.loads(spec.config_json)
        for key in ("motif", "variant"):
            if isinstance(settings.get(key), str):
                table = counts.setdefault(key, {})
                table[settings[key]] = table.get(settings[key], 0) + 1
    return {key: dict(sorted(table.items())) for key, table in counts.items()}


def _task_bounds(track: str, specs: Sequence[InstanceSpec]) -> tuple[int, int]:
    """How many tasks there will be: one where its variant is assigned, else all variants at most.

    An instance that ships in several views can be asked each variant once in every view. A track
    that has counted them itself says so: ``tasks`` is its least and largest number.
    """
    variants = max(1, sum(variant.track == track for variant in VARIANTS))
    least = most = 0
    for spec in specs:
        settings = json.loads(spec.config_json)
        if "tasks" in settings:
            low, high = settings["tasks"]
        elif isinstance(settings.get("variant"), str):
            low = high = 1
        else:
            low, high = 1, variants * max(1, len(settings.get("views") or ()))
        least, most = least + low, most + high
    return least, most


def _check_exam_counts(
    config: ReleaseConfig, split: SplitConfig, track: str, specs: Sequence[InstanceSpec]
) -> None:
    """With one task an instance, whether private exams add up is known before building."""
    low, high = _task_bounds(track, specs)
    if not split.private or low != high:
        return
    counts = [draw.tasks for exam in split.exams for draw in exam.draws if draw.track == track]
    asked = sum(count for count in counts if count is not None)
    if asked > high or (None not in counts and asked != high):
        raise UsageError(
            f"{config.path}: splits.{split.name}.exams: they take {asked} tasks of {track} but "
            f"the split has {high} and each is in exactly one exam; let the numbers add up or let "
            'one exam take tasks = "all"'
        )
