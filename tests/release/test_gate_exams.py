"""The gate looks at exams as a whole: constant labels, and what was requested of them."""

from collections.abc import Sequence

import pytest

from builder.gate.exams import HeldExam, as_requested, constant_labels, share_elsewhere
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks import variant

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
