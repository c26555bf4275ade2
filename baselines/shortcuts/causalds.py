"""Shortcuts of the scenes' exam: a glance at graph and correlations, in place of an argument.

The rules are in :mod:`baselines.causalds.lazy`, which is imported when one is asked for: what it
computes with takes a second.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from baselines.release import OpenedExam
from baselines.solving import Answers, Solver
from baselines.writing import Answer
from grader.shape import Task

_NOTES: Final = (
    ("sign-of-r", "an effect has the sign of the correlation"),
    ("plain-slope", "an effect is the slope on the treatment alone"),
    ("all-controls", "everything measured is controlled for"),
    ("baron-kenny", "the indirect effect is what the mediators take from the slope"),
    ("direct-causes", "the measured direct causes of the treatment are controlled for, always"),
    ("unmeasured", "nothing is identifiable where anything is unmeasured; else direct-causes"),
    ("bow", "nothing is identifiable where something unmeasured acts on both ends; else "
     "direct-causes"),
    ("latent-cause", "nothing is identifiable where a direct cause of the treatment is "
     "unmeasured; else direct-causes"),
    ("method-by-latents", "back door where nothing unmeasured acts on both ends, else front door "
     "where the treatment does not act directly"),
    ("verdict-of-ate", "the other effects are identifiable where the average one is"),
    ("descendants", "forbidden is what the treatment affects"),
    ("below-outcome", "what the outcome affects brings collider bias"),
    ("below-two", "what has two direct causes brings collider bias"),
    ("direct-dominates", "the direct effect is the larger"),
    ("r-stays", "there is an association with the sign of r, whatever is taken into account"),
    ("lookup", "the graph that the published domains have among these names"),
)  # fmt: skip


def _solve(name: str, exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    from baselines.causalds.lazy import by_rule

    return by_rule(name, exam, tasks)


def every_rule(exam: OpenedExam, tasks: Sequence[Task]) -> Iterator[tuple[str, Task, Answer]]:
    """What each rule answers, each scene read once."""
    from baselines.causalds import lazy

    return lazy.every_rule(exam, tasks)


SHORTCUTS: Final[tuple[tuple[str, str, str, Solver], ...]] = tuple(
    ("causalds", name, note, partial(_solve, name)) for name, note in _NOTES
)
