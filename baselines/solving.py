"""What a solver is, and the three ways in which most solvers look at an exam.

A solver answers the tasks of one track. It gets the exam and those tasks, and yields each task that
it answers with the answer.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from baselines.release import OpenedExam, ShownScene, iterate_scenes
from baselines.writing import Answer
from grader.shape import Task

Answers = Iterator[tuple[Task, Answer]]
Solver = Callable[[OpenedExam, Sequence[Task]], Answers]
SolveTask = Callable[[Task], Answer]


def generator(name: str) -> np.random.Generator:
    """A stream of its own for everything with a name, seeded by the name's SHA-256."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def from_prompts(solve: SolveTask) -> Solver:
    """A solver that takes each task by itself."""
    return lambda exam, tasks: ((task, solve(task)) for task in tasks)


def from_scenes(make_solver: Callable[[ShownScene], SolveTask]) -> Solver:
    """A solver that looks at a scene once and then answers all its tasks."""

    def answers(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
        for scene, asked in iterate_scenes(exam, tasks):
            solve = make_solver(scene)
            # Again, as an earlier limit does not hold for libraries that this solver has loaded.
            with threadpool_limits(1):
                yield from ((task, solve(task)) for task in asked)

    return answers


def from_all_prompts(make_solver: Callable[[Sequence[Task]], SolveTask]) -> Solver:
    """A solver that looks over all tasks before it answers one."""
    return lambda exam, tasks: from_prompts(make_solver(tasks))(exam, tasks)


def nothing(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """Leaves every task unanswered."""
    return iter(())
