"""Tasks about one program: what one's prompt prints may be all that another asks for."""

from puzzles import items

from builder.gate.exams import HeldExam, borrowed_answers
from builder.tracks import TRACKS


def _held(*families: str) -> HeldExam:
    """An exam of all tasks of these families."""
    return HeldExam("x", [i.task for i in items() if i.task.family in families], {}, False)


def _problems(exam: HeldExam) -> list[str]:
    truths = {i.task.task_id: i.truth for i in items()}
    return [line for line in borrowed_answers(exam, TRACKS, truths) if line is not None]


def test_a_printed_program_that_answers_a_sibling_is_a_problem_of_the_exam() -> None:
    """Alternative prompts print the hidden program: every induction task of the same program is
    answered by it, with hidden roots too, for the same prompt names the roots."""
    alternatives = {i.task.instance_id for i in items() if i.task.family == "alternative"}
    inductions = [i.task for i in items() if i.task.family == "induction"]
    answered = [task for task in inductions if task.instance_id in alternatives]
    problems = _problems(_held("alternative", "induction"))
    assert answered and all(any(t.task_id in line for line in problems) for t in answered)
