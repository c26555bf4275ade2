"""Tasks, truths and single answers of an imported release, by the answer file's name."""

import json
from typing import Any

from grader.release.exam import Exam
from grader.scoring.model import RawAnswer
from grader.scoring.score import check, score
from grader.scoring.shape import Task


def text_of(answer: Any) -> bytes:
    """An answer as its file holds it; a text stays as it is."""
    return (answer if isinstance(answer, str) else json.dumps(answer)).encode()


def task_of(exam: Exam, name: str) -> Task:
    """The task whose answer file has the stem ``name``."""
    return next(task for task in exam.split.tasks if task.task_id == name)


def graded(exam: Exam, name: str, answer: Any) -> Any:
    """The score of one answer to the task called ``name``."""
    task = task_of(exam, name)
    checked = check(task, RawAnswer(name, text_of(answer)))
    return score(task, exam.truths[name], checked)
