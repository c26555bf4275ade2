"""Shortcuts of the ccr track's frontier exam: seeing for doing, facts for suppositions, and numbers
where there are none."""

from collections.abc import Callable, Sequence
from typing import Final

from baselines.ccr.frontier import Patterns, copied, seen, wanted
from baselines.release import OpenedExam
from baselines.solving import Answers, Solver
from baselines.writing import Answer
from grader.shape import Task


def conditioning(task: Task) -> Answer:
    """``P(B | A) - P(B | not A)``, among the cases with what is known, for every quantity."""
    patterns = Patterns.of(task.prompt)
    found = {
        name: float(seen(patterns.joint(asked))) for name, asked in wanted(task.prompt).items()
    }
    return {"quantities": found}


def copy_facts(task: Task) -> Answer:
    """What is so stays so, whatever is supposed."""
    return copied(task.prompt)


def _only(rule: Callable[[Task], Answer], *variants: str) -> Solver:
    """A rule for tasks of these frontier variants, in every exam."""

    def solve(_: OpenedExam, tasks: Sequence[Task]) -> Answers:
        return (
            (task, rule(task))
            for task in tasks
            if task.family == "frontier" and task.variant in variants
        )

    return solve


SHORTCUTS: Final[tuple[tuple[str, str, str, Solver], ...]] = (
    (
        "ccr", "conditioning", "P(B | A) - P(B | not A) for every quantity",
        _only(conditioning, "direct", "evidence"),
    ),
    (
        "ccr", "copy-facts", "the factual answer under every supposition",
        _only(copy_facts, "simulation"),
    ),
)  # fmt: skip
