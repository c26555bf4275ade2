"""What the gate says of known answers and of exams: nothing is overlooked in parts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder.gate import exams as gate_exams
from builder.gate import part_check
from builder.gate.exams import (
    ExamPoints,
    HeldExam,
    as_requested,
    constant_labels,
    points_of_exam,
    share_elsewhere,
)
from builder.gate.part_check import EMPTY, GOLD, Findings, findings, grade_known_answers
from builder.gate.rules import Tables
from builder.gate.run import take_apart
from builder.release.parts import Part
from builder.release.tables import PartRows, read_part
from builder.tracks import TRACKS
from grader.release.exam import Exam
from grader.reports.build import GradedSubmission
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks import variant


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


def test_right_answers_are_written_where_somebody_else_removes_them(built, monkeypatch, tmp_path):
    """A worker that Ctrl-C ends has no time to: a part of a private key stayed in /tmp."""
    given = []

    def grade(exam: Exam, folder: Path, **settings: bool) -> GradedSubmission:
        given.append((folder.parent, len(list(folder.iterdir()))))
        return real(exam, folder, **settings)

    real = gate_exams.grade
    monkeypatch.setattr(gate_exams, "grade", grade)
    found = points_of_exam((built, "dev", "practice", tmp_path))
    assert found == ExamPoints("dev", "practice", (), ())
    (parent, none), (same, all_of_them) = given
    assert parent == same == tmp_path and none == 0 < all_of_them
    assert list(tmp_path.iterdir()) == []


def graded(rows: PartRows) -> Findings:
    """The points of known answers to the tasks of a part."""
    found = Findings()
    grade_known_answers(TRACKS["causalds"], rows, found)
    return found


def test_a_right_answer_that_loses_points_is_named(parts, monkeypatch):
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


BOOLEAN = "collider_phenomenon.induced_association_boolean"
FAMILIES = {"family": {"collider_phenomenon": {"requested": 9.0, "realised": 9}}}


def _task(number: int, key: str = BOOLEAN, instance: int | None = None) -> Task:
    spec = variant("causalds", key)
    name = f"cds-{number:016x}"
    told = (name, f"scene-{number if instance is None else instance}", spec, "clean")
    return Task(*told, spec.shape.input_mode, "", spec.shape.name, name + spec.shape.suffix, {})


def _truths(tasks: Sequence[Task], answers: Sequence[object]) -> dict[str, Truth]:
    return {
        t.task_id: Truth(t.task_id, t.instance_id, False, "fork", None, None, {"accepted": [a]})
        for t, a in zip(tasks, answers, strict=True)
    }


def _constant(
    answers: Sequence[object], *, composed: bool = True, matched: bool = False, instances: int = 99
) -> tuple[str, ...]:
    tasks = [_task(i, instance=i % instances) for i in range(len(answers))]
    exam = HeldExam("x", tasks, {"causalds": FAMILIES} if composed else {}, matched)
    return constant_labels("dev", [exam], _truths(tasks, answers)).problems


def test_nine_times_true_is_a_problem_of_a_composed_exam() -> None:
    """Who answers true without looking has them all."""
    (problem,) = _constant([True] * 9)
    assert "9 tasks" in problem and BOOLEAN in problem
    assert _constant([True] * 8 + [False]) == ()


def test_a_few_tasks_or_scenes_may_agree_by_chance() -> None:
    """Five labels may well be alike; so may nine of three scenes in three views."""
    assert _constant([True] * 5) == ()
    assert _constant([True] * 9, instances=3) == ()


def test_a_constant_label_is_told_of_exams_that_take_what_there_is() -> None:
    """A split of one motif is a fair wish; its exam of all tasks cannot vary."""
    assert _constant([True] * 9, composed=False) == ()
    assert _constant([True] * 9, matched=True) == ()
    tasks = [_task(i) for i in range(9)]
    exam = HeldExam("x", tasks, {}, False)
    assert BOOLEAN in constant_labels("dev", [exam], _truths(tasks, [True] * 9)).figure


def test_moved_tasks_are_counted_beyond_rounding() -> None:
    """6.96 requested, 7 or 6 planned is rounding; 1 planned is five tasks elsewhere."""
    requested = {"mediation_effect": 6.96, "prediction": 93.04}
    assert share_elsewhere(requested, {"mediation_effect": 6, "prediction": 94}) == 0
    share = share_elsewhere(requested, {"mediation_effect": 1, "prediction": 99})
    assert share == pytest.approx((4.96 + 4.96) / 2 / 100)
    assert share_elsewhere({"a": 50.0}, {"a": 40, "b": 10}) == pytest.approx((9 + 9) / 2 / 50)


def test_an_exam_far_from_its_prior_is_a_problem() -> None:
    """The tasks are counted again: what a plan promised is not what was built."""
    tasks = [_task(i) for i in range(17)] + [_task(99, "prediction.point_predictor")]
    share = {"requested": 9.0, "realised": 9}
    axes = {"family": {"collider_phenomenon": share, "prediction": share}}
    found = as_requested("dev", [HeldExam("x", tasks, {"causalds": axes}, False)])
    assert "39% of the tasks of causalds are of another family" in found.problems[0]
    matched = as_requested("dev", [HeldExam("x", tasks, {"causalds": axes}, True)])
    assert matched.problems == ()
