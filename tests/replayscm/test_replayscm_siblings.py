"""Tasks about one program: what one's prompt prints may be all that another asks for."""

import pytest
from puzzles import items

from builder.gate.exams import HeldExam, _borrowed
from grader.shape import Task

FOUND = items()


def _held(*families: str) -> HeldExam:
    """An exam of all tasks of these families."""
    return HeldExam("x", [i.task for i in FOUND if i.task.family in families], {}, False)


def _problems(exam: HeldExam) -> tuple[str, ...]:
    return _borrowed("dev", [exam], {i.task.task_id: i.truth for i in FOUND}).problems


def test_a_printed_program_that_answers_a_sibling_is_a_problem_of_the_exam() -> None:
    """Alternative prompts print the hidden program: every induction task of the same program is
    answered by it, with hidden roots too, for the same prompt names the roots."""
    alternatives = {i.task.instance_id for i in FOUND if i.task.family == "alternative"}
    answered = [
        i.task for i in FOUND if i.task.family == "induction" and i.task.instance_id in alternatives
    ]
    problems = _problems(_held("alternative", "induction"))
    assert answered and all(any(t.task_id in line for line in problems) for t in answered)


@pytest.mark.parametrize("family", ["alternative", "induction"])
def test_one_side_of_the_programs_gives_nothing_away(family: str) -> None:
    """Which is what exams with public truth hold."""
    held = _held(family)
    shared = [t for t in held.tasks if sum(t.instance_id == o.instance_id for o in held.tasks) > 1]
    assert shared and _problems(held) == ()


def test_programs_of_other_instances_are_nobodys_answer() -> None:
    """Only tasks about one program can answer each other."""

    def of(task: Task, family: str) -> bool:
        return task.family == family

    first = next(i.task for i in FOUND if of(i.task, "alternative"))
    others = [i.task for i in FOUND if i.task.instance_id != first.instance_id]
    held = HeldExam("x", [first, *(t for t in others if of(t, "induction"))], {}, False)
    assert _problems(held) == ()
