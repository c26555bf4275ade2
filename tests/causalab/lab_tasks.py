"""Rows of an episode as the task and truth a grader sees, and one answer graded."""

from typing import Any

from grader.scoring.model import RawAnswer, Score, Truth
from grader.scoring.score import check, score, verify
from grader.scoring.shape import Task
from grader.tracks import variant
from grader.tracks.causalab.shapes import sign


def task_and_truth(row: dict[str, Any]) -> tuple[Task, Truth]:
    public, private, name = row["public"], row["private"], row["task_id"]
    task = Task(
        name, "instance", variant("causalab", f"laboratory.{public['family']}"),
        private["regime"], "prompt", "", "laboratory_jsonl", f"{name}.jsonl", public,
    )  # fmt: skip
    frequency = private["frequency"]
    return task, Truth(name, "instance", False, private["suite"], frequency, 0.0, private)


def grade(task: Task, truth: Truth, answer: str | None, key: bytes | None = None) -> Score:
    raw = None if answer is None else RawAnswer(task.answer_file, answer.encode())
    checked = check(task, raw)
    if key is not None:
        checked, _ = sign(checked, task.answer_file, key)
    return score(task, truth, verify(task, truth, checked))
