"""Answers that know nothing, and what they must score: the floors of the gate.

*Constant* gives one fixed answer per variant, *random* a seeded guess; neither looks at data or
story. What each must score is derived by each track from the truths, by the published rule of the
variant and independently of the grader's scorers, so that the two check each other.
"""

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Literal

import numpy as np

from grader.model import Task, Truth

Kind = Literal["constant", "random"]

CEILING: Final[Mapping[str, float]] = {"pass": 0.8, "f1": 0.8}
"""Points a guess may reach on labels and sets: above, one answer is nearly always right.

Numeric pools have no ceiling but 1: zero is an honest guess of a small effect, and its points
say how small the effects are.
"""

CEILING_TASKS: Final = 20
"""Tasks a variant needs before its ceiling is applied."""


def ceiling_of(pool: str, tasks: int) -> float:
    """The share of points at which a guess is too good: the pool's ceiling and one standard error.

    In a small release one label can be in the majority by chance.
    """
    share = CEILING.get(pool, 1.0)
    return share + math.sqrt(share * (1 - share) / tasks)


TRACK_FLOORS: Final[Mapping[str, str]] = {
    "causalds": "builder.causalds.check.floors",
    "causalab": "builder.causalab.check.floors",
    "ccr": "builder.ccr.check.floors",
    "replayscm": "builder.replayscm.check.floors",
}
"""Track to its module with ``WHY``, ``uninformed_answer`` and ``floor_points``."""


def _own(task: Task) -> Any:
    return import_module(TRACK_FLOORS[task.track])


def why(task: Task) -> str:
    """What the constant answer to this kind of task scores, and why."""
    reasons: Mapping[str, str] = _own(task).WHY
    return reasons[task.spec.shape]


def uninformed_answer(kind: Kind, task: Task, truth: Truth, rng: np.random.Generator) -> str:
    """The text of an answer file. ``truth`` lends the names that the story tells, nothing else."""
    return str(_own(task).uninformed_answer(kind, task, truth, rng))


def floor_points(task: Task, truth: Truth, answer: str) -> float:
    """The points in [0, 1] that ``answer`` deserves by the variant's published rule."""
    return float(_own(task).floor_points(task, truth, answer))
