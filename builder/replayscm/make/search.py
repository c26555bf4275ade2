"""Exact search: a train-exact program of smallest total AST size, from training tables alone.

By the local lemma (``docs/replayscm.md``) a program fits when every mechanism
completes its partial table and the parents are acyclic. So each variable has, for every set it
can be placed on, a smallest fitting function; the best order is found by dynamic
programming over the sets of variables already placed. Nothing here knows the hidden program.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.causal.bits import members
from builder.replayscm.make.determinacy import (
    Setting,
    completable_pairs,
    viable_settings,
)
from builder.replayscm.make.programs import name_of
from builder.replayscm.make.synthesis import smallest_formulas
from builder.replayscm.make.tables import Tables, bits, sets_of
from grader.tracks.replayscm.boolean import Formula

FITTER_CAPS: Final = (10, 12, 13)
"""AST caps of the exact fitter that takes the first fit (Table H.1)."""


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """A mechanism: its function over the members of a set, and its AST size.

    Choices compare by size, then by set, then by function: the lexicographic tie-break.
    """

    size: int
    members: tuple[int, ...]
    table: int


@dataclass(frozen=True, slots=True)
class Found:
    """A train-exact program: its roots and a choice for each other variable."""

    roots: tuple[int, ...]
    choices: dict[int, Choice]
    total: int

    def formulas(self) -> dict[str, Formula]:
        """Label to formula."""
        chosen = sorted(self.choices.items())
        return {name_of(v): formula_of(choice, self.roots) for v, choice in chosen}


def formula_of(choice: Choice, roots: Sequence[int]) -> Formula:
    """The smallest formula of a choice; a constant mentions the first root."""
    members = choice.members or (min(roots),)
    return smallest_formulas().formula(choice.table, tuple(name_of(v) for v in members))


def fit(tables: Tables, child: int, k: int) -> Choice:
    """The smallest function of set ``k`` that completes the partial table of ``child``."""
    parents = sets_of(tables.n).members[k]
    return smallest_choice(int(tables.ones[child, k]), int(tables.zeros[child, k]), parents)


def smallest_choice(ones: int, zeros: int, parents: tuple[int, ...]) -> Choice:
    """The smallest function of ``parents`` that is 1 on ``ones`` and 0 on ``zeros`` (patterns)."""
    smallest = smallest_formulas()
    table = smallest.smallest(ones, zeros, len(parents))
    return Choice(int(smallest.sizes[table]), parents, table)


def first_fit(tables: Tables, child: int, k: int, cap: int) -> Choice | None:
    """The first function of set ``k`` that completes the partial table of ``child``.

    First by truth table among the functions whose smallest formula is within ``cap``: unseen
    patterns are 0 if they can be. ``None`` without one.
    """
    ones, zeros = int(tables.ones[child, k]), int(tables.zeros[child, k])
    parents = sets_of(tables.n).members[k]
    within = _functions_within(len(parents), cap)
    fits = ((within & ones) == ones) & ((within & zeros) == 0)
    if not fits.any():
        return None
    table = int(within[int(fits.argmax())])
    return Choice(int(smallest_formulas().sizes[table]), parents, table)


@cache
def _functions_within(inputs: int, cap: int) -> NDArray[np.int32]:
    """The functions of so many inputs whose smallest formula is within ``cap``, by truth table."""
    smallest = smallest_formulas()
    listed = smallest.by_size[inputs]
    return np.sort(listed[smallest.sizes[listed] <= cap])


def search(tables: Tables, setting: Setting) -> Found | None:
    """The best program under known roots; ``None`` if none is train-exact.

    Dynamic programming over the sets of variables that are placed; ties keep the first found.
    """
    pairs, masks = completable_pairs(tables, setting), sets_of(tables.n).masks
    options = {
        v: sorted((fit(tables, v, int(k)), int(masks[k])) for k in np.flatnonzero(pairs[v]))
        for v in setting.allowed
    }
    full = setting.roots | bits(setting.allowed)
    best: dict[int, tuple[int, dict[int, Choice]]] = {setting.roots: (0, {})}
    for known in range(full):  # subsets before supersets
        if known not in best:
            continue
        size, chosen = best[known]
        for v in members(full & ~known):
            choice = next((choice for choice, mask in options[v] if not mask & ~known), None)
            if choice is None:
                continue
            after, total = known | 1 << v, size + choice.size
            if after not in best or total < best[after][0]:
                best[after] = total, {**chosen, v: choice}
    if full not in best:
        return None
    total, choices = best[full]
    return Found(tuple(members(setting.roots)), choices, total)


def search_with_roots(tables: Tables) -> Found | None:
    """The best program over all sets of three roots; ties go to the first set."""
    found = [search(tables, setting) for setting in viable_settings(tables)]
    reached = [program for program in found if program is not None]
    return min(reached, key=lambda program: (program.total, program.roots), default=None)
