"""Reference solvers of the track replayscm: exact search, and programs without structure.

A task is read as partial tables and the disclosed setting. ``symbolic`` takes all parent sets of at
most four variables, the smallest fitting function of each, and the best acyclic choice; ties are
broken lexicographically. Complete, so it always fits the training worlds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from builder.tracks.replayscm.determinacy import Setting
from builder.tracks.replayscm.plan import Disclosure
from builder.tracks.replayscm.programs import HiddenProgram, assemble, name_of
from builder.tracks.replayscm.search import Found, find_alternative, search, search_with_roots
from builder.tracks.replayscm.tables import Rows, Tables, bits, tabulate
from grader.scoring.shape import Task
from grader.tracks.replayscm.boolean import parse, to_text
from grader.tracks.replayscm.problem import ROOTS, make_program, parse_map


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One task. ``setting`` is ``None`` where the roots are hidden; variables are label numbers."""

    n: int
    rows: Rows
    tables: Tables
    setting: Setting | None
    disclosure: Disclosure
    reference: HiddenProgram | None


def read_puzzle(task: Task) -> Puzzle:
    """The task's public inputs as arrays, variables in the order of their labels."""
    inputs = task.inputs
    names, rows = inputs["variables"], _rows(inputs["variables"], inputs["worlds"])
    return Puzzle(
        len(names), rows, tabulate(rows), _setting(inputs), _disclosure(inputs), _reference(inputs)
    )


def _rows(names: Sequence[str], worlds: Sequence[Mapping[str, Any]]) -> Rows:
    values = np.array(
        [[int(bit) for bit in row] for world in worlds for row in world["rows"]], dtype=np.int64
    )
    targets = [world["targets"] for world in worlds for _ in world["rows"]]
    clamped = np.array([[name in chosen for name in names] for chosen in targets], dtype=bool)
    return Rows(values, clamped)


def _disclosure(inputs: Any) -> Disclosure:
    if inputs["roots"] is None:
        return "hidden_roots"
    if inputs["order"] is not None:
        return "ordered"
    return "hidden" if inputs["blocks"] is None else "block"


def _setting(inputs: Any) -> Setting | None:
    """Roots and, for each other variable, those it may mention."""
    if inputs["roots"] is None:
        return None
    names, roots = inputs["variables"], set(inputs["roots"])
    allowed = {}
    for place, name in enumerate(names):
        if name in roots:
            continue
        if inputs["order"] is not None:
            may = set(inputs["order"][: inputs["order"].index(name)])
        elif inputs["blocks"] is not None:
            own = next(k for k, block in enumerate(inputs["blocks"]) if name in block)
            may = {other for block in inputs["blocks"][: own + 1] for other in block} - {name}
        else:
            may = set(names) - {name}
        allowed[place] = bits(map(names.index, may))
    return Setting(bits(map(names.index, roots)), allowed)


def _reference(inputs: Any) -> HiddenProgram | None:
    """The supplied program, in the disclosed order or in one that its mechanisms allow."""
    if not inputs.get("reference"):
        return None
    program = make_program(inputs["roots"], parse_map(inputs["reference"]))
    labels = inputs["order"] or [*program.roots, *program.order]
    order = tuple(int(name[1:]) - 1 for name in labels)
    formulas = {int(name[1:]) - 1: parse(text) for name, text in inputs["reference"].items()}
    return assemble(order, dict.fromkeys(formulas, ()), formulas)


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
