"""The floors that a manifest states, on a sample of the release's own tasks.

The answer that each floor names must be a valid one to every task. Where truth is public, and so
every instance is asked what it can be, it must earn the floor up to sampling error: floors that
were changed by hand, or are of other instances, do not stand.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.release.floors import graded_answer
from builder.splits.track import Floors, Graded, Track
from grader.release.release import Release
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
    """A floor beside the mean points that its answer earns on ``own_tasks`` of the release."""

    split: str
    variant: str
    answer: str
    points: float
    tasks: int
    own: float
    own_tasks: int


@dataclass(frozen=True, slots=True)
class SplitFloors:
    """What is found about the floors of a split."""

    split: str
    rows: tuple[FloorRow, ...]
    public: bool
    problems: tuple[str, ...]


def check_floors(opened: Release, tracks: Mapping[str, Track], split: str) -> SplitFloors:
    """Return the floors of a split and what is wrong with them; nothing where there are none."""
    manifest = opened.public.manifest
    stated = manifest.get("floors", {}).get(split, {})
    tasks = [task for task in opened.tasks(split, prompts=False) if task.track in stated]
    problems = [*Stated.from_manifest(manifest, split, tasks, opened.tracks).notices]
    rows: list[FloorRow] = []
    for name in stated if not problems else ():
        floors = tracks[name].floors
        assert floors is not None
        own = _sample([task for task in tasks if task.track == name])
        found = _Answered(floors, stated[name]["variants"], opened.truths(split, own))
        for task in own:
            found.answer(task)
        problems += dict.fromkeys(found.problems)
        rows += found.rows(split)
    pools = {task.spec.key: task.shape.pool for task in tasks}
    public = opened.has_public_truth(split)
    for row in rows:
        if public and (off := _distance(row)) > SIGMAS:
            problems.append(
                f"{row.variant}: '{row.answer}' earns {row.own:.4f} on {row.own_tasks} tasks, its "
                f"floor is {row.points:.4f}, {off:.1f} standard errors away"
            )
        limit = CEILING + math.sqrt(CEILING * (1 - CEILING) / row.own_tasks)
        is_choice = pools.get(row.variant) in ("pass", "f1")
        if is_choice and row.own_tasks >= CEILING_TASKS and row.own >= limit:
            problems.append(f"{row.variant}: '{row.answer}' is nearly always right")
    return SplitFloors(split, tuple(rows), public, tuple(problems))


class _Answered:
    """The points of the answers that the floors of one track name."""

    def __init__(
        self, floors: Floors, stated: Mapping[str, Any], truths: Mapping[str, Truth]
    ) -> None:
        self._floors, self._stated, self._truths = floors, stated, truths
        self._points: dict[str, list[float]] = {}
        self._together: dict[str, list[Graded]] = {}
        self.problems: list[str] = []

    def answer(self, task: Task) -> None:
        """Grade the answer that a task's floor names, and that of its instance's floor."""
        truth, key = self._truths[task.task_id], task.spec.key
        texts = dict(self._floors.constants(task, truth))
        whole = self._floors.whole
        for name in (key, whole[0]) if whole is not None else (key,):
            wanted = self._stated.get(name, {}).get("answer")
            if wanted not in texts:
                self.problems += [f"{key}: no constant answer is '{wanted}'"] * (name == key)
                continue
            try:
                graded = graded_answer(task, truth, texts[wanted])
            except (ValueError, GraderBug) as error:  # a truth that no answer can be held against
                self.problems.append(str(error))
                continue
            if name == key:
                self._points.setdefault(key, []).append(graded[2].points)
            else:
                self._together.setdefault(task.instance_id, []).append(graded)

    def rows(self, split: str) -> Iterator[FloorRow]:
        """Yield a row for each floor that some task was answered for."""
        if self._floors.whole is not None:
            key, worth = self._floors.whole
            shares = map(worth, self._together.values())
            self._points |= {key: found} if (found := [s for s in shares if s is not None]) else {}
        for key, points in sorted(self._points.items()):
            floor, mean = self._stated[key], math.fsum(points) / len(points)
            yield FloorRow(
                split, key, floor["answer"], floor["points"], floor["tasks"], mean, len(points)
            )


def _sample(tasks: Sequence[Task]) -> list[Task]:
    """``SAMPLE`` tasks a variant; of an instance all or none."""
    ranked = sorted(tasks, key=lambda t: hashlib.sha256(f"floor/{t.instance_id}".encode()).digest())
    kept: dict[str, list[Task]] = {}
    for task in ranked:
        found = kept.setdefault(task.spec.key, [])
        if len(found) < SAMPLE or found[-1].instance_id == task.instance_id:
            found.append(task)
    return [task for found in kept.values() for task in found]


def _distance(row: FloorRow) -> float:
    """How many standard errors the mean is from the floor, if tasks were throws of a coin.

    Points are shares, so no spread is larger than that of a coin of the same mean.
    """
    both = row.tasks + row.own_tasks
    mean = (row.points * row.tasks + row.own * row.own_tasks) / both
    error = math.sqrt(mean * (1 - mean) * (1 / row.tasks + 1 / row.own_tasks))
    off = abs(row.own - row.points)
    return 0.0 if off <= 1e-6 else off / error if error else math.inf
