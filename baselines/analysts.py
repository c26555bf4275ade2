"""Which analyst or solver answers which track, and the walk over an exam."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from baselines import causalds_informed, causalds_naive, ccr_reasoners
from baselines.release import Exam, Scene, iterate_scenes
from baselines.replayscm_floors import copy, majority
from baselines.replayscm_structure import structure_and_formulas
from baselines.replayscm_symbolic import symbolic
from baselines.writing import Answer
from grader.model import Task

Solver = Callable[[Task], Answer]
Analyst = Callable[[Scene], Solver]

ANALYSTS: Final[Mapping[tuple[str, str], Analyst]] = {
    ("naive", "causalds"): causalds_naive.at_desk,
    ("informed", "causalds"): causalds_informed.at_desk,
    ("double-sampling", "causalds"): partial(causalds_informed.at_desk, corrected=True),
}
"""By baseline name and track, given a scene; a track without an analyst goes unanswered."""

PROMPT_ANALYSTS: Final[Mapping[tuple[str, str], Callable[[Task], Answer]]] = {
    ("naive", "ccr"): ccr_reasoners.naive,
    ("informed", "ccr"): ccr_reasoners.perfect,
    **{(name, "ccr"): solver for name, solver in ccr_reasoners.REASONERS.items()},
    ("naive", "replayscm"): majority,
    ("informed", "replayscm"): symbolic,
    ("symbolic", "replayscm"): symbolic,
    ("structure+dsl", "replayscm"): structure_and_formulas,
    ("majority", "replayscm"): majority,
    ("copy", "replayscm"): copy,
}
"""The same for tracks without scenes, whose prompts hold all there is."""

EXAM_ANALYSTS: Final[Mapping[tuple[str, str], Callable[[Iterable[Task]], Solver]]] = {
    ("ccr-global-wrong", "ccr"): ccr_reasoners.global_wrong,
}
"""The same for those that look over all tasks of an exam before they answer one."""


def analyse(name: str, exam: Exam) -> Iterator[tuple[Task, Answer]]:
    """Each task of ``exam`` that ``name`` has an analyst for, with its answer, scene by scene."""
    # One thread: the tables are small, and sums then have one order on every machine.
    with threadpool_limits(1):
        for scene, tasks in iterate_scenes(exam):
            sit_down = ANALYSTS.get((name, tasks[0].track))
            if sit_down is not None:
                answer = sit_down(scene)
                yield from ((task, answer(task)) for task in tasks)
        solvers = {
            track: prepare(exam.tasks)
            for (who, track), prepare in EXAM_ANALYSTS.items()
            if who == name
        }
        for task in exam.tasks:
            reader = solvers.get(task.track) or PROMPT_ANALYSTS.get((name, task.track))
            if reader is not None:
                yield task, reader(task)
