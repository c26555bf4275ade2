"""Partial tables: what the training rows say about a variable over each possible parent set.

For variable V and set S the table records, for each pattern of S, whether it was seen with V = 0
and with V = 1 in rows where V is not intervened on. All sets of at most K variables are kept at
once, as 16-bit masks over patterns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from builder.tracks.replayscm.worlds import ReplayWorld
from grader.tracks.replayscm.problem import MAX_PARENTS

Masks = NDArray[np.uint16]
Flags = NDArray[np.bool_]


def bits(variables: Iterable[int]) -> int:
    """Return a set of variables as one number: bit v stands for variable v."""
    return sum(1 << v for v in variables)


@dataclass(frozen=True, slots=True)
class ParentSets:
    """All subsets of n variables with at most K members: ``members[k]`` ascend, ``masks[k]`` has
    their bits. Bit i of a pattern of set k is the value of member i. A row times column k of
    ``weights`` (n, sets) is its pattern. ``every[k]`` has a bit for every pattern."""

    members: tuple[tuple[int, ...], ...]
    masks: NDArray[np.int64]
    weights: NDArray[np.int64]
    every: Masks


@cache
def sets_of(n: int) -> ParentSets:
    """Return the candidate parent sets of ``n`` variables: all of up to ``MAX_PARENTS`` members."""
    members = tuple(
        chosen for size in range(MAX_PARENTS + 1) for chosen in combinations(range(n), size)
    )
    weights = np.zeros((n, len(members)), dtype=np.int64)
    for k, chosen in enumerate(members):
        weights[list(chosen), k] = 1 << np.arange(len(chosen))
    masks = np.array([bits(chosen) for chosen in members], dtype=np.int64)
    every = np.array([(1 << (1 << len(chosen))) - 1 for chosen in members], dtype=np.uint16)
    return ParentSets(members, masks, weights, every)


@dataclass(frozen=True, slots=True)
class PartialTables:
    """The patterns that rows show of each variable over each set, both fields of shape (n, sets).
    Bit p of ``zeros[v, k]`` says that pattern p of set k was seen with v = 0, in a row where v is
    not intervened on. ``ones`` says the same of v = 1. ``|`` joins what two tables show."""

    zeros: Masks
    ones: Masks

    def __or__(self, other: "PartialTables") -> "PartialTables":
        return PartialTables(self.zeros | other.zeros, self.ones | other.ones)

    @property
    def n(self) -> int:
        """Return the number of variables."""
        return len(self.zeros)

    @property
    def seen_patterns(self) -> Masks:
        """Return the patterns seen with either value."""
        return self.zeros | self.ones

    def consistent(self) -> Flags:
        """Return flags (n, sets): V not in S, and no pattern of S seen with both values of V."""
        own = sets_of(self.n).masks >> np.arange(self.n)[:, None] & 1 == 1
        return np.asarray(((self.zeros & self.ones) == 0) & ~own)


@dataclass(frozen=True, slots=True)
class ObservedRows:
    """Rows of worlds, both fields (rows, n). ``clamped``: the row's world sets the variable."""

    values: NDArray[np.int64]
    clamped: Flags


def stack(worlds: Sequence[ReplayWorld]) -> ObservedRows:
    """Return the rows of all worlds, one below the other."""
    values = np.concatenate([world.rows for world in worlds]).astype(np.int64)
    sets = [[v in world.targets for v in range(values.shape[1])] for world in worlds]
    return ObservedRows(values, np.repeat(sets, [len(world.rows) for world in worlds], axis=0))


def patterns(rows: ObservedRows) -> NDArray[np.int64]:
    """Return the pattern of every set in every row as a number, shape (rows, sets)."""
    return rows.values @ sets_of(rows.values.shape[1]).weights


def tabulate(rows: ObservedRows) -> PartialTables:
    """Return what the rows show of all variables over all sets, clamped cells left out."""
    shown = (1 << patterns(rows)).astype(np.uint16)
    zeros, ones = (
        [
            np.bitwise_or.reduce(shown[of_v], axis=0)
            for of_v in (~rows.clamped & (rows.values == k)).T
        ]
        for k in (0, 1)
    )
    return PartialTables(np.array(zeros), np.array(ones))


def tabulate_worlds(worlds: Iterable[ReplayWorld]) -> PartialTables:
    """Return the partial tables of some worlds together."""
    return tabulate(stack(list(worlds)))
