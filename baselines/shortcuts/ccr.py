"""Shortcuts of the ccr track's frontier exam: seeing for doing, facts for suppositions, and numbers
where there are none."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from baselines.ccr.frontier import Patterns, chained, copied, read_margins, seen, wanted
from baselines.release import OpenedExam
from baselines.solving import Answers, Solver
from baselines.writing import Answer
from grader.shape import Task


def conditioning(task: Task) -> Answer:
    """``P(B | A) - P(B | not A)``, among the cases with what is known, for every quantity; of
    shares that are told, as both ends of an interval."""
    if task.variant == "bounds":
        value = read_margins(task.prompt).conditioned
        return {"intervals": {name: [value, value] for name in wanted(task.prompt)}}
    patterns = Patterns.of(task.prompt)
    found = {
        name: float(seen(patterns.joint(asked))) for name, asked in wanted(task.prompt).items()
    }
    return {"quantities": found}


def always_consistent(task: Task) -> Answer:
    """A number for every deduction: PNS multiplied and divided along the chain of the variables
    that are spoken of, whatever the graph and whether it fits."""
    order, givens, target, own = chained(task.prompt)
    if own is not None:
        return {"value": own}
    if not givens:
        return {"value": 0.5}
    place = {name: k for k, name in enumerate(order)}

    def row(pair: tuple[str, str]) -> list[float]:
        return [float(place[pair[0]] <= k < place[pair[1]]) for k in range(len(order) - 1)]

    sizes = np.log([float(given.value) for given in givens])
    solution, *_ = np.linalg.lstsq(np.array([row(g.pair) for g in givens]), sizes, rcond=None)
    return {"value": float(np.exp(np.array(row(target.pair)) @ solution))}


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
        _only(conditioning, "direct", "evidence", "bounds"),
    ),
    (
        "ccr", "copy-facts", "the factual answer under every supposition",
        _only(copy_facts, "simulation"),
    ),
    (
        "ccr", "always-consistent", "a number for every deduction, whatever the graph",
        _only(always_consistent, "deductive"),
    ),
)  # fmt: skip
