"""Alternative-SCM items: does a separable train-exact alternative exist, and which (B.2.5)?

Where the paper waits for a system to discover an alternative, the audit has all of them: flip one
unseen pattern of a superset of the hidden parents. Kept are those that a single-variable constant
intervention separates.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from builder.replayscm.make.determinacy import Disclosure, completable_pairs, disclosed_setting
from builder.replayscm.make.programs import HiddenProgram, name_of
from builder.replayscm.make.search import Choice, formula_of
from builder.replayscm.make.synthesis import INPUTS, smallest_formulas
from builder.replayscm.make.tables import Tables, sets_of
from grader.tracks.replayscm.boolean import Formula, size, to_text
from grader.tracks.replayscm.experiment import interventions, separation, shows_difference
from grader.tracks.replayscm.problem import CyclicProgram, Program, make_program


def find_alternative(
    program: HiddenProgram,
    tables: Tables,
    disclosure: Disclosure,
    rng: np.random.Generator | None = None,
    *,
    smallest: bool = True,
) -> dict[str, Any] | None:
    """A right answer to the Alternative-SCM task, or ``None`` if no flip is separable.

    Flips are tried in random order, or without ``rng`` by what they add to the total AST size (if
    ``smallest``), then variable, set and function.
    """
    reference = reference_program(program)
    flips = list(_flips(program, tables, disclosure))
    if smallest:
        flips.sort(
            key=lambda flip: (flip[1].size - size(program.formulas[flip[0]]), flip[0], flip[1])
        )
    order = range(len(flips)) if rng is None else rng.permutation(len(flips)).tolist()
    for place in order:
        child, choice = flips[place]
        formulas = dict(reference.mechanisms)
        formulas[name_of(child)] = formula_of(choice, program.roots)
        try:
            other = make_program(reference.roots, formulas)
        except CyclicProgram:  # a superset may name a descendant under hidden order
            continue
        answer = _experiment(reference, other)
        if answer is not None:
            texts = {name: to_text(formula) for name, formula in sorted(formulas.items())}
            return {"mechanisms": texts, **answer}
    return None


def reference_program(program: HiddenProgram) -> Program:
    """The hidden program as the grader's kind of program."""
    formulas: dict[str, Formula] = {name_of(v): f for v, f in program.formulas.items()}
    return make_program(tuple(name_of(v) for v in sorted(program.roots)), formulas)


def _flips(
    program: HiddenProgram, tables: Tables, disclosure: Disclosure
) -> Iterator[tuple[int, Choice]]:
    """The hidden mechanism over each larger set, with one unseen pattern the other way."""
    sets, smallest = sets_of(program.n), smallest_formulas()
    pairs = completable_pairs(tables, disclosed_setting(program, disclosure))
    for child, k in np.argwhere(pairs).tolist():
        members = sets.members[k]
        if not set(program.parents[child]) <= set(members):
            continue
        unseen = int(sets.every[k]) & ~int(tables.seen[child, k])
        for pattern in range(1 << len(members)):
            if unseen >> pattern & 1:
                table = spread(program.table_over(child, members) ^ 1 << pattern, len(members))
                yield child, Choice(int(smallest.sizes[table]), members, table)


def spread(table: int, inputs: int) -> int:
    """A truth table of ``inputs`` inputs as one of four, the others ignored."""
    for more in range(inputs, INPUTS):
        table |= table << (1 << more)
    return table


def _experiment(reference: Program, other: Program) -> dict[str, Any] | None:
    """The most separating intervention and the first witness row that shows it."""
    rated = [
        (-separation(reference, other, name, value).pair, name, value)
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
