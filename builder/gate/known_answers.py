"""The points of known answers: right ones 100, none 0.

Every task's right answer is checked and scored where its part is checked; every exam goes through
the whole grader besides.
"""

import hashlib
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from builder.gate.part_rows import PartRows
from grader.errors import UsageError
from grader.io.jsonio import canonical
from grader.pipeline import grade
from grader.release.exam import choose_exam
from grader.release.release import WHOLE_SPLIT, Release
from grader.release.rows import Rows
from grader.scoring.model import RawAnswer, Score, Truth
from grader.scoring.score import score_answer
from grader.scoring.shape import Task
from grader.tracks import TRACKS as GRADED

AT_ONCE: Final = 3000
"""Tasks of a split without exams that go through the whole grader together."""


@dataclass(frozen=True, slots=True)
class KnownPoints:
    """Points of known answers to so many tasks, added up, and what is wrong with any."""

    tasks: int = 0
    gold: float = 0.0
    empty: float = 0.0
    wrong: tuple[str, ...] = ()
    earned: tuple[str, ...] = ()

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> "KnownPoints":
        """What :func:`dataclasses.asdict` gave."""
        lists = {name: tuple(told[name]) for name in ("wrong", "earned")}
        return KnownPoints(**{**told, **lists})

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def total_points(parts: Sequence[KnownPoints]) -> KnownPoints:
    """The points of several parts together."""
    return KnownPoints(
        sum(part.tasks for part in parts),
        math.fsum(part.gold for part in parts),
        math.fsum(part.empty for part in parts),
        tuple(line for part in parts for line in part.wrong),
        tuple(line for part in parts for line in part.earned),
    )


def known_points(rows: PartRows) -> KnownPoints:
    """The points of known answers to the tasks of a part."""
    problems: list[str] = []
    gold, nothing, earned = [], [], []
    grader = _Grader()
    for task, truth in tasks_and_truths(rows, problems):
        try:
            row = grader.scored(task, truth, task.shape.gold(task, truth))
            none = grader.scored(task, truth, None).points
        except Exception as error:  # a damaged row; the other tasks are looked at all the same
            problems.append(f"{task.task_id}: cannot be graded: {type(error).__name__}: {error}")
            continue
        gold.append(row.points)
        nothing.append(none)
        problems += [f"{task.task_id}: {problem}" for problem in [_problem(row)] if problem]
        earned += [f"{task.task_id}: {none:g} points"] if none != 0 else []
    return KnownPoints(
        len(rows.tables.tasks), math.fsum(gold), math.fsum(nothing), tuple(problems), tuple(earned)
    )


class _Grader:
    """Scores answers to tasks; of an instance it scores once what several tasks have in common: its
    views ask the same of the same truth."""

    def __init__(self) -> None:
        self._instance = ""
        self._known: dict[tuple[str, str | None], Score] = {}

    def scored(self, task: Task, truth: Truth, answer: str | None) -> Score:
        """The score of an answer, or of none; ids and view may be those of another view."""
        if task.instance_id != self._instance:
            self._instance, self._known = task.instance_id, {}
        question = self._question(task, truth), answer
        if question not in self._known:
            raw = None if answer is None else RawAnswer(task.answer_file, answer.encode("utf-8"))
            self._known[question] = score_answer(task, truth, raw)
        return self._known[question]

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
    read = Rows(GRADED)
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


def answer_hashes(asked: Iterable[tuple[Task, Truth]]) -> dict[str, str]:
    """Return the SHA-256 of the right answer to each task, by its id."""
    answers = {}
    for task, truth in asked:
        try:
            text = task.shape.gold(task, truth)
        except Exception:  # a damaged truth, which other checks name: no answer is right
            answers[task.task_id] = ""
        else:
            answers[task.task_id] = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return answers


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
