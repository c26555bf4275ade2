"""Which cells does the evidence leave open? Scored by F1 over pairs of row and variable."""

from typing import Any

from grader.model import Mark, Truth
from grader.shape import Task


def named(task: Task, truth: Truth) -> dict[str, list[str]]:
    """The open variables of every row by its label, in the order in which the task lists them."""
    flags = {name: int(rows, 16) for name, rows in truth.target["undetermined"].items()}
    return {
        world["id"]: [name for name in task.inputs["variables"] if flags.get(name, 0) >> row & 1]
        for row, world in enumerate(task.inputs["asked"])
    }


def open_cells(task: Task, truth: Truth, answer: dict[str, Any]) -> Mark:
    """F1 = 2|A and B| / (|A| + |B|); a pair that is not asked about is a wrong member."""
    given = _pairs(answer["open"])
    target = _pairs(named(task, truth))
    shared = len(given & target)
    f1 = 2 * shared / (len(given) + len(target)) if given or target else 1.0
    unasked = len(given - _asked(task))
    extra = {
        "precision": shared / len(given) if given else 0.0,
        "recall": shared / len(target) if target else 0.0,
        "unasked_cells": unasked,
    }
    message = f"{unasked} of the cells are not asked about and count as wrong" if unasked else ""
    return Mark("f1", value=f1, loss=1 - f1, extra=extra, message=message)


def _pairs(cells: dict[str, list[str]]) -> frozenset[tuple[str, str]]:
    return frozenset((row, name) for row, names in cells.items() for name in names)


def _asked(task: Task) -> frozenset[tuple[str, str]]:
    """The cells that are printed as ``?``."""
    return frozenset(
        (row["id"], name)
        for row in task.inputs["asked"]
        for name, cell in zip(task.inputs["variables"], row["rows"][0], strict=True)
        if cell == "?"
    )
