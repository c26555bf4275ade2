"""Train-exact programs: the smallest one, a separable alternative, and one that fails held-out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from builder.graphs.graph import members
from builder.tracks.replayscm.determinacy import (
    Deviation,
    ParentLimits,
    completable_pairs,
    disclosed_limits,
    viable_limits,
)
from builder.tracks.replayscm.plan import Disclosure
from builder.tracks.replayscm.programs import HiddenProgram, name_of
from builder.tracks.replayscm.synthesis import INPUTS, smallest_formulas
from builder.tracks.replayscm.tables import ObservedRows, PartialTables, bits, sets_of
from grader.tracks.replayscm.boolean import Formula, size, to_text
from grader.tracks.replayscm.problem import BooleanProgram, make_program
from grader.tracks.replayscm.replay import interventions, separation, shows_difference

FITTER_CAPS: Final = (10, 12, 13)
"""AST caps of the exact fitter that takes the first fit (Table H.1)."""


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """A mechanism: its AST size, set members, and truth ``table`` of four inputs, members first.
    Choices compare by size, set, function: the lexicographic tie-break."""

    size: int
    members: tuple[int, ...]
    table: int


@dataclass(frozen=True, slots=True)
class FittedProgram:
    """A train-exact program: roots, a choice for each other variable, ``total`` of AST sizes."""

    roots: tuple[int, ...]
    choices: dict[int, Choice]
    total: int

    def formulas(self) -> dict[str, Formula]:
        """Return the formulas by label."""
        chosen = sorted(self.choices.items())
        return {name_of(v): formula_of(choice, self.roots) for v, choice in chosen}


def formula_of(choice: Choice, roots: Sequence[int]) -> Formula:
    """Return a choice's smallest formula. A constant over no members mentions the first root."""
    members = choice.members or (min(roots),)
    return smallest_formulas().formula(choice.table, tuple(name_of(v) for v in members))


def smallest_fit(
    tables: PartialTables, child: int, k: int, *, ones: int = 0, zeros: int = 0
) -> Choice:
    """Return the smallest function of set ``k`` that completes the partial table of ``child``, and
    is 1 on the patterns ``ones`` and 0 on ``zeros`` (bit sets) besides."""
    parents, smallest = sets_of(tables.n).members[k], smallest_formulas()
    ones, zeros = ones | int(tables.ones[child, k]), zeros | int(tables.zeros[child, k])
    table = smallest.smallest(ones, zeros, len(parents))
    return Choice(int(smallest.sizes[table]), parents, table)


def first_fit(tables: PartialTables, child: int, k: int, cap: int) -> Choice | None:
    """Return the first function of set ``k``, by truth table, that completes ``child``'s partial
    table with a formula within ``cap``: unseen patterns are 0 if they can be. None without one."""
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
    """Return ascending truth tables of the first ``inputs`` inputs within AST size ``cap``."""
    smallest = smallest_formulas()
    listed = smallest.by_size[inputs]
    return np.sort(listed[smallest.sizes[listed] <= cap])


def smallest_program(tables: PartialTables, limits: ParentLimits) -> FittedProgram | None:
    """Return the program of least total size under known roots, None if none is train-exact, by
    dynamic programming over sets of placed variables. Ties keep the first."""
    pairs, masks = completable_pairs(tables, limits), sets_of(tables.n).masks
    options = {
        v: sorted(
            (smallest_fit(tables, v, int(k)), int(masks[k])) for k in np.flatnonzero(pairs[v])
        )
        for v in limits.allowed
    }
    full = limits.roots | bits(limits.allowed)
    best: dict[int, tuple[int, dict[int, Choice]]] = {limits.roots: (0, {})}
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
    return FittedProgram(tuple(members(limits.roots)), choices, total)


def smallest_program_and_roots(tables: PartialTables) -> FittedProgram | None:
    """Return the smallest train-exact program over all root sets, ties to the first, or None."""
    found = [smallest_program(tables, limits) for limits in viable_limits(tables)]
    reached = [program for program in found if program is not None]
    return min(reached, key=lambda program: (program.total, program.roots), default=None)


def find_alternative(
    program: HiddenProgram,
    tables: PartialTables,
    disclosure: Disclosure,
    rng: np.random.Generator | None = None,
    *,
    smallest: bool = True,
) -> dict[str, Any] | None:
    """Return a right alternative (``mechanisms``, ``intervention``, ``witness``), None without one.

    Flips are the program with one mechanism's value turned at one unseen pattern. They are tried in
    random order, or without ``rng`` by what they add to the AST size (if ``smallest``), then by
    variable, set and function.
    """
    supplied: dict[str, Formula] = {name_of(v): f for v, f in program.formulas.items()}
    reference = make_program([name_of(v) for v in sorted(program.roots)], supplied)
    flips = list(_flips(program, tables, disclosure))
    if smallest:
        flips.sort(
            key=lambda flip: (flip[1].size - size(program.formulas[flip[0]]), flip[0], flip[1])
        )
    order = range(len(flips)) if rng is None else rng.permutation(len(flips)).tolist()
    for place in order:
        child, choice = flips[place]
        formulas = {**reference.mechanisms, name_of(child): formula_of(choice, program.roots)}
        try:
            other = make_program(reference.roots, formulas)
        except CycleError:  # a superset may name a descendant under hidden order
            continue
        answer = _experiment(reference, other)
        if answer is not None:
            texts = {name: to_text(formula) for name, formula in sorted(formulas.items())}
            return {"mechanisms": texts, **answer}
    return None


def _flips(
    program: HiddenProgram, tables: PartialTables, disclosure: Disclosure
) -> Iterator[tuple[int, Choice]]:
    """Yield each mechanism turned at one unseen pattern of a completable set over its parents."""
    sets, smallest = sets_of(program.n), smallest_formulas()
    pairs = completable_pairs(tables, disclosed_limits(program, disclosure))
    for child, k in np.argwhere(pairs).tolist():
        members = sets.members[k]
        if not set(program.parents[child]) <= set(members):
            continue
        unseen = int(sets.every[k]) & ~int(tables.seen_patterns[child, k])
        for pattern in range(1 << len(members)):
            if unseen >> pattern & 1:
                table = extend_table(
                    program.table_over(child, members) ^ 1 << pattern, len(members)
                )
                yield child, Choice(int(smallest.sizes[table]), members, table)


def extend_table(table: int, inputs: int) -> int:
    """Return a truth table of ``inputs`` inputs as one of four inputs that ignores the others."""
    for more in range(inputs, INPUTS):
        table |= table << (1 << more)
    return table


def _experiment(reference: BooleanProgram, other: BooleanProgram) -> dict[str, Any] | None:
    """Return the intervention that separates the programs most, with a witness; None without."""
    rated = [
        (-separation(reference, other, name, value)[0], name, value)
        for name, value in interventions(reference)
    ]
    pair, name, value = min(rated)
    if pair == 0:
        return None
    free = [root for root in reference.roots if root != name]
    for row in range(1 << len(free)):
        witness = {root: row >> bit & 1 for bit, root in enumerate(free)}
        if shows_difference(reference, other, name, value, witness):
            return {"intervention": {"variable": name, "value": value}, "witness": witness}
    raise AssertionError("an intervention separates without a witness")


def counterexample(
    program: HiddenProgram, tables: PartialTables, heldout: ObservedRows, deviation: Deviation
) -> dict[str, Any]:
    """Return a legal, train-exact program, wrong at ``deviation``: roots, mechanisms as text."""
    limits, child, k = deviation.limits, deviation.child, deviation.set_index
    sets, pairs = sets_of(program.n), completable_pairs(tables, limits)
    roots, values = tuple(members(limits.roots)), heldout.values[deviation.row]
    here = 1 << int(values @ sets.weights[:, k])
    wrong = smallest_fit(tables, child, k, **{"zeros" if values[child] else "ones": here})
    formulas = {child: formula_of(wrong, roots)}
    known = limits.roots

    def grow(target: int) -> None:
        """Give variables formulas over known ones until all of ``target`` (bits) is known."""
        nonlocal known
        while target & ~known:
            for v in [v for v in limits.allowed if v not in formulas]:
                inside = np.flatnonzero(pairs[v] & ((sets.masks & ~known) == 0))
                if len(inside):
                    formulas[v] = formula_of(smallest_fit(tables, v, int(inside[0])), roots)
                    known |= 1 << v

    grow(int(sets.masks[k]))
    known |= 1 << child
    grow((1 << program.n) - 1)
    texts = {name_of(v): to_text(formulas[v]) for v in sorted(formulas)}
    return {"roots": [name_of(v) for v in roots], "mechanisms": texts}
