"""The scorer of an exam: takes the answer in, and reads the truth only now.

A score holds the answer's text and, where the truth is public, the points from 0 to 1. Of a private
exam nothing is scored task by task: it is graded as a whole.
"""

import base64
from functools import partial
from typing import Any

import anyio.to_thread
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState

from causal_exams.conversation import ANSWER, ENDING, answer_left, end, task_of
from causal_exams.endings import NO_ANSWER
from causal_exams.lab_host import Host
from grader.exam import Exam
from grader.model import RawAnswer
from grader.model import Score as Graded
from grader.score import score_answer
from grader.shape import Task


@scorer(metrics=[mean()])
def points(exam: Exam, host: Host, sandboxed: bool) -> Scorer:
    """Points of a task as the grader gives them."""

    async def score(state: TaskState, target: Target) -> Score:
        task = task_of(exam, state)
        data = await _taken(state, task, host, sandboxed)
        stored = {} if data is None else _text(data)
        if not exam.split.release.has_public_truth(exam.split.name):
            return Score.unscored(
                explanation="the truth is private: graded as a whole", **stored, reason="private"
            )
        row = await anyio.to_thread.run_sync(partial(_graded, exam, task, data))
        told = f"{row.status} {row.reason}".strip()
        return Score(value=row.points, explanation=told, **stored)

    return score


async def _taken(state: TaskState, task: Task, host: Host, sandboxed: bool) -> bytes | None:
    """The bytes of the answer file that a sample leaves; a laboratory's session is closed."""
    if task.shape.kind == "session":
        transcript, predicted = host.finish(task.task_id, state.epoch)
        if not predicted and state.store.get(ENDING) is None:
            end(state, NO_ANSWER)
        return transcript.encode("utf-8")
    text = state.store.get(ANSWER)
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    return await answer_left(task) if sandboxed else None


def _text(data: bytes) -> dict[str, Any]:
    """How a log keeps an answer: as text, or where it is none in base 64."""
    try:
        return {"answer": data.decode("utf-8")}
    except UnicodeDecodeError:
        encoded = base64.b64encode(data).decode("ascii")
        return {"answer": encoded, "metadata": {"encoding": "base64"}}


def _graded(exam: Exam, task: Task, data: bytes | None) -> Graded:
    raw = None if data is None else RawAnswer(task.answer_file, data)
    return score_answer(task, exam.truths[task.task_id], raw)
