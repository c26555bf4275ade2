"""``majority`` and ``copy``: programs that use no structure at all."""

from typing import Any

import numpy as np

from baselines.replayscm.problem import Puzzle, read_puzzle
from baselines.replayscm.symbolic import unchanged
from builder.replayscm.make.programs import name_of
from grader.shape import Task


def majority(task: Task) -> dict[str, Any]:
    """Every mechanism a constant: the value its variable has more often where it is not set."""
    puzzle = read_puzzle(task)
    roots = _roots(puzzle)
    first = name_of(roots[0])

    def mechanism(v: int) -> str:
        ones, rows = _counts(puzzle, v)
        return f"(iff {first} {first})" if 2 * ones >= rows else f"(xor {first} {first})"

    return _answer(task, puzzle, mechanism)


def copy(task: Task) -> dict[str, Any]:
    """Every mechanism a root, plain or negated: the one that agrees in most rows."""
    puzzle = read_puzzle(task)
    roots = _roots(puzzle)

    def mechanism(v: int) -> str:
        free = ~puzzle.rows.clamped[:, v]
        values = puzzle.rows.values[free]
        agreement = [float(np.mean(values[:, r] == values[:, v])) if len(values) else 0.5
                     for r in roots]  # fmt: skip
        best = int(np.argmax([max(a, 1 - a) for a in agreement]))
        name = name_of(roots[best])
        return name if agreement[best] >= 0.5 else f"(not {name})"

    return _answer(task, puzzle, mechanism)


def _roots(puzzle: Puzzle) -> list[int]:
    """The disclosed roots, or the first three variables."""
    if puzzle.setting is None:
        return [0, 1, 2]
    return [v for v in range(puzzle.n) if puzzle.setting.roots >> v & 1]


def _counts(puzzle: Puzzle, v: int) -> tuple[int, int]:
    free = ~puzzle.rows.clamped[:, v]
    return int(puzzle.rows.values[free, v].sum()), int(free.sum())


def _answer(task: Task, puzzle: Puzzle, mechanism: Any) -> dict[str, Any]:
    """The answer, with one mechanism for each variable that is no root."""
    if puzzle.reference is not None:
        return unchanged(puzzle)
    roots = _roots(puzzle)
    answer: dict[str, Any] = {
        "mechanisms": {name_of(v): mechanism(v) for v in range(puzzle.n) if v not in roots}
    }
    if task.shape.name == "roots_mechanisms":
        answer["roots"] = [name_of(v) for v in roots]
    return answer
