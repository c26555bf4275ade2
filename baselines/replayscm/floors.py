"""``majority`` and ``copy``: programs that use no structure at all."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.replayscm.problem import read_puzzle
from baselines.replayscm.symbolic import unchanged
from builder.replayscm.make.programs import name_of
from grader.shape import Task
from grader.tracks.replayscm.problem import ROOTS

Values = NDArray[np.int64]


def majority(task: Task) -> dict[str, Any]:
    """Every mechanism a constant: the value its variable has more often where it is not set."""

    def mechanism(values: Values, roots: list[int], v: int) -> str:
        first = name_of(roots[0])
        operator = "iff" if 2 * int(values[:, v].sum()) >= len(values) else "xor"
        return f"({operator} {first} {first})"

    return _answer(task, mechanism)


def copy(task: Task) -> dict[str, Any]:
    """Every mechanism a root, plain or negated: the one that agrees in most rows."""

    def mechanism(values: Values, roots: list[int], v: int) -> str:
        agreement = [float(np.mean(values[:, r] == values[:, v])) if len(values) else 0.5
                     for r in roots]  # fmt: skip
        best = int(np.argmax([max(a, 1 - a) for a in agreement]))
        name = name_of(roots[best])
        return name if agreement[best] >= 0.5 else f"(not {name})"

    return _answer(task, mechanism)


def _answer(task: Task, mechanism: Callable[[Values, list[int], int], str]) -> dict[str, Any]:
    """The answer, with one mechanism for each variable that is no root.

    ``mechanism`` gets the rows in which the variable is not set, the roots (the first three
    variables where none are disclosed) and the variable.
    """
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return unchanged(puzzle)
    setting, (values, clamped) = puzzle.setting, (puzzle.rows.values, puzzle.rows.clamped)
    roots = [v for v in range(puzzle.n) if setting is None or setting.roots >> v & 1][:ROOTS]
    answer: dict[str, Any] = {
        "mechanisms": {
            name_of(v): mechanism(values[~clamped[:, v]], roots, v)
            for v in range(puzzle.n)
            if v not in roots
        }
    }
    if task.shape.name == "roots_mechanisms":
        answer["roots"] = [name_of(v) for v in roots]
    return answer
