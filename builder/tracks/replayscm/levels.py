"""Evidence levels above Original: Extra Worlds, CEx and Certified (ReplaySCM B.2.5).

Each level begins with all worlds of the one before, so that they show the same program with more
and more evidence. Every added world is simulated from the hidden program under a signature that no
held-out world has. One set of worlds serves all disclosures, so disclosure stays the only
difference.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from builder.release.attempts import Rejection
from builder.splits.seeds import stream
from builder.tracks.replayscm.determinacy import completable_pairs, disclosed_limits, is_unique
from builder.tracks.replayscm.generate import Alternative, Evidence, contradictions
from builder.tracks.replayscm.plan import Level
from builder.tracks.replayscm.programs import HiddenProgram
from builder.tracks.replayscm.search import FITTER_CAPS, first_fit, smallest_fit
from builder.tracks.replayscm.tables import Flags, PartialTables, bits, sets_of, tabulate_worlds
from builder.tracks.replayscm.worlds import (
    Intervention,
    ReplayWorld,
    intervene,
    is_vacuous,
    set_targets,
    simulate,
)

EXTRA_WORLDS: Final = 3
FOURTH_GAIN: Final = 5
"""A fourth world is added when it still shows this many new patterns."""
CEX_WORLDS: Final = 40
CERTIFIED_WORLDS: Final = 25
CANDIDATES: Final = 40
"""Worlds that each added world is chosen from."""


def coverage(program: HiddenProgram, worlds: Sequence[ReplayWorld]) -> tuple[int, int]:
    """Return how many patterns of the windows the worlds show, and how many there are."""
    seen = window_patterns(program, worlds)
    return (
        sum(mask.bit_count() for mask in seen.values()),
        sum(1 << len(window) for window in program.windows.values()),
    )


def window_patterns(program: HiddenProgram, worlds: Sequence[ReplayWorld]) -> dict[int, int]:
    """Return shown window patterns by endogenous variable, as bit sets, rows that set it left out.
    Bit i of a pattern is member i of the window."""
    seen = dict.fromkeys(program.windows, 0)
    for world in worlds:
        rows = world.rows.astype(np.int64)
        for child, window in program.windows.items():
            if child not in world.targets:
                weights = 1 << np.arange(len(window))
                seen[child] |= bits({*(rows[:, list(window)] @ weights).tolist()})
    return seen


def add_levels(
    needed: Collection[Level], key: bytes, evidence: Evidence
) -> dict[Level, tuple[ReplayWorld, ...]]:
    """Return training worlds by level, for the levels needed and all below. Raises ``Rejection``
    where a level is not reached with the worlds that it may add."""
    levels: dict[Level, tuple[ReplayWorld, ...]] = {"original": evidence.training}
    if {*needed} - {"original"}:
        levels["extra"] = add_extra(stream(key, "extra"), evidence)
    if {"cex", "certified"} & {*needed}:
        levels["cex"] = add_counterexamples(stream(key, "cex"), evidence, levels["extra"])
    if "certified" in needed:
        levels["certified"] = certify(stream(key, "certified"), evidence, levels["cex"])
    return levels


def add_extra(rng: np.random.Generator, evidence: Evidence) -> tuple[ReplayWorld, ...]:
    """Return Original's worlds and three or four single-target ones with most new patterns."""
    program, added = evidence.program, list[ReplayWorld]()
    seen = window_patterns(program, evidence.training)
    single = [Intervention("none")]
    for v in range(program.n):
        single += [Intervention("hard_constant", (v,), (bit,)) for bit in (0, 1)]
        single.append(Intervention("hard_assigned", (v,)))
    while len(added) <= EXTRA_WORLDS:
        candidates = _simulate_allowed(rng, evidence, single)
        best, gain, together = _most_new(program, seen, candidates)
        if len(added) == EXTRA_WORLDS and gain < FOURTH_GAIN:
            break
        added.append(best)
        seen = together
    return (*evidence.training, *added)


def add_counterexamples(
    rng: np.random.Generator, evidence: Evidence, extra: Sequence[ReplayWorld]
) -> tuple[ReplayWorld, ...]:
    """Return the training worlds of the level CEx: those of ``extra``, then at least one more.

    They show every window pattern, then rule out all that the reference solvers still fit, smallest
    or first within an AST cap, to any parent set of a train-exact program under hidden order.
    Raises ``Rejection`` when 40 added worlds do not suffice.
    """
    program, worlds = evidence.program, list(extra)
    limit = len(worlds) + CEX_WORLDS
    seen = window_patterns(program, worlds)
    every = {v: (1 << (1 << len(window))) - 1 for v, window in program.windows.items()}
    while missing := [v for v in every if seen[v] != every[v]]:
        candidates = _candidates(rng, evidence, CANDIDATES // 2)
        window = program.windows[missing[int(rng.integers(len(missing)))]]
        candidates += _simulate_allowed(
            rng, evidence, [intervene(rng, "hard_assigned", window)] * 4
        )
        best, gain, seen = _most_new(program, seen, candidates)
        if len(worlds) >= limit:
            raise Rejection("window coverage")
        if gain:
            worlds.append(best)
    while wrong := _misfits(program, tabulate_worlds(worlds)):
        if len(worlds) >= limit:
            raise Rejection("counterexamples")
        candidates = _candidates(rng, evidence)
        kills = contradictions(wrong, candidates).sum(axis=0)
        if kills.any():
            worlds.append(candidates[int(np.argmax(kills))])
    if len(worlds) == len(extra):
        worlds.append(_candidates(rng, evidence)[0])  # no two levels may share a prompt
    return tuple(worlds)


def certify(
    rng: np.random.Generator, evidence: Evidence, cex: Sequence[ReplayWorld]
) -> tuple[ReplayWorld, ...]:
    """Return the worlds of ``cex`` and at least one more, which prove that the program is unique.
    It is unique under hidden order, and so where more is disclosed. Each added world is the best of
    40 candidates at shrinking what the complete audit still finds open: the unseen patterns and the
    sets that miss a parent. Raises ``Rejection`` after 25 added worlds."""
    program, worlds = evidence.program, list(cex)
    limits = disclosed_limits(program, "hidden")
    tables = tabulate_worlds(worlds)
    while True:
        pairs = completable_pairs(tables, limits)
        if is_unique(program, tables, pairs):
            if len(worlds) == len(cex):
                worlds.append(_candidates(rng, evidence)[0])
            return tuple(worlds)
        if len(worlds) == len(cex) + CERTIFIED_WORLDS:
            raise Rejection("not certified")
        candidates = _candidates(rng, evidence)
        best = min(candidates, key=partial(_count_open, program, tables, pairs))
        worlds.append(best)
        tables |= tabulate_worlds([best])


def _count_open(
    program: HiddenProgram, tables: PartialTables, pairs: Flags, world: ReplayWorld
) -> int:
    """Return what stays open after ``world``: unseen patterns, and 4 a set without a parent."""
    sets, after = sets_of(program.n), tables | tabulate_worlds([world])
    unseen = np.bitwise_count(sets.every & ~after.seen_patterns).astype(np.int64)
    parents = np.array([bits(program.parents.get(v, ())) for v in range(program.n)])[:, None]
    misses = (sets.masks & parents) != parents
    return int((unseen + 4 * misses)[pairs & after.consistent()].sum())


def _simulate_allowed(
    rng: np.random.Generator, evidence: Evidence, interventions: Sequence[Intervention]
) -> list[ReplayWorld]:
    """Simulate the interventions that are not vacuous and are not those of a held-out world."""
    heldout = {world.intervention for world in evidence.heldout}
    return [
        simulate(rng, evidence.program, evidence.units, one)
        for one in interventions
        if one not in heldout and not is_vacuous(evidence.program, one)
    ]


def _candidates(
    rng: np.random.Generator, evidence: Evidence, count: int = CANDIDATES
) -> list[ReplayWorld]:
    """Simulate what is allowed of ``count`` hard_assigned ones on 2 to n - 1 random variables."""
    n = evidence.program.n
    targets = (int(rng.integers(2, n)) for _ in range(count))
    drawn = [set_targets(rng, "hard_assigned", n, number) for number in targets]
    return _simulate_allowed(rng, evidence, drawn)


def _most_new(
    program: HiddenProgram, seen: Mapping[int, int], candidates: Sequence[ReplayWorld]
) -> tuple[ReplayWorld, int, dict[int, int]]:
    """Return the candidate with most patterns not in ``seen``, their number, and new ``seen``."""
    shown = [window_patterns(program, [world]) for world in candidates]
    gains = [sum((new[v] & ~seen[v]).bit_count() for v in seen) for new in shown]
    best = int(np.argmax(gains))
    return candidates[best], gains[best], {v: seen[v] | shown[best][v] for v in seen}


def _misfits(program: HiddenProgram, tables: PartialTables) -> list[Alternative]:
    """Return what the reference solvers fit to completable pairs beside the hidden mechanisms."""
    sets = sets_of(program.n)
    pairs = completable_pairs(tables, disclosed_limits(program, "hidden"))
    found = []
    for child, k in np.argwhere(pairs).tolist():
        members, hidden = sets.members[k], set(program.parents[child])
        firsts = (first_fit(tables, child, k, cap) for cap in FITTER_CAPS)
        fitted = [smallest_fit(tables, child, k), *(one for one in firsts if one is not None)]
        for table in dict.fromkeys(choice.table & int(sets.every[k]) for choice in fitted):
            if not hidden <= set(members) or table != program.table_over(child, members):
                found.append(Alternative(child, members, table))
    return found
