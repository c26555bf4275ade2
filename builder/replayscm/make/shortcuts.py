"""Shortcut formulas and survivor reduction (ReplaySCM B.2.3).

A shortcut of V is a formula of AST size at most five over the variables before V in the latent
order that fits the training rows but is another function than V's mechanism.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.replayscm.make.programs import HiddenProgram, name_of
from builder.replayscm.make.worlds import World
from grader.tracks.replayscm.boolean import input_column, truth_table

LARGEST: Final = 5

Columns = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """All different non-constant functions of p variables with a formula of size <= 5.

    Function k applies ``operators[k]`` to functions ``left[k]`` and ``right[k]``, both earlier
    (``leaf`` k is variable ``left[k]``). ``stages`` are runs of functions that need only earlier
    runs and share an operator. ``index`` finds a function by its truth table over p variables.
    """

    count: int
    stages: tuple[tuple[str, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ...]
    index: dict[int, int]

    def evaluate(self, columns: Columns, full: Columns) -> Columns:
        """Every function on packed rows.

        ``columns`` has shape (p, worlds), bit r row r of a world; ``full`` (worlds,) has a bit for
        every row. Shape (functions, worlds).
        """
        values = np.zeros((self.count, columns.shape[1]), dtype=np.uint16)
        for operator, places, left, right in self.stages:
            if operator == "leaf":
                values[places] = columns[left]
            elif operator == "not":
                values[places] = values[left] ^ full
            elif operator == "and":
                values[places] = values[left] & values[right]
            elif operator == "or":
                values[places] = values[left] | values[right]
            else:
                values[places] = values[left] ^ values[right]
        return values


@cache
def shortcuts(p: int) -> Shortcuts:
    """The shortcut functions of ``p`` variables."""
    full = (1 << (1 << p)) - 1
    index: dict[int, int] = {}
    entries: list[tuple[int, str, int, int]] = []
    generation: list[int] = []

    def add(table: int, operator: str, left: int, right: int) -> None:
        if table in (0, full) or table in index:
            return
        index[table] = len(entries)
        entries.append((len(entries), operator, left, right))
        inner = [] if operator == "leaf" else [left] if operator == "not" else [left, right]
        generation.append(1 + max((generation[k] for k in inner), default=-1))

    levels: list[list[int]] = [[]]
    tables: list[int] = []
    for level in range(1, LARGEST + 1):
        before = len(entries)
        if level == 1:
            for place in range(p):
                add(input_column(place, p), "leaf", place, 0)
        else:
            for k in levels[level - 1]:
                add(full ^ tables[k], "not", k, 0)
            for operator, k, j in _combinations(levels, level, entries):
                if operator == "iff":  # the negation of a parity, which is an entry by now
                    parity = tables[k] ^ tables[j]
                    if parity in index:
                        add(full ^ parity, "not", index[parity], 0)
                else:
                    add(_apply(operator, tables[k], tables[j]), operator, k, j)
        tables = [0] * len(entries)
        for table, k in index.items():
            tables[k] = table
        levels.append(list(range(before, len(entries))))
    return Shortcuts(len(entries), _stages(entries, generation), index)


def _combinations(
    levels: list[list[int]], level: int, entries: list[tuple[int, str, int, int]]
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


def _apply(operator: str, x: int, y: int) -> int:
    return x & y if operator == "and" else x | y if operator == "or" else x ^ y


def _stages(
    entries: list[tuple[int, str, int, int]], generation: list[int]
) -> tuple[tuple[str, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ...]:
    groups: dict[tuple[int, str], list[tuple[int, str, int, int]]] = {}
    for entry in entries:
        groups.setdefault((generation[entry[0]], entry[1]), []).append(entry)
    return tuple(
        (
            operator,
            np.array([entry[0] for entry in group]),
            np.array([entry[2] for entry in group]),
            np.array([entry[3] for entry in group]),
        )
        for (_, operator), group in sorted(groups.items())
    )


def survivors(program: HiddenProgram, worlds: Sequence[World]) -> dict[int, NDArray[np.bool_]]:
    """For each endogenous variable, which shortcuts each world alone leaves standing.

    Shape (functions, worlds) by variable; the rows of functions equal to the mechanism are left
    out, so that a shortcut survives a set of worlds if it survives all of them.
    """
    packed = _pack(worlds)
    full = _full(worlds)
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


def _full(worlds: Sequence[World]) -> Columns:
    return np.array([(1 << len(world.rows)) - 1 for world in worlds], dtype=np.uint16)
