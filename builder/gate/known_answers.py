"""The points of known answers: right ones 100, none 0, uninformed ones their floors.

Every task's right answer is checked and scored where its part is checked; every exam goes through
the whole grader besides.

Of uninformed answers, *constant* gives one fixed answer per shape, *random* a seeded guess;
neither looks at data or story. What each must score is derived by its track from the truths, by
the published rule of the variant and independently of the grader's scorers, so that the two check
each other. Floors of a large split rest on a sample of each variant's tasks: so many of every part,
drawn by a hash of their public ids.
"""

import hashlib
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np

from builder.gate.part_rows import PartRows
from builder.track import Floors, Guess, Track
from grader.errors import UsageError
from grader.exam import choose_exam
from grader.io.jsonio import canonical
from grader.io.release import WHOLE_SPLIT, Release
from grader.io.rows import Rows
from grader.model import RawAnswer, Score, Truth
from grader.pipeline import grade
from grader.score import score_answer
from grader.shape import Task

AT_ONCE: Final = 3000
"""Tasks of a split without exams that go through the whole grader together."""

FLOOR_TASKS: Final = 200
"""Tasks of a variant and split behind its floors, or a few more: every part gives its share, the
tasks whose ids have the smallest hashes."""

CEILING: Final[Mapping[str, float]] = {"pass": 0.8, "f1": 0.8}
"""Points a guess may reach on labels and sets: above, one answer is nearly always right.

Numeric pools have no ceiling but 1: zero is an honest guess of a small effect, and its points
say how small the effects are.
"""

CEILING_TASKS: Final = 20
"""Tasks a variant needs before its ceiling is applied."""

GUESSES: Final[tuple[Guess, ...]] = get_args(Guess)


@dataclass(frozen=True, slots=True)
class FloorSum:
    """Points of uninformed answers to so many tasks of a variant, added up: by guess the grader's
    and the floor's own derivation."""

    tasks: int
    graded: Mapping[Guess, float]
    derived: Mapping[Guess, float]


@dataclass(frozen=True, slots=True)
class KnownPoints:
    """Points of known answers to so many tasks, added up, and what is wrong with any; ``floors`` by
    variant, of the sample."""

    tasks: int = 0
    gold: float = 0.0
    empty: float = 0.0
    wrong: tuple[str, ...] = ()
    earned: tuple[str, ...] = ()
    floors: Mapping[str, FloorSum] = field(default_factory=dict)

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> "KnownPoints":
        """What :func:`dataclasses.asdict` gave."""
        floors = {key: FloorSum(**one) for key, one in told["floors"].items()}
        lists = {name: tuple(told[name]) for name in ("wrong", "earned")}
        return KnownPoints(**{**told, **lists, "floors": floors})

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def total_points(parts: Sequence[KnownPoints]) -> KnownPoints:
    """The points of several parts together."""
    keys = sorted({key for part in parts for key in part.floors})
    return KnownPoints(
        sum(part.tasks for part in parts),
        math.fsum(part.gold for part in parts),
        math.fsum(part.empty for part in parts),
        tuple(line for part in parts for line in part.wrong),
        tuple(line for part in parts for line in part.earned),
        {key: _floor([part.floors[key] for part in parts if key in part.floors]) for key in keys},
    )


def _floor(sums: Sequence[FloorSum]) -> FloorSum:
    graded, derived = (
        {guess: math.fsum(one[guess] for one in side) for guess in side[0]}
        for side in ([one.graded for one in sums], [one.derived for one in sums])
    )
    return FloorSum(sum(one.tasks for one in sums), graded, derived)


def known_points(track: Track, rows: PartRows, parts: int) -> KnownPoints:
    """The points of known answers to the tasks of a part; the split has so many ``parts``."""
    problems: list[str] = []
    asked = list(tasks_and_truths(rows, problems))
    sample = _sample([task for task, _ in asked], max(1, -(-FLOOR_TASKS // parts)))
    gold, nothing, earned = [], [], []
    floors: dict[str, list[Mapping[Guess, tuple[float, float]]]] = {}
    grader = _Grader(track.floors)
    for task, truth in asked:
        try:
            row = grader.scored(task, truth, task.shape.gold(task, truth))
            none = grader.scored(task, truth, None).points
            guesses = GUESSES if task.task_id in sample else ()
            points = {kind: grader.uninformed(kind, task, truth) for kind in guesses}
        except Exception as error:  # a damaged row; the other tasks are looked at all the same
            problems.append(f"{task.task_id}: cannot be graded: {type(error).__name__}: {error}")
            continue
        gold.append(row.points)
        nothing.append(none)
        problems += [f"{task.task_id}: {problem}" for problem in [_problem(row)] if problem]
        earned += [f"{task.task_id}: {none:g} points"] if none != 0 else []
        if points:
            floors.setdefault(task.spec.key, []).append(points)
    return KnownPoints(
        len(rows.tables.tasks),
        math.fsum(gold),
        math.fsum(nothing),
        tuple(problems),
        tuple(earned),
        {key: _summed(members) for key, members in sorted(floors.items())},
    )


class _Grader:
    """Scores answers to tasks; of an instance it scores once what several tasks have in common: its
    views ask the same of the same truth."""

    def __init__(self, floors: Floors) -> None:
        self._floors = floors
        self._instance = ""
        self._known: dict[tuple[str, str | None], Score] = {}
        self._guessed: dict[tuple[Guess, str], tuple[float, float]] = {}
        self._asked: tuple[Task, Truth, str] | None = None

    def scored(self, task: Task, truth: Truth, answer: str | None) -> Score:
        """The score of an answer, or of none; ids and view may be those of another view."""
        question = self._question_of(task, truth), answer
        if question not in self._known:
            raw = None if answer is None else RawAnswer(task.answer_file, answer.encode("utf-8"))
            self._known[question] = score_answer(task, truth, raw)
        return self._known[question]

    def uninformed(self, kind: Guess, task: Task, truth: Truth) -> tuple[float, float]:
        """The points of an uninformed answer: the grader's, and the floor's own derivation.

        Guesses at one question in several views are one guess: they look at neither data nor story.
        """
        question = self._question_of(task, truth)
        if (kind, question) not in self._guessed:
            digest = hashlib.sha256(f"{kind}/{task.instance_id}/{question}".encode()).digest()
            rng = np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))
            answer = self._floors.answer(kind, task, truth, rng)
            points = self.scored(task, truth, answer).points
            self._guessed[kind, question] = points, self._floors.points(task, truth, answer)
        return self._guessed[kind, question]

    def _question_of(self, task: Task, truth: Truth) -> str:
        """:meth:`_question`, worked out once for all answers to a task."""
        if task.instance_id != self._instance:
            self._instance, self._known, self._guessed = task.instance_id, {}, {}
        if self._asked is None or self._asked[0] is not task or self._asked[1] is not truth:
            self._asked = task, truth, self._question(task, truth)
        return self._asked[2]

    @staticmethod
    def _question(task: Task, truth: Truth) -> str:
        """What points can depend on: all but ids, view and, of predictions, the table's columns."""
        inputs = task.inputs
        if task.shape.kind == "predictions":
            inputs = {name: value for name, value in inputs.items() if name != "columns"}
        parts = [task.spec.key, inputs, truth.should_abstain, truth.value, truth.target]
        return canonical(parts)


def tasks_and_truths(rows: PartRows, problems: list[str]) -> Iterator[tuple[Task, Truth]]:
    """The tasks of a part with their truths, an instance after the other, as the grader reads
    them; a row that it cannot read is added to ``problems``."""
    read = Rows()
    for instance, tasks in sorted(rows.tasks.items()):
        truths = {row["task_id"]: row for row in rows.truths.get(instance, ())}
        beside = rows.labels.get(instance, {})
        values = None
        for row in tasks:
            try:
                task = read.task(row)
                labels = None
                if task.shape.kind == "predictions":
                    labels = values = values or tuple(beside["values"])
                truth = read.truth(truths[task.task_id], labels)
            except (KeyError, ValueError, TypeError, UsageError) as error:
                problems.append(f"{row['task_id']}: cannot be read: {error!r}")
                continue
            yield task, truth


def _sample(tasks: Iterable[Task], most: int) -> frozenset[str]:
    """The ids of at most so many tasks of each variant."""
    ranked = sorted(tasks, key=lambda t: hashlib.sha256(f"floor/{t.task_id}".encode()).digest())
    drawn: dict[str, list[str]] = {}
    for task in ranked:
        kept = drawn.setdefault(task.spec.key, [])
        if len(kept) < most:
            kept.append(task.task_id)
    return frozenset(task_id for kept in drawn.values() for task_id in kept)


def _summed(points: Sequence[Mapping[Guess, tuple[float, float]]]) -> FloorSum:
    graded, derived = (
        {kind: math.fsum(one[kind][side] for one in points) for kind in GUESSES} for side in (0, 1)
    )
    return FloorSum(len(points), graded, derived)


def _problem(row: Score) -> str:
    """What is wrong with the score of a right answer; empty if nothing."""
    if row.status == "scored" and row.points == 1.0 and row.loss == 0:
        return ""
    return f"({row.family}.{row.variant}) {row.status} {row.reason}, loss {row.loss:g}"


@dataclass(frozen=True, slots=True)
class ExamPoints:
    """What right answers to an exam lost through the whole grader, and what empty ones earned."""

    exam: str
    wrong: tuple[str, ...]
    earned: tuple[str, ...]


def graded_exams(opened: Release, split: str, tasks: int) -> tuple[str, ...]:
    """What of a split goes through the whole grader: every exam; without exams its ``tasks``, if
    they are few."""
    return tuple(opened.exams(split)) or ((WHOLE_SPLIT,) if tasks <= AT_ONCE else ())


def points_of_exam(opened: Release, split: str, name: str, scratch: Path) -> ExamPoints:
    """An exam that is answered rightly, and one that is not answered, through the whole grader.

    The answers are written below ``scratch``, whose owner removes it: a worker may be killed.
    """
    exam = choose_exam(opened, split, name, reveal=True, whole=False)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        # Nobody sees intervals of slices, which cost as much as all the rest.
        empty = grade(exam, Path(folder), slice_intervals=False, tables=False).report["points"]
        for task in exam.tasks:
            text = task.shape.gold(task, exam.truths[task.task_id])
            (Path(folder) / task.answer_file).write_text(text, encoding="utf-8")
        gold = grade(exam, Path(folder), slice_intervals=False)
    lost = [f"{row.task_id}: {problem}" for row in gold.scores if (problem := _problem(row))]
    whole = gold.report["points"]
    lost += [f"exam {name}: {whole} points"] if whole != 100.0 else []
    earned = [f"exam {name}: {empty} points"] if empty != 0 else []
    return ExamPoints(name, tuple(lost), tuple(earned))


def ceiling_of(pool: str, tasks: int) -> float:
    """The share of points at which a guess is too good: the pool's ceiling and one standard error.

    In a small release one label can be in the majority by chance.
    """
    share = CEILING.get(pool, 1.0)
    return share + math.sqrt(share * (1 - share) / tasks)
