"""``majority``: programs that use no structure at all."""

from typing import Any

from baselines.replayscm.problem import read_puzzle
from baselines.replayscm.symbolic import unchanged
from builder.replayscm.programs import name_of
from grader.shape import Task
from grader.tracks.replayscm.problem import ROOTS


def majority(task: Task) -> dict[str, Any]:
    """Every mechanism a constant: the value its variable has more often where it is not set.

    Roots are the disclosed ones, or the first three variables.
    """
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return unchanged(puzzle)
    setting, (values, clamped) = puzzle.setting, (puzzle.rows.values, puzzle.rows.clamped)
    roots = [v for v in range(puzzle.n) if setting is None or setting.roots >> v & 1][:ROOTS]
    first, mechanisms = name_of(roots[0]), {}
    for v in range(puzzle.n):
        if v not in roots:
            free = values[~clamped[:, v], v]
            operator = "iff" if 2 * int(free.sum()) >= len(free) else "xor"
            mechanisms[name_of(v)] = f"({operator} {first} {first})"
    answer: dict[str, Any] = {"mechanisms": mechanisms}
    if task.shape.name == "roots_mechanisms":
        answer["roots"] = [name_of(v) for v in roots]
    return answer
