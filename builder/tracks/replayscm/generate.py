"""Accept or strengthen an instance: training worlds, filters, disambiguation, held-out worlds.

ReplaySCM B.2.3 (Algorithm 3), with the thresholds of a stratum (``plan.Generation``).

A shortcut of V is a function of variables before V in the latent order that is not constant, has a
formula of AST size at most five, and is not V's mechanism. A local alternative of V may be a little
larger than the mechanism and fits all training rows.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.release.attempts import Rejection
from builder.tracks.replayscm.plan import HELDOUT_WORLDS, PAPER, Generation, novel_counts
from builder.tracks.replayscm.programs import HiddenProgram, sample_program
from builder.tracks.replayscm.synthesis import INPUTS, smallest_formulas
from builder.tracks.replayscm.tables import (
    Flags,
    PartialTables,
    bits,
    sets_of,
    stack,
    tabulate_worlds,
)
from builder.tracks.replayscm.worlds import (
    Intervention,
    Mode,
    ReplayWorld,
    UnitThresholds,
    draw_intervention,
    intervene,
    is_vacuous,
    simulate,
)
from grader.tracks.replayscm.boolean import depends_on, size
from grader.tracks.replayscm.problem import ROOTS

SEED_WORLDS: Final = 4
TRAINING_WORLDS: Final = 8
MAX_ADDED: Final = 3
SEPARATORS: Final = 60
"""Worlds from which at most ``MAX_ADDED`` that rule out local alternatives are chosen."""
SHORTCUT_SIZE: Final = 5
"""AST size of the largest shortcuts, whose at most four variables :func:`sets_of` holds."""
SLACK: Final = 2
CAP: Final = 8
"""A local alternative is at most ``SLACK`` larger than the mechanism and at most ``CAP``."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A program with its units, training worlds (Original level) and held-out worlds.
    ``statistics`` are figures for the generation report: the survivor reduction and the number of
    disambiguation worlds. ``kill_coverage`` is the share of mechanisms of which the first worlds
    left a shortcut standing that a later one ruled out."""

    program: HiddenProgram
    units: UnitThresholds
    training: tuple[ReplayWorld, ...]
    heldout: tuple[ReplayWorld, ...]
    statistics: Mapping[str, float]
    kill_coverage: float


def generate(rng: np.random.Generator, settings: Generation = PAPER) -> Evidence:
    """Draw a program with units and worlds. Raises Rejection by the module docstring's filters."""
    program = sample_program(rng, settings)
    fewest_rows, most_rows = settings.rows
    units = UnitThresholds(rng.random((most_rows, ROOTS)), fewest_rows)
    training, reduction, covered = _training(rng, program, units, settings)
    _check_training(program, training, settings)
    before = len(training)
    if settings.disambiguation:
        training = _disambiguate(rng, program, units, training)
        _check_training(program, training, settings)
    heldout = _heldout(rng, program, units, training, settings)
    statistics = {"survivor_reduction": reduction, "disambiguation_worlds": len(training) - before}
    return Evidence(program, units, tuple(training), tuple(heldout), statistics, covered)


def candidate_worlds(
    rng: np.random.Generator, program: HiddenProgram, units: UnitThresholds, count: int
) -> list[ReplayWorld]:
    """Draw ``count`` ordinary worlds, each of which leaves an endogenous variable unset."""
    found: list[ReplayWorld] = []
    while len(found) < count:
        intervention = draw_intervention(rng, program.n)
        if not is_vacuous(program, intervention):
            found.append(simulate(rng, program, units, intervention))
    return found


def _training(
    rng: np.random.Generator, program: HiddenProgram, units: UnitThresholds, settings: Generation
) -> tuple[list[ReplayWorld], float, float]:
    """Return eight worlds, the share of shortcuts left by the first four that the last four rule
    out, and that of mechanisms which lose one so. The world that rules out the most is added up to
    the least share of ``settings.survivor_reduction``, then any; none passes the largest share.
    Raises :class:`Rejection` where none is left, or the shortcuts are too few."""
    least, most = settings.survivor_reduction
    worlds = candidate_worlds(rng, program, units, SEED_WORLDS)
    caps = dict.fromkeys(program.endogenous, SHORTCUT_SIZE)
    fitting = _fitting_functions(program, tabulate_worlds(worlds), caps)
    found = [item for item in fitting if item.members]
    fewest, largest = math.ceil(least * len(found)), math.floor(most * len(found))
    if fewest > largest or (not found and most < 1):
        raise Rejection("survivor reduction")
    worlds += candidate_worlds(rng, program, units, settings.proposals - SEED_WORLDS)
    rules_out = contradictions(found, worlds)
    alive, chosen = np.ones(len(found), dtype=bool), list(range(SEED_WORLDS))
    while len(chosen) < TRAINING_WORLDS:
        kills = np.count_nonzero(rules_out[alive], axis=0)
        killed = len(found) - np.count_nonzero(alive)
        allowed = _completes_modes(worlds, chosen, settings) & (killed + kills <= largest)
        allowed[chosen] = False
        if not allowed.any():
            raise Rejection("survivor reduction")
        chosen.append(int(np.argmax(allowed * (kills + 1 if killed < fewest else 1))))
        alive &= ~rules_out[:, chosen[-1]]
    killed = len(found) - np.count_nonzero(alive)
    if killed < fewest:
        raise Rejection("survivor reduction")
    reduction = killed / len(found) if found else 1.0
    hit = {item.child for item, survives in zip(found, alive, strict=True) if not survives}
    return [worlds[k] for k in chosen], reduction, len(hit) / len(program.endogenous)


def _completes_modes(
    candidates: Sequence[ReplayWorld], chosen: Sequence[int], settings: Generation
) -> Flags:
    """Return for each candidate whether the modes can still be as ``settings`` demand after it."""
    modes = [world.intervention.mode for world in candidates]
    have = Counter(modes[k] for k in chosen)
    lacking = {
        "hard_assigned": settings.assigned_worlds - have["hard_assigned"],
        "hard_constant": settings.constant_worlds - have["hard_constant"],
    }
    spare = TRAINING_WORLDS - len(chosen) - sum(max(0, count) for count in lacking.values())
    return np.array([spare > 0 or lacking.get(mode, 0) > 0 for mode in modes])


def _check_training(
    program: HiddenProgram, training: Sequence[ReplayWorld], settings: Generation
) -> None:
    """Raise :class:`Rejection` where the worlds show too little of a mode or a variable."""
    modes = Counter(world.intervention.mode for world in training)
    if (
        modes["hard_assigned"] < settings.assigned_worlds
        or modes["hard_constant"] < settings.constant_worlds
    ):
        raise Rejection("mode mix")
    for child in program.endogenous:
        scored = [world for world in training if child not in world.targets]
        cells = sum(len(world.rows) for world in scored)
        if len(scored) < settings.scored_worlds or cells < settings.scored_cells:
            raise Rejection("scored exposure")
        if len(training) - len(scored) > settings.clamped_worlds:
            raise Rejection("clamped too often")


def _disambiguate(
    rng: np.random.Generator,
    program: HiddenProgram,
    units: UnitThresholds,
    training: list[ReplayWorld],
) -> list[ReplayWorld]:
    """Return the worlds and up to three that each rule out half of the local alternatives left."""
    candidates = candidate_worlds(rng, program, units, SEPARATORS)
    caps = {child: min(size(program.formulas[child]) + SLACK, CAP) for child in program.endogenous}
    alternatives = _fitting_functions(program, tabulate_worlds(training), caps)
    kills = contradictions(alternatives, candidates)
    chosen = list(training)
    while len(kills) and len(chosen) < len(training) + MAX_ADDED:
        totals = kills.sum(axis=0)
        best = int(np.argmax(totals))
        if totals[best] < max(3, 0.5 * len(kills)):
            break
        chosen.append(candidates[best])
        kills = kills[~kills[:, best]]
    return chosen


def _heldout(
    rng: np.random.Generator,
    program: HiddenProgram,
    units: UnitThresholds,
    training: Sequence[ReplayWorld],
    settings: Generation,
) -> list[ReplayWorld]:
    """Return eight worlds of new signatures, a share within ``settings.novelty`` on new targets."""
    taken = {world.intervention for world in training}
    known = {world.targets for world in training}
    usual = sorted(known - {()})
    fewest, most = novel_counts(settings.novelty)
    novel = int(rng.integers(fewest, most + 1))
    chosen: list[Intervention] = []
    for _ in range(2000):
        wants_novel = sum(one.targets not in known for one in chosen) < novel
        if wants_novel:
            intervention = draw_intervention(rng, program.n)
        else:
            targets = usual[int(rng.integers(len(usual)))]
            mode: Mode = "hard_constant" if rng.random() < 0.35 else "hard_assigned"
            intervention = intervene(rng, mode, targets)
        is_novel = intervention.targets not in known
        if is_novel != wants_novel or is_vacuous(program, intervention) or intervention in taken:
            continue
        taken.add(intervention)
        chosen.append(intervention)
        if len(chosen) == HELDOUT_WORLDS:
            order = rng.permutation(HELDOUT_WORLDS)
            return [simulate(rng, program, units, chosen[int(k)]) for k in order]
    raise Rejection("held-out signatures")


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another function for ``child`` than its mechanism: bit p of ``table`` is the value at pattern
    p, and bit i of a pattern the value of ``members[i]``."""

    child: int
    members: tuple[int, ...]
    table: int


def contradictions(found: Sequence[Alternative], worlds: Sequence[ReplayWorld]) -> Flags:
    """Return whether a row that leaves its variable unset contradicts each, (found, worlds)."""
    rows, flags = stack(worlds), np.zeros((len(found), len(worlds)), dtype=bool)
    starts = np.cumsum([0, *(len(world.rows) for world in worlds[:-1])])
    for k, item in enumerate(found):
        pattern = rows.values[:, list(item.members)] @ (1 << np.arange(len(item.members)))
        wrong = (item.table >> pattern & 1) != rows.values[:, item.child]
        flags[k] = np.logical_or.reduceat(wrong & ~rows.clamped[:, item.child], starts)
    return flags


@cache
def _small_functions(inputs: int, cap: int) -> NDArray[np.int32]:
    """Return truth tables of functions of just the first inputs, AST size at most ``cap``."""
    smallest = smallest_formulas()
    listed = smallest.by_size[inputs]
    small = listed[smallest.sizes[listed] <= cap]
    keep = [
        all(depends_on(int(table), place, INPUTS) for place in range(inputs)) for table in small
    ]
    return np.asarray(small[np.array(keep, dtype=bool)])


def _fitting_functions(
    program: HiddenProgram, tables: PartialTables, caps: Mapping[int, int]
) -> list[Alternative]:
    """Return functions of earlier variables that fit, up to each child's cap, but its mechanism."""
    sets, consistent = sets_of(program.n), tables.consistent()
    found = []
    for place, child in enumerate(program.order[ROOTS:], start=ROOTS):
        later = ~bits(program.order[:place])
        for k in np.flatnonzero(consistent[child] & ((sets.masks & later) == 0)).tolist():
            members = sets.members[k]
            functions = _small_functions(len(members), caps[child]) & np.int32(sets.every[k])
            ones, zeros = int(tables.ones[child, k]), int(tables.zeros[child, k])
            fits = ((functions & ones) == ones) & ((functions & zeros) == 0)
            own = program.tables[child] if members == program.parents[child] else -1
            found += [Alternative(child, members, t) for t in functions[fits].tolist() if t != own]
    return found
