"""What known answers are worth: nothing is overlooked in chunks, samples follow from ids."""

from pathlib import Path
from typing import Any

import pytest
from gate_release import build

from builder.gate import known_answers
from builder.gate.known_answers import split_points
from builder.gate.run import run_gate
from grader.exam import choose_exam
from grader.io.release import Release
from grader.shape import Task


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return build(tmp_path_factory.mktemp("worth"), monkeypatch)


def test_every_task_is_worth_its_points_in_one_process_and_in_two(built: Path) -> None:
    """Findings must not depend on who worked them out."""
    opened = Release.open(built)
    alone = split_points(opened, "dev", 1)
    assert alone == split_points(opened, "dev", 2)
    assert (alone.points, alone.empty, alone.wrong, alone.earned) == (100.0, 0.0, (), ())
    assert sum(floor.tasks for floor in alone.floors) == alone.tasks, "too few to be sampled"


def test_a_large_split_goes_through_the_grader_exam_by_exam(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All predictions of a whole release at once would fill the memory."""
    monkeypatch.setattr(known_answers, "AT_ONCE", 5)
    found = split_points(Release.open(built), "dev", 1)
    assert found.exams == ("practice",) and not found.wrong
    figures = {line.check: line.figure for line in run_gate(built).lines}
    assert figures["dev: gold answers"].endswith("through the whole grader: practice")


def test_floors_of_many_tasks_rest_on_a_sample_that_ids_draw(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither order nor truth may decide which tasks count."""
    monkeypatch.setattr(known_answers, "FLOOR_TASKS", 3)
    opened = Release.open(built)
    tasks = choose_exam(opened, "dev", "all").tasks
    sample = known_answers._sample(tasks)
    assert all(len(chosen) <= 3 for chosen in sample.values())
    again = known_answers._sample(tasks[::-1])
    assert {key: {task.task_id for task in chosen} for key, chosen in again.items()} == {
        key: {task.task_id for task in chosen} for key, chosen in sample.items()
    }
    floors = split_points(opened, "dev", 1).floors
    assert {floor.variant.key: floor.tasks for floor in floors} == {
        key: len(chosen) for key, chosen in sample.items()
    }


def test_a_right_answer_that_loses_points_is_named(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wrong gold answer among thousands must not drown."""
    scored = known_answers._scored
    victim = choose_exam(Release.open(built), "dev", "all").tasks[0]

    def spoilt(task: Task, truth: Any, answer: str) -> Any:
        return scored(task, truth, "{}" if task.task_id == victim.task_id else answer)

    monkeypatch.setattr(known_answers, "_scored", spoilt)
    found = split_points(Release.open(built), "dev", 1)
    assert any(line.startswith(victim.task_id) for line in found.wrong)
    assert found.points < 100.0
