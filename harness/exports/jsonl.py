"""An exam as lines of JSON, one a task: the prompt, the files, and what an answer is."""

import base64
from collections.abc import Iterator
from typing import Any

from grader.exam import Exam
from grader.io.jsonio import canonical
from grader.io.schemas import schema
from grader.shape import Task
from harness.exports.files import files_of

BESIDE = ("prompt.md", "answer.schema.json")
"""Files of a workspace that the line has as members of their own."""


def lines(exam: Exam, *, files: bool) -> Iterator[str]:
    """The lines, in the exam's order, each with its line feed.

    With ``files`` each has the files of the task's workspace, text as it is and tables in base 64.
    """
    for task in exam.split.release.with_prompts(exam.split.name, exam.tasks):
        yield canonical(_line(exam, task, files)) + "\n"


def _line(exam: Exam, task: Task, files: bool) -> dict[str, Any]:
    line: dict[str, Any] = {
        **task.members(),
        "release": exam.split.release.name,
        "exam": exam.name,
        "answer_schema": schema(f"answers/{task.shape.name}"),
    }
    if files:
        found = files_of(exam, task)
        line["files"] = {name: _text(data) for name, data in found.items() if name not in BESIDE}
    return line


def _text(data: bytes) -> dict[str, str]:
    try:
        return {"encoding": "utf-8", "content": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"encoding": "base64", "content": base64.b64encode(data).decode("ascii")}
