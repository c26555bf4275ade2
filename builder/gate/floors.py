"""The floors that a manifest states, on a sample of the release's own tasks.

The answer that each floor names must be a valid one to every task. Where truth is public, and so
every instance is asked what it can be, it must earn the floor up to sampling error: floors that
were changed by hand, or are of other instances, do not stand.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.release.floors import constant_points
from builder.splits.track import Floors, Track
from grader.errors import UsageError
from grader.release.release import ReleaseFolder
from grader.scoring.floors import Floors as Stated
from grader.scoring.model import Truth
from grader.scoring.score import GraderBug
from grader.scoring.shape import Task

SAMPLE: Final = 200
"""Tasks of a variant that are answered, those whose instances' ids have the smallest hashes."""
SIGMAS: Final = 5.0
"""Means may differ from floors by so many standard errors: some hundred are compared."""
CEILING: Final = 0.8
"""Points that a constant answer may not reach, one standard error apart, where labels or sets are
asked: above, one answer is nearly always right. Numbers have no such limit: zero is an honest guess
of a small effect."""
CEILING_TASKS: Final = 20
"""Tasks that a variant must have for the limit to hold."""


@dataclass(frozen=True, slots=True)
class FloorRow:
    """The floor of a variant beside what its answer earns on the release. Points are 0 to 1.

    ``answer`` names the constant answer. ``points`` is the floor: its mean on ``tasks`` tasks of
    the twin. ``own`` is its mean on ``own_tasks`` tasks of the release.
    """

    split: str
    variant: str
    answer: str
    points: float
    tasks: int
    own: float
    own_tasks: int


def check_floors(
    opened: ReleaseFolder, tracks: Mapping[str, Track], split: str
) -> tuple[list[FloorRow], list[str]]:
    """Return the floors of a split and the problems with them; both are empty if it has no floors.

    Floors that do not fit the tasks or the rules are problems without rows.
    """
    manifest = opened.public.manifest
    stated = manifest.get("floors", {}).get(split, {})
    tasks = [task for task in opened.tasks(split, prompts=False) if task.track in stated]
    problems = dict.fromkeys(Stated.from_manifest(manifest, split, tasks, opened.tracks).notices)
    rows: list[FloorRow] = []
    for name in stated if not problems else ():
        floors, told = tracks[name].floors, stated[name]["variants"]
        assert floors is not None
        own = _sample([task for task in tasks if task.track == name])
        truths = opened.truths(split, own)
        instances: dict[str, list[tuple[Task, Truth]]] = defaultdict(list)
        for task in own:
            instances[task.instance_id].append((task, truths[task.task_id]))
        for key, points in sorted(_points(floors, told, instances.values(), problems).items()):
            mean = math.fsum(points) / len(points)
            stands = told[key]["answer"], told[key]["points"], told[key]["tasks"]
            rows.append(FloorRow(split, key, *stands, mean, len(points)))
    pools = {task.spec.key: task.shape.pool for task in tasks}
    public = opened.has_public_truth(split)
    for row in rows:
        if public and (off := _distance(row)) > SIGMAS:
            problems[
                f"{row.variant}: '{row.answer}' earns {row.own:.4f} on {row.own_tasks} tasks, its "
                f"floor is {row.points:.4f}, {off:.1f} standard errors away"
            ] = None
        limit = CEILING + math.sqrt(CEILING * (1 - CEILING) / row.own_tasks)
        is_choice = pools.get(row.variant) in ("pass", "f1")
        if is_choice and row.own_tasks >= CEILING_TASKS and row.own >= limit:
            problems[f"{row.variant}: '{row.answer}' is nearly always right"] = None
    return rows, list(problems)


def _points(
    floors: Floors,
    stated: Mapping[str, Any],
    instances: Iterable[Sequence[tuple[Task, Truth]]],
    problems: dict[str, None],
) -> dict[str, list[float]]:
    """Return the points (0 to 1) of the answers that floors name: a list for each floor, by its
    key, with an entry for each task or, where tasks count together, for each instance.

    ``stated`` are the manifest's floors of the track. Problems with an answer are added to
    ``problems`` as keys.
    """
    points: dict[str, list[float]] = defaultdict(list)
    answers = {key: floor["answer"] for key, floor in stated.items()}
    for tasks in instances:
        try:
            for key, known in constant_points(floors, tasks, answers):
                if answers.get(key) in known:
                    points[key].append(known[answers[key]])
                elif floors.whole is None or key != floors.whole[0]:
                    problems[f"{key}: no constant answer is '{answers.get(key)}'"] = None
        except (ValueError, GraderBug, UsageError) as error:
            # A truth that no answer can be held against.
            problems[str(error)] = None
    return points


def _sample(tasks: Sequence[Task]) -> list[Task]:
    """Return about ``SAMPLE`` tasks of each variant, from instances in the order of their ids'
    hashes.

    A variant gets all its tasks of an instance or none, so it may have a few more than ``SAMPLE``.
    """
    ranked = sorted(tasks, key=lambda t: hashlib.sha256(f"floor/{t.instance_id}".encode()).digest())
    kept: dict[str, list[Task]] = {}
    for task in ranked:
        found = kept.setdefault(task.spec.key, [])
        if len(found) < SAMPLE or found[-1].instance_id == task.instance_id:
            found.append(task)
    return [task for found in kept.values() for task in found]


def _distance(row: FloorRow) -> float:
    """Return how many standard errors lie between the floor and the mean on the release: 0 or more.

    The error is that of two shares with one common mean. Points are 0 to 1, so their spread is at
    most that of a coin with the same mean. Infinite where the error is 0 and the means differ.
    """
    both = row.tasks + row.own_tasks
    mean = (row.points * row.tasks + row.own * row.own_tasks) / both
    error = math.sqrt(mean * (1 - mean) * (1 / row.tasks + 1 / row.own_tasks))
    off = abs(row.own - row.points)
    return 0.0 if off <= 1e-6 else off / error if error else math.inf
