"""The entry point of Inspect: a task for each track, and the sandbox without a container engine.

``inspect eval causal_exams/<track> -T release=release -T exam=mini``
"""

from inspect import signature
from typing import Any

from inspect_ai import Task, task

from causal_exams.bubblewrap import BubblewrapSandboxEnvironment
from causal_exams.tasks import Sitting, exam_task
from grader.tracks import TRACKS

__all__ = ["BubblewrapSandboxEnvironment"]


def _register(track: str) -> None:
    """Register Inspect's task of a track; its parameters are the fields of ``Sitting``."""

    def sitting(**parameters: Any) -> Task:
        return exam_task(track, Sitting(**parameters))

    sitting.__signature__ = signature(Sitting)  # type: ignore[attr-defined]
    task(name=track)(sitting)


for _track in TRACKS:
    _register(_track)
