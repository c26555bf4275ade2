"""What known answers are worth: nothing is overlooked in parts, samples follow from ids."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder.build import check_release
from builder.gate import known_answers, part_check
from builder.gate.known_answers import (
    ExamPoints,
    KnownPoints,
    graded_exams,
    points_of_exam,
    total_points,
)
from builder.gate.part_check import Findings, findings
from builder.gate.part_rows import read_part, take_apart
from builder.gate.rules import Tables
from builder.release.parts import Part
from builder.tracks import TRACKS
from grader.opening import open_release
from grader.release.exam import Exam, choose_exam
from grader.release.release import Release
from grader.reports.build import Graded
from grader.scoring.shape import Task


@pytest.fixture
def parts(built: Path, tmp_path: Path) -> Iterator[Part]:
    """The parts of the public split."""
    with Tables(built, TRACKS) as tables:
        return iter(take_apart(built, tables, TRACKS["causalds"], "dev", tmp_path))


def test_every_task_is_worth_its_points_and_survives_as_json(parts: Iterator[Part]) -> None:
    """Findings travel from the worker that checked a part to the gate as a file."""
    part = next(parts)
    found = findings(part, TRACKS["causalds"])
    points = found.points
    assert points.tasks == found.tasks == points.gold and points.empty == 0.0
    assert (points.wrong, points.earned) == ((), ())
    again = part_check._from_json(part_check._to_json(found))
    assert isinstance(again, Findings) and again.points == points


def test_points_of_parts_add_up(parts: Iterator[Part]) -> None:
    """A mean of parts' means would weigh tasks of small parts more."""
    one = findings(next(parts), TRACKS["causalds"]).points
    both = total_points([one, KnownPoints(1, 0.5, 0.0, ("late: lost",), ())])
    assert both.tasks == one.tasks + 1 and both.gold == one.gold + 0.5
    assert both.wrong == ("late: lost",)


def test_a_split_without_exams_goes_through_the_grader_where_it_is_small(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All predictions of a whole release at once would fill the memory."""
    opened = open_release(built)
    assert graded_exams(opened, "dev", 10**6) == ("practice",)
    monkeypatch.setattr(Release, "exams", lambda *_: {})
    assert graded_exams(opened, "dev", 10) == ("all",)
    assert points_of_exam(opened, "dev", "all", tmp_path) == ExamPoints("all", (), ())
    assert graded_exams(opened, "dev", 10**6) == ()


def test_right_answers_are_written_where_somebody_else_removes_them(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A worker that Ctrl-C ends has no time to: a part of a private key stayed in /tmp."""
    given = []

    def grade(exam: Exam, folder: Path, **settings: bool) -> Graded:
        given.append((folder.parent, len(list(folder.iterdir()))))
        return real(exam, folder, **settings)

    real = known_answers.grade
    monkeypatch.setattr(known_answers, "grade", grade)
    points_of_exam(open_release(built), "dev", "practice", tmp_path)
    (parent, none), (same, all_of_them) = given
    assert parent == same == tmp_path and none == 0 < all_of_them
    assert list(tmp_path.iterdir()) == []


def test_a_right_answer_that_loses_points_is_named(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wrong gold answer among thousands must not drown."""
    victim = choose_exam(open_release(built), "dev", "all").tasks[0]
    scored = known_answers._Grader.scored

    def spoilt(self: Any, task: Task, truth: Any, answer: str | None) -> Any:
        spoil = task.task_id == victim.task_id and answer is not None
        return scored(self, task, truth, "{}" if spoil else answer)

    monkeypatch.setattr(known_answers._Grader, "scored", spoilt)
    lines = {line.check: line for line in check_release(built, workers=1).lines}
    assert lines["dev: gold answers"].problems[0].startswith(victim.task_id)
    assert "tasks, 100 points" not in lines["dev: gold answers"].figure


def test_views_that_ask_the_same_are_graded_once_and_counted_each(
    parts: Iterator[Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a check's time went into grading the same predictions for every view."""
    rows = read_part(next(parts))
    graded: list[str] = []
    score = known_answers.score_answer

    def counted(task: Task, truth: Any, raw: Any) -> Any:
        graded.append(task.task_id)
        return score(task, truth, raw)

    monkeypatch.setattr(known_answers, "score_answer", counted)
    once = known_answers.known_points(rows)
    asked, first = len(graded), dict(rows.tasks)
    views = {
        name: [*own, *({**row, "view": "proxy"} for row in own)] for name, own in first.items()
    }
    graded.clear()
    twice = known_answers.known_points(replace(rows, tasks=views))
    assert len(graded) == asked
    assert twice.gold == 2 * once.gold
