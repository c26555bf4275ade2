"""Exact search: a train-exact program of smallest total AST size, from training tables alone.

By the local lemma (``builder.replayscm.make.determinacy``) a program fits when every mechanism
completes its partial table and the parents are acyclic. So each variable has, for every set it
can be placed on, a smallest fitting function; the best order is found by dynamic
programming over the sets of variables already placed. Nothing here knows the hidden program.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from builder.causal.bits import members
from builder.replayscm.make.determinacy import Setting, completable_pairs, root_settings
from builder.replayscm.make.programs import name_of
from builder.replayscm.make.synthesis import smallest_formulas
from builder.replayscm.make.tables import Tables, bits, sets_of
from grader.tracks.replayscm.boolean import Formula


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
    sets, smallest = sets_of(tables.n), smallest_formulas()
    members = sets.members[k]
    table = smallest.smallest(int(tables.ones[child, k]), int(tables.zeros[child, k]), len(members))
    return Choice(int(smallest.sizes[table]), members, table)


def search(tables: Tables, setting: Setting) -> Found | None:
    """The best program under known roots; ``None`` if none is train-exact."""
    pairs = completable_pairs(tables, setting)
    masks = sets_of(tables.n).masks
    options: dict[int, list[tuple[int, Choice]]] = {}
    for v in setting.endogenous:
        fitted = [(int(masks[k]), fit(tables, v, int(k))) for k in np.flatnonzero(pairs[v])]
        if not fitted:
            return None
        options[v] = sorted(fitted, key=lambda option: option[1])
    return _best_order(setting, options)


def _best_order(setting: Setting, options: dict[int, list[tuple[int, Choice]]]) -> Found | None:
    """Dynamic programming over the placed variables; ties keep the first found."""
    endogenous = setting.endogenous
    full = setting.roots | bits(endogenous)
    # By the set of placed variables: the smallest total, and the variable placed last.
    best: dict[int, int] = {setting.roots: 0}
    step: dict[int, tuple[int, Choice]] = {}
    for subset in range(1 << len(endogenous)):
        known = setting.roots | bits(v for k, v in enumerate(endogenous) if subset >> k & 1)
        if known not in best:
            continue
        for v in members(full & ~known):
            choice = next((c for mask, c in options[v] if not mask & ~known), None)
            if choice is None:
                continue
            after, total = known | 1 << v, best[known] + choice.size
            if after not in best or total < best[after]:
                best[after], step[after] = total, (v, choice)
    if full not in best:
        return None
    choices: dict[int, Choice] = {}
    placed = full
    while placed != setting.roots:
        v, choices[v] = step[placed]
        placed ^= 1 << v
    return Found(tuple(members(setting.roots)), choices, best[full])


def search_with_roots(tables: Tables) -> Found | None:
    """The best program over all sets of three roots; ties go to the first set."""
    found = [search(tables, setting) for setting in root_settings(tables.n)]
    reached = [program for program in found if program is not None]
    return min(reached, key=lambda program: (program.total, program.roots), default=None)
