"""Baselines that understand nothing: the truth itself, the same answer always, a legal random one.

They fix the ends of the scale. The last two are the very answers whose points the release gate
works out for itself; they open no table, and of a story ``random`` takes the names alone.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from baselines.release import OpenedExam, stories
from baselines.solving import Answers, generator
from baselines.writing import Answer
from builder.reader import read_story
from builder.track import Guess
from builder.tracks import TRACKS
from grader.io.release import Release
from grader.model import Truth
from grader.shape import Task

_SKETCHES: Final = ("edges", "skeleton_edges")


def gold(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Each task with its published truth, from the private side where it is private."""
    truths = Release.open(exam.path, exam.private).truths(exam.split, tasks)
    return ((task, task.shape.gold(task, truths[task.task_id])) for task in tasks)


def constant(task: Task) -> Answer:
    """The same answer to every task of a shape, from nothing but the task's declared inputs."""
    return _floor("constant", task)


def random(task: Task, story: str = "") -> Answer:
    """A legal answer drawn at random, reproducible from the task and the names in its story."""
    return _floor("random", task, story)


def random_answers(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Each task with a random answer; names come from the story where a graph is asked for."""
    told = stories(exam, [task for task in tasks if task.shape.name in _SKETCHES])
    return ((task, random(task, told.get((task.instance_id, task.view), ""))) for task in tasks)


def _floor(kind: Guess, task: Task, story: str = "") -> Answer:
    """The uninformed answer that the release gate derives too."""
    rng = generator(f"{kind}/{task.task_id}")
    text = TRACKS[task.track].floors.answer(kind, task, _names(task, story), rng)
    return _parsed(task, text)


def _names(task: Task, story: str) -> Truth:
    """What an uninformed answer may know: the names in the story, where a graph is asked for."""
    told = story if task.shape.name in _SKETCHES else ""
    nodes = list(read_story(told, (), task.inputs["variables"]).variables) if told else []
    return Truth(task.task_id, "", False, "", None, None, {"nodes": nodes})


def _parsed(task: Task, text: str) -> Answer:
    if task.shape.suffix != ".json":
        return text
    answer: dict[str, Any] = json.loads(text)
    return answer
