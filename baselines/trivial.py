"""Baselines that understand nothing: no answers, the same answer always, a legal random answer.

They fix the floor of the scale, and are the very answers whose points the release gate works out
for itself. None of them opens a table; of a story, ``random`` takes the names alone.
"""

import hashlib
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

import numpy as np

from baselines.reader.names import discover
from baselines.release import Exam, stories
from baselines.writing import Answer
from builder.gate.known_answers import TRACK_FLOORS
from grader.model import Task, Truth

_SKETCHES: Final = ("edges", "skeleton_edges")


def generator(task: Task, stage: str = "") -> np.random.Generator:
    """A stream of a task's own: seeded by SHA-256 of ``stage`` and the task id."""
    digest = hashlib.sha256(f"{stage}{task.task_id}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def constant(task: Task) -> Answer:
    """The same answer to every task of a shape, from nothing but the task's declared inputs."""
    return _floor("constant", task)


def random(task: Task, story: str = "") -> Answer:
    """A legal answer drawn at random, reproducible from the task and the names in its story."""
    return _floor("random", task, story)


def answers(name: str, exam: Exam, skipped: str | None = None) -> Iterator[tuple[Task, Answer]]:
    """Each task of ``exam``, but of the track ``skipped``, with the answer of "constant" or
    "random"; none by "empty"."""
    asked = [task for task in exam.tasks if task.track != skipped]
    if name == "constant":
        yield from ((task, constant(task)) for task in asked)
    elif name == "random":
        told = stories(exam, [task for task in asked if task.spec.shape in _SKETCHES])
        for task in asked:
            yield task, random(task, told.get((task.instance_id, task.view), ""))


def _floor(kind: str, task: Task, story: str = "") -> Answer:
    """The uninformed answer that the release gate derives too."""
    told = story if task.spec.shape in _SKETCHES else ""
    nodes = list(discover(told, (), task.inputs["variables"])) if told else []
    names = Truth(task.task_id, "", False, "", None, None, {"nodes": nodes})
    text: str = import_module(TRACK_FLOORS[task.track]).uninformed_answer(
        kind, task, names, generator(task, f"{kind}/")
    )
    if task.spec.suffix != ".json":
        return text
    answer: dict[str, Any] = json.loads(text)
    return answer
