"""Shortcuts of the replayscm track: a variable is explained by the smallest set that fits it.

Sets that fit are looked at one variable at a time; that the variables must find an order, which is
what makes a frontier record determined, is not used.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from baselines.release import OpenedExam
from baselines.replayscm.problem import Puzzle, read_puzzle
from baselines.replayscm.symbolic import as_answer, as_cells, completed
from baselines.solving import Answers, Solver, generator
from builder.replayscm.make.search import Choice, Found, fit
from builder.replayscm.make.tables import Flags, Rows, patterns, sets_of
from grader.shape import Task
from grader.tracks.replayscm.problem import ROOTS

Chosen = dict[int, list[int]]
"""By variable, the sets that fit it (as indices), smallest first."""


def fewest_parents(task: Task) -> dict[str, Any]:
    """Each variable on the smallest set that fits it; of open cells, those that these sets leave
    open."""
    puzzle = read_puzzle(task)
    fitting = _fitting(puzzle)
    found = _program(task, puzzle, fitting)
    if task.shape.kind != "cells":
        return as_answer(task, found)
    members = sets_of(puzzle.n).members
    smallest = {
        v: [k for k in ks if len(members[k]) == len(members[ks[0]])] for v, ks in fitting.items()
    }
    return as_cells(task, _left_open(puzzle, completed(task, found), smallest))


def fewest_sets(task: Task) -> dict[str, Any]:
    """As ``fewest-parents``, but of equal sizes, variables that fewer sets fit come first."""
    puzzle = read_puzzle(task)
    return as_answer(task, _program(task, puzzle, _fitting(puzzle), by_count=True))


def any_set(task: Task) -> dict[str, Any]:
    """A cell is open if some set that fits its variable leaves it open, or two disagree."""
    puzzle = read_puzzle(task)
    fitting = _fitting(puzzle)
    rows = completed(task, _program(task, puzzle, fitting))
    return as_cells(task, _left_open(puzzle, rows, fitting))


def _program(task: Task, puzzle: Puzzle, fitting: Chosen, *, by_count: bool = False) -> Found:
    """Variables with the smallest sets first, each on its smallest that closes no circle with what
    is chosen so far; hidden roots are the three with the largest sets or none. Ties fall by
    the number of sets, ``by_count``, and then by chance.
    """
    sizes = _sizes(puzzle, fitting)
    tie = generator(f"fewest-parents/{task.task_id}").permutation(puzzle.n)
    count = [len(fitting[v]) if by_count else 0 for v in range(puzzle.n)]
    ranked = sorted(range(puzzle.n), key=lambda v: (sizes[v], count[v], tie[v]))
    roots = tuple(sorted(ranked[-ROOTS:]))
    if puzzle.setting is not None:
        roots = tuple(v for v in range(puzzle.n) if puzzle.setting.roots >> v & 1)
    choices: dict[int, Choice] = {}
    for v in ranked:
        if v not in roots:
            # Set 0 is the empty one: a constant where nothing is left.
            k = next((k for k in fitting[v] if not _circle(puzzle, choices, v, k)), 0)
            choices[v] = fit(puzzle.tables, v, k)
    return Found(roots, choices, sum(choice.size for choice in choices.values()))


def _left_open(puzzle: Puzzle, rows: Rows, chosen: Chosen) -> Flags:
    """Computed cells, shape (rows, n), for which the chosen sets allow both values."""
    tables, shown = puzzle.tables, patterns(rows)
    found = np.zeros(rows.values.shape, dtype=bool)
    for v, ks in chosen.items():
        if puzzle.setting is not None and v in puzzle.setting.allowed:
            zeros, ones = ((t[v, ks] >> shown[:, ks]) & 1 == 1 for t in (tables.zeros, tables.ones))
            found[:, v] = (~zeros).any(axis=1) & (~ones).any(axis=1) & ~rows.clamped[:, v]
    return found


def _fitting(puzzle: Puzzle) -> Chosen:
    """All sets that fit each variable and that it may mention."""
    consistent, masks = puzzle.tables.consistent(), sets_of(puzzle.n).masks
    found = {}
    for v in range(puzzle.n):
        allowed = -1 if puzzle.setting is None else puzzle.setting.allowed.get(v, 0)
        found[v] = np.flatnonzero(consistent[v] & ((masks & ~allowed) == 0)).tolist()
    return found


def _sizes(puzzle: Puzzle, fitting: Chosen) -> list[int]:
    """The size of the smallest set that fits each variable; more than any where none does."""
    members = sets_of(puzzle.n).members
    return [len(members[fitting[v][0]]) if fitting[v] else puzzle.n for v in range(puzzle.n)]


def _circle(puzzle: Puzzle, choices: Mapping[int, Choice], child: int, k: int) -> bool:
    """Whether ``child`` is an ancestor of a member of set ``k``."""
    waiting, met = list(sets_of(puzzle.n).members[k]), set[int]()
    while waiting:
        v = waiting.pop()
        if v not in met:
            met.add(v)
            waiting += choices[v].members if v in choices else ()
    return child in met


def _only(rule: Callable[[Task], dict[str, Any]], *variants: str) -> Solver:
    """A rule for tasks of these frontier variants."""

    def solve(_: OpenedExam, tasks: Sequence[Task]) -> Answers:
        return (
            (task, rule(task))
            for task in tasks
            if task.family == "frontier" and task.variant in variants
        )

    return solve


SHORTCUTS: Final[tuple[tuple[str, str, str, Solver], ...]] = (
    ("replayscm", "fewest-parents", "each variable on the smallest set that fits it",
     _only(fewest_parents, "hidden_roots", "undetermined")),
    ("replayscm", "fewest-sets", "the same, variables that fewest sets fit first",
     _only(fewest_sets, "hidden_roots")),
    ("replayscm", "any-set", "open is what some set that fits leaves open, whatever the order",
     _only(any_set, "undetermined")),
)  # fmt: skip
