"""The floors that a manifest states, on a sample of the release's own tasks.

The policy that each floor names answers tasks of the exam. The grader's points must be those that
the track derives by itself, and their mean must be the floor up to sampling error: floors measured
on another exam, or changed by hand, do not stand.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.floors.twin import graded_policies
from builder.track import Graded, Track
from builder.tracks import TRACKS
from grader.exam import choose_exam
from grader.floors import find, rules_sha256
from grader.io.release import Release
from grader.model import Truth
from grader.shape import Task
from grader.tracks import TRACKS as GRADED

SAMPLE: Final = 200
"""Tasks of a variant that are answered, those whose instances' ids have the smallest hashes."""

SIGMAS: Final = 5.0
"""Means may differ from floors by so many combined standard errors: some hundred are compared."""

_EXACT: Final = 1e-9

Members = list[tuple[str, float]]
"""The instance of a task, and the points of the floor's policy on it."""


@dataclass(frozen=True, slots=True)
class StatedFloors:
    """Findings about the floors of one exam in one split."""

    split: str
    exam: str
    tasks: int
    farthest: float
    problems: tuple[str, ...]


def split_floors(opened: Release, split: str) -> Iterator[StatedFloors]:
    """What is wrong with the floors in the manifest, by exam of a split; nothing without floors."""
    manifest = opened.public.manifest
    for exam, tracks in manifest.get("floors", {}).items():
        if exam in manifest["splits"][split]["exams"]:
            yield _of_exam(opened, split, exam, tracks, manifest["floor_rules"][exam])


def _of_exam(
    opened: Release,
    split: str,
    exam: str,
    tracks: Mapping[str, Any],
    rules: Mapping[str, Mapping[str, str]],
) -> StatedFloors:
    chosen = choose_exam(opened, split, exam, whole=False)
    problems: list[str] = []
    farthest, count = 0.0, 0
    for name, floors in tracks.items():
        if rules[name]["grader"] != rules_sha256(GRADED[name], floors):
            problems.append(f"{name}: measured by another grader's rules; measure again")
            continue
        tasks = _sample([task for task in chosen.tasks if task.track == name])
        cells, found = _answered(TRACKS[name], tasks, chosen.truths, floors)
        problems += [f"{name}: {problem}" for problem in found]
        for (key, regime), members in cells.items():
            floor = find(floors[key], regime)
            assert floor is not None
            distance = _distance(members, floor)
            farthest, count = max(farthest, distance), count + len(members)
            if distance > SIGMAS:
                mean = math.fsum(points for _, points in members) / len(members)
                problems.append(
                    f"{name} {key} {regime}".rstrip() + f": '{floor['policy']}' earns {mean:.4f} "
                    f"on {len(members)} tasks, its floor is {floor['points']:.4f} "
                    f"± {floor['se']:.4f}; measure again"
                )
    return StatedFloors(split, exam, count, farthest, tuple(problems))


def _sample(tasks: Sequence[Task]) -> list[Task]:
    """``SAMPLE`` tasks a variant; of an instance whose tasks count together, all or none."""
    ranked = sorted(tasks, key=lambda t: hashlib.sha256(f"floor/{t.instance_id}".encode()).digest())
    kept: dict[str, list[Task]] = {}
    last: dict[str, str] = {}
    for task in ranked:
        found = kept.setdefault(task.spec.key, [])
        if len(found) < SAMPLE or last[task.spec.key] == task.instance_id:
            found.append(task)
            last[task.spec.key] = task.instance_id
    return [task for found in kept.values() for task in found]


def _answered(
    track: Track, tasks: Sequence[Task], truths: Mapping[str, Truth], floors: Mapping[str, Any]
) -> tuple[dict[tuple[str, str], Members], list[str]]:
    """The points of each floor's policy, and what is wrong with floors or points."""
    regime_of = GRADED[track.name].regime
    cells: dict[tuple[str, str], Members] = {}
    problems: list[str] = []
    whole: dict[tuple[str, str], list[Graded]] = {}
    for task in tasks:
        key, truth = task.spec.key, truths[task.task_id]
        regime = "" if regime_of is None else regime_of(task)
        floor = find(floors.get(key, {}), regime)
        if floor is None:
            problems.append(f"{key} {regime}".rstrip() + ": no floor is stated; measure again")
            continue
        only = frozenset(one["policy"] for one in floors_in(floors[key]))
        graded = dict(graded_policies(track, task, truth, {}, only))
        if floor["policy"] not in graded:
            problems.append(f"{key}: nobody answers by '{floor['policy']}'; measure again")
            continue
        answers = _texts(track, task, truth, floor["policy"])
        for text, (_, _, row) in zip(answers, graded[floor["policy"]], strict=True):
            derived = track.floors.points(task, truth, text)
            if abs(row.points - derived) > _EXACT:
                problems.append(
                    f"{task.task_id} ({key}): graded {row.points:.9f}, derived {derived:.9f}"
                )
        mean = math.fsum(row.points for _, _, row in graded[floor["policy"]]) / len(answers)
        cells.setdefault((key, regime), []).append((task.instance_id, mean))
        for policy, rows in graded.items():
            whole.setdefault((task.instance_id, policy), []).extend(rows)
    for (instance, policy), members in whole.items() if track.floors.whole else ():
        assert track.floors.whole is not None
        found = track.floors.whole(members)
        if found is not None and _names(floors.get(found[0], {}), found[1], policy):
            cells.setdefault(found[:2], []).append((instance, found[2]))
    return cells, list(dict.fromkeys(problems))


def floors_in(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The floors of a variant, one for each regime."""
    return [entry] if "policy" in entry else list(entry.values())


def _names(entry: Mapping[str, Any], regime: str, policy: str) -> bool:
    floor = find(entry, regime)
    return floor is not None and floor["policy"] == policy


def _texts(track: Track, task: Task, truth: Truth, policy: str) -> Sequence[str]:
    assert track.floors.policies is not None
    return dict(track.floors.policies(task, truth))[policy]


def _distance(members: Members, floor: Mapping[str, Any]) -> float:
    """How many combined standard errors the mean is from the floor.

    A few tasks show no spread of their own: that of the twin's tasks counts at least.
    """
    instances: dict[str, float] = {}
    mean = math.fsum(points for _, points in members) / len(members)
    for instance, points in members:
        instances[instance] = instances.get(instance, 0.0) + points - mean
    own = math.fsum(off * off for off in instances.values()) / len(members) ** 2
    twin = floor["se"] ** 2 * floor["tasks"] / len(members)
    error = math.sqrt(floor["se"] ** 2 + max(own, twin))
    off = abs(mean - floor["points"])
    return 0.0 if off <= 1e-6 else off / error if error else math.inf
