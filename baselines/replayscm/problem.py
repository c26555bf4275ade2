"""A replayscm task as solvers read it: partial tables and the disclosed setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from builder.replayscm.determinacy import Setting
from builder.replayscm.plan import Disclosure
from builder.replayscm.programs import HiddenProgram, assemble
from builder.replayscm.tables import Rows, Tables, bits, tabulate
from grader.shape import Task
from grader.tracks.replayscm.boolean import parse
from grader.tracks.replayscm.problem import make_program, parse_map


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
