"""Shortcut formulas and survivor reduction (ReplaySCM B.2.3).

A shortcut of V is a formula of AST size at most five over the variables before V in the latent
order that fits the training rows but is another function than V's mechanism.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import and_, or_, xor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.tracks.replayscm.programs import HiddenProgram, name_of
from builder.tracks.replayscm.worlds import World
from grader.tracks.replayscm.boolean import input_column, truth_table

LARGEST: Final = 5
_JOIN: Final = {"and": and_, "or": or_, "xor": xor}

Columns = NDArray[np.uint16]
Entry = tuple[int, str, int, int]
"""AST size, operator, left, right."""


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """All different non-constant functions of p variables with a formula of size <= 5.

    Each applies an operator to the functions ``left`` and ``right``, both earlier (of a ``leaf``,
    ``left`` is the variable). ``stages`` are runs of functions (operator, left, right) that need
    only earlier runs. ``index`` finds a function by its truth table over p variables.
    """

    count: int
    stages: tuple[tuple[str, NDArray[np.int64], NDArray[np.int64]], ...]
    index: dict[int, int]

    def evaluate(self, columns: Columns, full: Columns) -> Columns:
        """Every function on packed rows.

        ``columns`` has shape (p, worlds), bit r row r of a world; ``full`` (worlds,) has a bit for
        every row. Shape (functions, worlds).
        """
        values = np.zeros((self.count, columns.shape[1]), dtype=np.uint16)
        start = 0
        for operator, left, right in self.stages:
            stage = slice(start, start := start + len(left))
            if operator == "leaf":
                values[stage] = columns[left]
            elif operator == "not":
                values[stage] = values[left] ^ full
            else:
                values[stage] = _JOIN[operator](values[left], values[right])
        return values


@cache
def shortcuts(p: int) -> Shortcuts:
    """The shortcut functions of ``p`` variables."""
    full = (1 << (1 << p)) - 1
    index: dict[int, int] = {}
    tables: list[int] = []
    entries: list[Entry] = []

    def add(table: int, *entry: *Entry) -> None:
        if table not in (0, full) and table not in index:
            index[table] = len(entries)
            tables.append(table)
            entries.append(entry)

    for place in range(p):
        add(input_column(place, p), 1, "leaf", place, 0)
    levels: list[list[int]] = [[], list(range(p))]
    for level in range(2, LARGEST + 1):
        before = len(entries)
        for k in levels[level - 1]:
            add(full ^ tables[k], level, "not", k, 0)
        for operator, k, j in _combinations(levels, level, entries):
            if operator == "iff":  # the negation of a parity, which is an entry by now
                parity = tables[k] ^ tables[j]
                if parity in index:
                    add(full ^ parity, level, "not", index[parity], 0)
            else:
                add(_JOIN[operator](tables[k], tables[j]), level, operator, k, j)
        levels.append(list(range(before, len(entries))))
    # A run of one size and operator needs smaller functions, or those of the run before it.
    runs = [(operator, list(run)) for (_, operator), run in groupby(entries, lambda e: e[:2])]
    stages = [
        (operator, np.array([left for *_, left, _ in run]), np.array([right for *_, right in run]))
        for operator, run in runs
    ]
    return Shortcuts(len(entries), tuple(stages), index)


def _combinations(
    levels: list[list[int]], level: int, entries: list[Entry]
) -> list[tuple[str, int, int]]:
    """Pairs for a formula of this size: two formulas, or one more argument for an n-ary one."""
    found = []
    for operator in ("and", "or", "xor", "iff"):
        for b in range(1, (level - 1) // 2 + 1):
            found += [(operator, k, j) for k in levels[level - 1 - b] for j in levels[b]]
        if operator == "iff":
            continue
        for b in range(1, level - 2):  # (op x y z) costs one node less than (op (op x y) z)
            grown = [k for k in levels[level - b] if entries[k][1] == operator]
            found += [(operator, k, j) for k in grown for j in levels[b]]
    return found


def survivors(program: HiddenProgram, worlds: Sequence[World]) -> dict[int, NDArray[np.bool_]]:
    """For each endogenous variable, which shortcuts each world alone leaves standing.

    Shape (functions, worlds) by variable; the rows of functions equal to the mechanism are left
    out, so that a shortcut survives a set of worlds if it survives all of them.
    """
    packed = _pack(worlds)
    full = np.array([(1 << len(world.rows)) - 1 for world in worlds], dtype=np.uint16)
    found = {}
    for place, child in enumerate(program.order):
        if child in program.windows:
            earlier = program.order[:place]
            table = shortcuts(len(earlier))
            values = table.evaluate(packed[list(earlier)], full)
            wrong = (values ^ packed[child]) != 0
            clamped = np.array([child in world.targets for world in worlds])
            mine = truth_table(program.formulas[child], [name_of(v) for v in earlier])
            keep = np.ones(table.count, dtype=bool)
            if mine in table.index:
                keep[table.index[mine]] = False
            found[child] = (~wrong | clamped)[keep]
    return found


def _pack(worlds: Sequence[World]) -> Columns:
    """Shape (n, worlds): the rows of each world's column as bits."""
    packed = np.zeros((worlds[0].rows.shape[1], len(worlds)), dtype=np.uint16)
    for k, world in enumerate(worlds):
        weights = (1 << np.arange(len(world.rows))).astype(np.uint16)
        packed[:, k] = (world.rows * weights[:, None]).sum(axis=0)
    return packed
