"""What known answers are worth: nothing is overlooked in parts, samples follow from ids."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder.gate import exams as gate_exams
from builder.gate import part_check
from builder.gate.exams import ExamPoints, graded_exams, points_of_exam
from builder.gate.part_check import EMPTY, GOLD, Findings, findings, grade_known_answers
from builder.gate.rules import Tables
from builder.gate.run import take_apart
from builder.release.parts import Part
from builder.release.tables import PartRows, read_part
from builder.tracks import TRACKS
from grader.opening import open_release
from grader.release.exam import Exam
from grader.release.release import ReleaseFolder
from grader.reports.build import GradedSubmission
from grader.scoring.shape import Task


@pytest.fixture
def parts(built: Path, tmp_path: Path) -> Iterator[Part]:
    """The parts of the public split."""
    with Tables(built, TRACKS) as tables:
        return iter(take_apart(built, tables, TRACKS["causalds"], "dev", tmp_path))


def test_every_task_is_worth_its_points_and_those_of_parts_add_up(parts: Iterator[Part]) -> None:
    """A mean of parts' means would weigh tasks of small parts more."""
    found = findings(next(parts), TRACKS["causalds"])
    tasks = found.counts["tasks"]
    assert tasks == found.counts["gold"] > 0 == found.counts["empty"]
    assert found.problems[GOLD] == found.problems[EMPTY] == []
    late = Findings({"tasks": 1, "gold": 0.5}, {GOLD: ["late: lost"]})
    found.add(late)
    assert (found.counts["tasks"], found.counts["gold"]) == (tasks + 1, tasks + 0.5)
    assert found.problems[GOLD] == ["late: lost"]


def test_a_split_without_exams_goes_through_the_grader_where_it_is_small(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All predictions of a whole release at once would fill the memory."""
    opened = open_release(built)
    assert graded_exams(opened, "dev", 10**6) == ("practice",)
    monkeypatch.setattr(ReleaseFolder, "exams", lambda *_: {})
    assert graded_exams(opened, "dev", 10) == ("all",)
    assert points_of_exam((built, "dev", "all", tmp_path)) == ExamPoints("dev", "all", (), ())
    assert graded_exams(opened, "dev", 10**6) == ()


def test_right_answers_are_written_where_somebody_else_removes_them(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A worker that Ctrl-C ends has no time to: a part of a private key stayed in /tmp."""
    given = []

    def grade(exam: Exam, folder: Path, **settings: bool) -> GradedSubmission:
        given.append((folder.parent, len(list(folder.iterdir()))))
        return real(exam, folder, **settings)

    real = gate_exams.grade
    monkeypatch.setattr(gate_exams, "grade", grade)
    points_of_exam((built, "dev", "practice", tmp_path))
    (parent, none), (same, all_of_them) = given
    assert parent == same == tmp_path and none == 0 < all_of_them
    assert list(tmp_path.iterdir()) == []


def graded(rows: PartRows) -> Findings:
    """The points of known answers to the tasks of a part."""
    found = Findings()
    grade_known_answers(TRACKS["causalds"], rows, found)
    return found


def test_a_right_answer_that_loses_points_is_named(
    parts: Iterator[Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wrong gold answer among thousands must not drown."""
    rows = read_part(next(parts))
    victim = min(rows.tables.tasks)
    score = part_check.score_answer

    def spoilt(task: Task, truth: Any, raw: Any) -> Any:
        return score(
            task, truth, replace(raw, data=b"{}") if raw and task.task_id == victim else raw
        )

    monkeypatch.setattr(part_check, "score_answer", spoilt)
    found = graded(rows)
    (problem,) = found.problems[GOLD]
    assert problem.startswith(f"{victim}: (")
    assert found.counts["gold"] < len(rows.tables.tasks)
