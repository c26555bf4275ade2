"""The points of known answers: right ones 100, none 0, uninformed ones their floors.

Every task's right answer is checked and scored, an instance at a time, by as many workers as there
are; a small split goes through the whole grader at once besides, a large one exam by exam.

Of uninformed answers, *constant* gives one fixed answer per shape, *random* a seeded guess;
neither looks at data or story. What each must score is derived by its track from the truths, by
the published rule of the variant and independently of the grader's scorers, so that the two check
each other. Floors of a large split rest on a sample of each variant's tasks, drawn by a hash of
their public ids.
"""

import hashlib
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import numpy as np

from builder.release.engine import map_instances
from builder.track import Floors, Guess
from builder.tracks import TRACKS, load_track
from grader.exam import Exam, choose_exam
from grader.io.release import Release
from grader.model import RawAnswer, Score, Truth
from grader.pipeline import grade
from grader.score import score_answer
from grader.shape import Task, Variant

AT_ONCE: Final = 3000
"""Tasks of a split that go through the whole grader together; of more, each exam by itself."""

FLOOR_TASKS: Final = 200
"""Tasks of a variant and split behind its floors; the ones whose ids have the smallest hashes."""

CEILING: Final[Mapping[str, float]] = {"pass": 0.8, "f1": 0.8}
"""Points a guess may reach on labels and sets: above, one answer is nearly always right.

Numeric pools have no ceiling but 1: zero is an honest guess of a small effect, and its points
say how small the effects are.
"""

CEILING_TASKS: Final = 20
"""Tasks a variant needs before its ceiling is applied."""

GUESSES: Final[tuple[Guess, ...]] = get_args(Guess)

GradedDerived = tuple[float, float]
"""Points of an uninformed answer: the grader's, and the floor's own derivation."""

Job = tuple[str, tuple[Task, ...], tuple[Truth, ...], frozenset[str]]
"""The reference of a track, the tasks of one of its instances, their truths, and the ids of those
that count for floors."""


@dataclass(frozen=True, slots=True)
class KnownPoints:
    """Points in [0, 1] of known answers to one task; ``floors`` is empty outside the sample."""

    task_id: str
    gold: float
    problem: str
    empty: float
    floors: Mapping[Guess, GradedDerived]


@dataclass(frozen=True, slots=True)
class Floor:
    """What uninformed answers to one variant score, in points (0-100)."""

    split: str
    variant: Variant
    tasks: int
    why: str
    points: Mapping[Guess, GradedDerived]


@dataclass(frozen=True, slots=True)
class SplitPoints:
    """Findings about one split: problems of right and of empty answers, and the floors.

    ``exams`` are those that went through the whole grader ("all": the split as a whole).
    """

    split: str
    tasks: int
    points: float
    empty: float
    exams: tuple[str, ...]
    wrong: tuple[str, ...]
    earned: tuple[str, ...]
    floors: tuple[Floor, ...]


def split_points(opened: Release, split: str, workers: int) -> SplitPoints:
    """The points of known answers to the tasks of a split."""
    whole_split = choose_exam(opened, split, "all")
    tasks, truths = whole_split.tasks, whole_split.truths
    sample = _sample(tasks)
    sampled = frozenset(task.task_id for members in sample.values() for task in members)
    jobs = _jobs(tasks, truths, sampled)
    results = map_instances(known_answer_points, jobs, workers)
    found = {one.task_id: one for part in results for one in part}
    wrong = [f"{one.task_id}: {one.problem}" for one in found.values() if one.problem]
    earned = [f"{one.task_id}: {one.empty:g} points" for one in found.values() if one.empty != 0]
    points, empty = (
        100 * math.fsum(values) / len(tasks)
        for values in zip(*((one.gold, one.empty) for one in found.values()), strict=True)
    )
    exams = tuple(opened.exams(split)) if len(tasks) > AT_ONCE else ("all",)
    for exam in exams:
        whole, nothing, lost = _through_the_grader(choose_exam(opened, split, exam, reveal=True))
        wrong += lost + ([f"exam {exam}: {whole} points"] if whole != 100.0 else [])
        earned += [f"exam {exam}: {nothing} points"] if nothing != 0 else []
    floors = [_floor(split, members, found) for members in sample.values()]
    return SplitPoints(split, len(tasks), points, empty, exams, tuple(wrong), tuple(earned),
                      tuple(floors))  # fmt: skip


def _through_the_grader(exam: Exam) -> tuple[float, float, list[str]]:
    """Points of right and of empty answers in files, and the right answers that lost anything."""
    with tempfile.TemporaryDirectory() as folder:
        empty = grade(exam, Path(folder))
        for task in exam.tasks:
            text = task.shape.gold(task, exam.truths[task.task_id])
            (Path(folder) / task.answer_file).write_text(text, encoding="utf-8")
        gold = grade(exam, Path(folder))
    lost = [f"{row.task_id}: {problem}" for row in gold.scores if (problem := _problem(row))]
    return gold.report["points"], empty.report["points"], lost


def _problem(row: Score) -> str:
    """What is wrong with the score of a right answer; empty if nothing."""
    if row.status == "scored" and row.points == 1.0 and row.loss == 0:
        return ""
    return f"({row.family}.{row.variant}) {row.status} {row.reason}, loss {row.loss:g}"


def _sample(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    """The tasks behind each variant's floors, in file order."""
    ranked = sorted(tasks, key=lambda t: hashlib.sha256(f"floor/{t.task_id}".encode()).digest())
    drawn: dict[str, set[str]] = {}
    for task in ranked:
        kept = drawn.setdefault(task.spec.key, set())
        if len(kept) < FLOOR_TASKS:
            kept.add(task.task_id)
    return {
        key: [task for task in tasks if task.task_id in kept] for key, kept in sorted(drawn.items())
    }


def _jobs(
    tasks: Sequence[Task], truths: Mapping[str, Truth], sampled: frozenset[str]
) -> Sequence[Job]:
    """One job an instance: its tasks share their held-out labels, which travel once."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.instance_id, []).append(task)
    return [
        (
            TRACKS.reference(members[0].track),
            tuple(members),
            tuple(truths[task.task_id] for task in members),
            frozenset(task.task_id for task in members) & sampled,
        )
        for members in groups.values()
    ]


def known_answer_points(job: Job) -> list[KnownPoints]:
    """The points of known answers to the tasks of one instance."""
    reference, tasks, truths, sampled = job
    own = load_track(reference).floors
    found = []
    for task, truth in zip(tasks, truths, strict=True):
        row = _scored(task, truth, task.shape.gold(task, truth))
        guesses = GUESSES if task.task_id in sampled else ()
        floors = {kind: _uninformed(kind, own, task, truth) for kind in guesses}
        nothing = score_answer(task, truth, None).points
        found.append(KnownPoints(task.task_id, row.points, _problem(row), nothing, floors))
    return found


def _scored(task: Task, truth: Truth, answer: str) -> Score:
    return score_answer(task, truth, RawAnswer(task.answer_file, answer.encode("utf-8")))


def _uninformed(kind: Guess, floors: Floors, task: Task, truth: Truth) -> GradedDerived:
    digest = hashlib.sha256(f"{kind}/{task.task_id}".encode()).digest()
    rng = np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))
    answer = floors.answer(kind, task, truth, rng)
    return _scored(task, truth, answer).points, floors.points(task, truth, answer)


def _floor(split: str, sample: Sequence[Task], found: Mapping[str, KnownPoints]) -> Floor:
    points = {}
    for kind in GUESSES:
        pairs = [found[task.task_id].floors[kind] for task in sample]
        graded, derived = (100 * math.fsum(each) / len(pairs) for each in zip(*pairs, strict=True))
        points[kind] = (graded, derived)
    spec = sample[0].spec
    why = TRACKS[spec.track].floors.why[spec.shape.name]
    return Floor(split, spec, len(sample), why, points)


def ceiling_of(pool: str, tasks: int) -> float:
    """The share of points at which a guess is too good: the pool's ceiling and one standard error.

    In a small release one label can be in the majority by chance.
    """
    share = CEILING.get(pool, 1.0)
    return share + math.sqrt(share * (1 - share) / tasks)
