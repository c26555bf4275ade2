"""What solvers share: one reply, how a conversation ends, and the answer that is left."""

from functools import partial
from typing import Final

import anyio.to_thread
from inspect_ai.model import ChatMessageSystem, ModelOutput, get_model
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolDef
from inspect_ai.util import OutputLimitExceededError, sandbox

from causal_exams.endings import CONTEXT, REFUSED
from grader.exam import Exam
from grader.model import RawAnswer
from grader.shape import Task
from grader.submission.check import check
from grader.submission.submission import MAX_BYTES

ANSWER: Final = "answer"
"""Where a solver that has no sandbox leaves the text of the answer file, in the sample's store."""
ENDING: Final = "ending"
"""Where a solver says why it ended."""
FOLDER: Final = "answers"
"""The answers folder in a sandbox's working directory."""


def task_of(exam: Exam, state: TaskState) -> Task:
    """The task of a sample."""
    return next(task for task in exam.tasks if task.task_id == state.sample_id)


def begin(state: TaskState, *texts: str) -> None:
    """Put the system message before the prompt."""
    state.messages.insert(0, ChatMessageSystem(content="\n".join(texts)))


async def reply(state: TaskState, tools: list[ToolDef]) -> ModelOutput | None:
    """The model's next reply, appended; None, the ending written down, where it was the last."""
    output = await get_model().generate(state.messages, tools=tools)
    state.output = output
    state.messages.append(output.message)
    ending = {"model_length": CONTEXT, "content_filter": REFUSED}.get(output.stop_reason)
    if ending is not None:
        end(state, ending)
        return None
    return output


def end(state: TaskState, why: str) -> None:
    """Write down why the conversation ended."""
    state.store.set(ENDING, why)


async def answer_left(task: Task) -> bytes | None:
    """The answer file in the sandbox, None if there is none.

    It is cut off after what a grader would call too large.
    """
    for path in (f"{FOLDER}/{task.answer_file}", task.answer_file):
        try:
            data: bytes = await sandbox().read_file(path, text=False)
        except OutputLimitExceededError:
            data = b" " * (MAX_BYTES[task.shape.suffix] + 1)
        except (FileNotFoundError, IsADirectoryError, PermissionError, TimeoutError):
            continue
        return data[: MAX_BYTES[task.shape.suffix] + 1]
    return None


async def problem(task: Task, data: bytes) -> str | None:
    """What the grader finds wrong with an answer without the truth, None if nothing."""
    raw = RawAnswer(task.answer_file, data)
    checked = await anyio.to_thread.run_sync(partial(check, task, raw))
    return checked.message if checked.status == "invalid" else None
