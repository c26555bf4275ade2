"""A legal train-exact program that fails a held-out row, built from a deviating pair.

The construction is the proof of (3) in ``docs/replayscm.md``: grow the closure
from the roots until the pair's set is inside, place the pair wrong, then the rest.
"""

import numpy as np

from builder.causal.bits import members
from builder.replayscm.make.determinacy import Deviation, completable_pairs
from builder.replayscm.make.programs import HiddenProgram, name_of
from builder.replayscm.make.search import Choice, fit, formula_of, smallest_choice
from builder.replayscm.make.tables import Rows, Tables, sets_of
from grader.tracks.replayscm.boolean import Formula


def counterexample(
    program: HiddenProgram, tables: Tables, heldout: Rows, deviation: Deviation
) -> tuple[tuple[int, ...], dict[str, Formula]]:
    """Roots and mechanisms (by label) of a program that is train-exact and wrong held-out."""
    setting, child = deviation.setting, deviation.child
    sets, pairs = sets_of(program.n), completable_pairs(tables, setting)
    roots = tuple(members(setting.roots))
    formulas = {child: formula_of(_wrong(tables, heldout, deviation), roots)}
    known = setting.roots

    def grow(target: int) -> None:
        """Place variables on any set that is known, until ``target`` (bits) is."""
        nonlocal known
        while target & ~known:
            for v in [v for v in setting.allowed if v not in formulas]:
                inside = np.flatnonzero(pairs[v] & ((sets.masks & ~known) == 0))
                if len(inside):
                    formulas[v] = formula_of(fit(tables, v, int(inside[0])), roots)
                    known |= 1 << v

    grow(int(sets.masks[deviation.set_index]))
    known |= 1 << child
    grow((1 << program.n) - 1)
    return roots, {name_of(v): formulas[v] for v in sorted(formulas)}


def _wrong(tables: Tables, heldout: Rows, deviation: Deviation) -> Choice:
    """The smallest train-consistent function that is wrong at the deviation's pattern."""
    sets = sets_of(tables.n)
    child, k = deviation.child, deviation.set_index
    values = heldout.values[deviation.row]
    here = 1 << int(values @ sets.weights[:, k])
    ones, zeros = int(tables.ones[child, k]), int(tables.zeros[child, k])
    if values[child]:
        zeros |= here
    else:
        ones |= here
    return smallest_choice(ones, zeros, sets.members[k])
