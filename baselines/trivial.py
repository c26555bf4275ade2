"""Baselines that understand nothing: the truth itself, the same answer always, a legal random one.

They fix the ends of the scale. The last two open no table, and take of a story the names alone.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from baselines.release import OpenedExam, stories
from baselines.solving import Answers, generator
from baselines.writing import Answer
from builder.reader import read_story
from builder.seeds import pick
from builder.tracks import TRACKS
from grader.io.release import Release
from grader.model import Truth
from grader.shape import Task

_SKETCHES: Final = ("edges", "skeleton_edges")


def gold(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Each task with its published truth, from the private side where it is private."""
    truths = Release.open(exam.path, exam.private).truths(exam.split, tasks)
    return ((task, task.shape.gold(task, truths[task.task_id])) for task in tasks)


def constant(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Each task with the answer that its floor names, the best that is always the same; with the
    first on the list where the release states no floors."""
    stated = exam.release.public.manifest.get("floors", {}).get(exam.split, {})
    for task, texts in _constants(exam, tasks):
        floors, track = stated.get(task.track, {}).get("variants", {}), TRACKS[task.track].floors
        # Where the tasks of an instance count together, that is what an answer is best at.
        whole = track.whole[0] if track is not None and track.whole is not None else ""
        own = task.family == whole.partition(".")[0]
        floor = (floors.get(whole) if own else None) or floors.get(task.spec.key, {})
        yield task, _parsed(task, texts.get(floor.get("answer", ""), next(iter(texts.values()))))


def first(task: Task) -> Answer:
    """The first of the constant answers to a task, for whoever cannot answer; without names."""
    return _parsed(task, next(iter(constants_of(task).values())))


def random(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Each task with one of the constant answers, drawn by the task's id."""
    for task, texts in _constants(exam, tasks):
        yield task, _parsed(task, pick(generator(f"random/{task.task_id}"), [*texts.values()]))


def constants_of(task: Task, story: str = "") -> dict[str, str]:
    """The constant answers to a task by name; names of variables come from the story."""
    floors = TRACKS[task.track].floors
    assert floors is not None
    return dict(floors.constants(task, _names(task, story)))


def _constants(exam: OpenedExam, tasks: Sequence[Task]) -> Iterator[tuple[Task, dict[str, str]]]:
    """Each task with its constant answers; stories are read where a graph is asked for."""
    told = stories(exam, [task for task in tasks if task.shape.name in _SKETCHES])
    for task in tasks:
        yield task, constants_of(task, told.get((task.instance_id, task.view), ""))


def _names(task: Task, story: str) -> Truth:
    """What a constant answer may know: the names in the story, where a graph is asked for."""
    told = story if task.shape.name in _SKETCHES else ""
    nodes = list(read_story(told, (), task.inputs["variables"]).variables) if told else []
    return Truth(task.task_id, "", False, "", None, None, {"nodes": nodes})


def _parsed(task: Task, text: str) -> Answer:
    if task.shape.suffix != ".json":
        return text
    answer: dict[str, Any] = json.loads(text)
    return answer
