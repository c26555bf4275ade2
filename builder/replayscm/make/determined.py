"""Evidence that determines a large program, from as few worlds as a greedy search finds (frontier).

The certificate is the complete audit (``determinacy``) with hidden order and hidden roots: no other
set of three roots admits a train-exact program, and no train-exact program errs on a held-out row,
nor on one under other root distributions. It stays exact for 16 variables because nothing in it
goes over programs: 2,517 sets of at most four variables are tabulated at once, closures start from
all 560 root sets together, and pairs (V, S) are looked at one by one.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from builder.attempts import Rejected
from builder.replayscm.make.determinacy import (
    completable_pairs,
    disclosed_setting,
    viable_root_sets,
)
from builder.replayscm.make.generate import HELDOUT_WORLDS, Evidence
from builder.replayscm.make.programs import HiddenProgram
from builder.replayscm.make.reversible import (
    Groups,
    draw_groups,
    draw_targets,
    sample_reversible,
)
from builder.replayscm.make.shifted import shift
from builder.replayscm.make.tables import (
    Flags,
    Masks,
    Tables,
    bits,
    sets_of,
    stack,
    tabulate,
    tabulate_worlds,
)
from builder.replayscm.make.worlds import (
    MODES,
    Intervention,
    Mode,
    Units,
    World,
    draw_units,
    intervene,
    is_vacuous,
    simulate,
)

VARIABLES: Final = (10, 11, 12, 13, 14, 15, 16)
MOST_PAIRS: Final = 3
"""Reversible edges of a program beside its chain of two; fewer where fewer find room."""
SEED_WORLDS: Final = 4
CANDIDATES: Final = 40
MOST_WORLDS: Final = 30


def determined(rng: np.random.Generator, n: int) -> tuple[Evidence, tuple[World, ...]]:
    """One attempt at a program of ``n`` variables with its evidence; and the shifted worlds.

    Raises ``Rejected`` where ``MOST_WORLDS`` do not determine it.
    """
    program, linked = sample_reversible(rng, n, min(MOST_PAIRS, (n - 7) // 2), chain=True)
    groups = draw_groups(rng, n, linked)
    units = draw_units(rng)
    heldout = _heldout(rng, program, units, groups)
    shifted = shift(rng, program, heldout)
    taken = {world.intervention for world in heldout}
    target = tabulate(stack([*heldout, *shifted]))

    def candidates(count: int) -> list[World]:
        found: list[World] = []
        while len(found) < count:
            targets = draw_targets(rng, groups, int(rng.integers(2, n)))
            intervention = intervene(rng, "hard_assigned", targets)
            if intervention not in taken and not is_vacuous(program, intervention):
                found.append(simulate(rng, program, units, intervention))
        return found

    worlds = candidates(SEED_WORLDS)
    tables = tabulate_worlds(worlds)
    while (open_after := _openness(program, tables, target)) is not None:
        if len(worlds) == MOST_WORLDS:
            raise Rejected("not determined")
        worlds.append(min(candidates(CANDIDATES), key=open_after))
        tables |= tabulate_worlds(worlds[-1:])
    training = _without_idle(program, worlds, target)
    statistics = {"reversible_edges": len(linked) + 1, "left_out": len(worlds) - len(training)}
    return Evidence(program, units, tuple(training), tuple(heldout), statistics), shifted


def _heldout(
    rng: np.random.Generator, program: HiddenProgram, units: Units, groups: Groups
) -> list[World]:
    """Eight worlds of different signatures that set at most three variables, in whole groups."""
    chosen: list[Intervention] = []
    while len(chosen) < HELDOUT_WORLDS:
        mode: Mode = list(MODES)[int(rng.choice(len(MODES), p=list(MODES.values())))]
        targets = () if mode == "none" else draw_targets(rng, groups, int(rng.integers(1, 4)))
        intervention = intervene(rng, mode, targets)
        senseless = (mode != "none" and not targets) or is_vacuous(program, intervention)
        if intervention not in chosen and not senseless:
            chosen.append(intervention)
    return [simulate(rng, program, units, one) for one in chosen]


def _missing(tables: Tables, target: Tables) -> Masks:
    """Held-out patterns that training leaves unseen or shows with the other value."""
    return np.asarray((target.ones & ~tables.ones) | (target.zeros & ~tables.zeros))


def _open(program: HiddenProgram, tables: Tables, target: Tables) -> Flags | None:
    """The pairs that leave something open, shape (n, sets); ``None`` if everything is determined.

    Of the roots, all sets that fit: without one no other root set is possible.
    """
    consistent = tables.consistent()
    pairs = completable_pairs(tables, disclosed_setting(program, "hidden"))
    pairs &= _missing(tables, target) != 0
    if not pairs.any() and viable_root_sets(tables) == [bits(program.roots)]:
        return None
    roots = list(program.roots)
    pairs[roots] = consistent[roots]
    return pairs


def _openness(
    program: HiddenProgram, tables: Tables, target: Tables
) -> Callable[[World], int] | None:
    """How much would still be open after a world: missing patterns of pairs still consistent.

    ``None`` if nothing is open.
    """
    pairs = _open(program, tables, target)
    if pairs is None:
        return None
    child, k = np.nonzero(pairs)
    zeros, ones = tables.zeros[child, k], tables.ones[child, k]
    asked_zeros, asked_ones = target.zeros[child, k], target.ones[child, k]
    weights = sets_of(program.n).weights[:, k]
    is_root = np.isin(child, program.roots)

    def after(world: World) -> int:
        shown = (1 << (world.rows.astype(np.int64) @ weights)).astype(np.uint16)
        free = ~np.isin(child, world.targets)
        value = world.rows[:, child] == 1
        o = ones | np.bitwise_or.reduce(np.where(value & free, shown, 0), axis=0)
        z = zeros | np.bitwise_or.reduce(np.where(~value & free, shown, 0), axis=0)
        missing = np.bitwise_count((asked_ones & ~o) | (asked_zeros & ~z)).astype(np.int64)
        return int((((z & o) == 0) * (missing + is_root)).sum())

    return after


def _without_idle(program: HiddenProgram, worlds: list[World], target: Tables) -> list[World]:
    """The worlds without those, latest first, whose absence leaves everything determined."""
    kept = list(worlds)
    for world in reversed(worlds):
        rest = [other for other in kept if other is not world]
        if rest and _open(program, tabulate_worlds(rest), target) is None:
            kept = rest
    return kept
