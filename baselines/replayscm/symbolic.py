"""``symbolic``: exact search for the train-exact program of smallest total AST size.

All parent sets of at most four variables, the smallest fitting function of each, and the best
acyclic choice; ties are broken lexicographically. Complete, so it always fits the training worlds.
"""

from typing import Any

from baselines.replayscm.problem import Puzzle, read_puzzle
from builder.replayscm.programs import name_of
from builder.replayscm.search import Found, find_alternative, search, search_with_roots
from grader.shape import Task
from grader.tracks.replayscm.boolean import to_text


def symbolic(task: Task) -> dict[str, Any]:
    """The answer to one task."""
    puzzle = read_puzzle(task)
    if puzzle.reference is not None:
        return other_program(puzzle)
    found = (
        search_with_roots(puzzle.tables)
        if puzzle.setting is None
        else search(puzzle.tables, puzzle.setting)
    )
    return as_answer(task, found)


def other_program(puzzle: Puzzle, *, first: bool = False) -> dict[str, Any]:
    """The smallest separable flip of an unseen pattern, or the ``first`` by variable and parents.

    The reference itself if there is none.
    """
    assert puzzle.reference is not None
    answer = find_alternative(
        puzzle.reference, puzzle.tables, puzzle.disclosure, smallest=not first
    )
    return answer if answer is not None else unchanged(puzzle)


def unchanged(puzzle: Puzzle) -> dict[str, Any]:
    """The reference as an answer: legal, and worth nothing."""
    assert puzzle.reference is not None
    roots = [name_of(v) for v in puzzle.reference.roots]
    return {
        "mechanisms": puzzle.reference.mechanisms(),
        "intervention": {"variable": roots[0], "value": 1},
        "witness": dict.fromkeys(roots[1:], 0),
    }


def as_answer(task: Task, found: Found | None) -> dict[str, Any]:
    """A found program in the answer's form; a failure is an answer of the form without content."""
    if found is None:
        return {"mechanisms": {}, "roots": []}
    mechanisms = {name: to_text(formula) for name, formula in found.formulas().items()}
    answer: dict[str, Any] = {"mechanisms": mechanisms}
    if task.shape.name == "roots_mechanisms":
        answer["roots"] = [name_of(v) for v in found.roots]
    return answer
