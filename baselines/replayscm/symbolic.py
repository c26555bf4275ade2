"""``symbolic``: exact search for the train-exact program of smallest total AST size.

All parent sets of at most four variables, the smallest fitting function of each, and the best
acyclic choice; ties are broken lexicographically. Complete, so it always fits the training worlds.
Open cells: those in which some program that fits differs from the one found, over all of them.
"""

from typing import Any

import numpy as np

from baselines.replayscm.problem import Puzzle, read_puzzle, read_rows
from builder.replayscm.make.alternatives import find_alternative
from builder.replayscm.make.programs import name_of
from builder.replayscm.make.search import Found, search, search_with_roots
from builder.replayscm.make.tables import Flags, Rows
from builder.replayscm.make.undetermined import open_cells
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
    if task.shape.kind == "cells":
        return _open_cells(task, puzzle, found)
    return as_answer(task, found)


def _open_cells(task: Task, puzzle: Puzzle, found: Found | None) -> dict[str, Any]:
    """The cells in which train-exact programs differ from one of them."""
    assert puzzle.setting is not None and found is not None
    rows = completed(task, found)
    return as_cells(task, open_cells(puzzle.tables, rows, puzzle.setting))


def completed(task: Task, program: Found) -> Rows:
    """The rows asked about, with what ``program`` computes for each ``?``."""
    rows = read_rows(task, task.inputs["asked"])
    for v in program.order():
        choice = program.choices[v]
        pattern = np.zeros(len(rows.values), dtype=np.int64)
        for bit, parent in enumerate(choice.members):
            pattern |= rows.values[:, parent] << bit
        computed = (choice.table >> pattern) & 1
        rows.values[:, v] = np.where(rows.clamped[:, v], rows.values[:, v], computed)
    return rows


def as_cells(task: Task, flags: Flags) -> dict[str, Any]:
    """The flagged cells, shape (rows, n), in the answer's form."""
    return {
        "open": {
            asked["id"]: [name_of(int(v)) for v in np.flatnonzero(flags[row])]
            for row, asked in enumerate(task.inputs["asked"])
        }
    }


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
