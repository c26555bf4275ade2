"""Accept or strengthen an instance: training worlds, filters, disambiguation, held-out worlds.

ReplaySCM B.2.3 (Algorithm 3); by default with the thresholds of one stratum: at least 3 scored
worlds and 33 scored cells per endogenous variable, at most 5 worlds that set it, at least 3
hard_assigned and one hard_constant world, and a survivor reduction of at least 0.75.

A shortcut of V is a function of variables before V in the latent order that is not constant, has a
formula of AST size at most five, and is not V's mechanism. A local alternative of V may be a little
larger than the mechanism and fits all training rows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.release.attempts import Rejection
from builder.tracks.replayscm.plan import PAPER, Generation
from builder.tracks.replayscm.programs import HiddenProgram, sample_program
from builder.tracks.replayscm.synthesis import INPUTS, smallest_formulas
from builder.tracks.replayscm.tables import PartialTables, bits, sets_of, tabulate_worlds
from builder.tracks.replayscm.worlds import (
    Intervention,
    Mode,
    ReplayWorld,
    UnitThresholds,
    draw_intervention,
    draw_units,
    intervene,
    is_vacuous,
    simulate,
)
from grader.tracks.replayscm.boolean import depends_on, size
from grader.tracks.replayscm.problem import ROOTS

SEED_WORLDS: Final = 4
TRAINING_WORLDS: Final = 8
HELDOUT_WORLDS: Final = 8
NOVEL: Final = (2, 5)
"""Held-out worlds whose target set never occurs in training: shares 0.25 to 0.625."""
MAX_ADDED: Final = 3
SEPARATORS: Final = 60
"""Worlds from which at most ``MAX_ADDED`` that rule out local alternatives are chosen."""


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
    units = draw_units(rng, settings.rows)
    training, reduction, covered = _training(rng, program, units, settings)
    _check_training(program, training, settings)
    before = len(training)
    if settings.disambiguation:
        training = _disambiguate(rng, program, units, training)
    if any(sum(child in world.targets for world in training) > 5 for child in program.endogenous):
        raise Rejection("clamped too often")
    heldout = _heldout(rng, program, units, training)
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
    """Return four random worlds and the four that rule out the most surviving shortcuts, then the
    share of shortcuts that these rule out, and that of mechanisms of which they rule one out.
    Raises :class:`Rejection` where the first share is below ``settings.survivor_reduction``."""
    candidates = candidate_worlds(rng, program, units, settings.proposals)
    survives = surviving_shortcuts(program, candidates)
    chosen = list(range(SEED_WORLDS))
    alive = {v: np.asarray(flags[:, chosen].all(axis=1)) for v, flags in survives.items()}
    before = {v: int(flags.sum()) for v, flags in alive.items()}
    while len(chosen) < TRAINING_WORLDS:
        kills = np.zeros(len(candidates), dtype=np.int64)
        for v, flags in survives.items():
            kills += (alive[v][:, None] & ~flags).sum(axis=0)
        kills[chosen] = -1
        best = int(np.argmax(kills))
        chosen.append(best)
        alive = {v: alive[v] & flags[:, best] for v, flags in survives.items()}
    after = {v: int(flags.sum()) for v, flags in alive.items()}
    total = sum(before.values())
    reduction = 1.0 if total == 0 else 1 - sum(after.values()) / total
    if reduction < settings.survivor_reduction:
        raise Rejection("survivor reduction")
    covered = sum(after[v] < before[v] for v in before) / len(before)
    return [candidates[k] for k in chosen], reduction, covered


def _check_training(
    program: HiddenProgram, training: Sequence[ReplayWorld], settings: Generation
) -> None:
    """Raise :class:`Rejection` where the training worlds show too little of the program. Three
    worlds or more must assign values row by row (``hard_assigned``), and one or more a constant
    (``hard_constant``). Each endogenous variable needs ``settings.scored_worlds`` worlds that do
    not intervene on it, with ``settings.scored_cells`` rows in all."""
    modes = Counter(world.intervention.mode for world in training)
    if modes["hard_assigned"] < 3 or modes["hard_constant"] < 1:
        raise Rejection("mode mix")
    for child in program.endogenous:
        scored = [world for world in training if child not in world.targets]
        cells = sum(len(world.rows) for world in scored)
        if len(scored) < settings.scored_worlds or cells < settings.scored_cells:
            raise Rejection("scored exposure")


def _disambiguate(
    rng: np.random.Generator,
    program: HiddenProgram,
    units: UnitThresholds,
    training: list[ReplayWorld],
) -> list[ReplayWorld]:
    """Return the training worlds and up to three more that each rule out at least three and half of
    the local alternatives that are left."""
    candidates = candidate_worlds(rng, program, units, SEPARATORS)
    found = local_alternatives(program, tabulate_worlds(training))
    chosen = list(training)
    while found and len(chosen) < len(training) + MAX_ADDED:
        # Shape (worlds, alternatives).
        kills = np.array([[item.fails_in(world) for item in found] for world in candidates])
        totals = kills.sum(axis=1)
        best = int(np.argmax(totals))
        if totals[best] < max(3, 0.5 * len(found)):
            break
        chosen.append(candidates.pop(best))
        found = [item for item, dead in zip(found, kills[best], strict=True) if not dead]
    return chosen


def _heldout(
    rng: np.random.Generator,
    program: HiddenProgram,
    units: UnitThresholds,
    training: Sequence[ReplayWorld],
) -> list[ReplayWorld]:
    """Return eight worlds in random order, two to five on targets new to training, signatures all
    new. Raises :class:`Rejection` if 2000 draws do not suffice."""
    taken = {world.intervention for world in training}
    known = {world.targets for world in training}
    usual = sorted(known - {()})
    novel = int(rng.integers(NOVEL[0], NOVEL[1] + 1))
    chosen: list[Intervention] = []
    for _ in range(2000):
        wants_novel = sum(one.targets not in known for one in chosen) < novel
        if wants_novel:
            intervention = draw_intervention(rng, program.n)
        else:
            targets = usual[int(rng.integers(len(usual)))]
            mode: Mode = "hard_constant" if rng.random() < 0.35 else "hard_assigned"
            intervention = intervene(rng, mode, targets)
        if (intervention.targets not in known) != wants_novel or is_vacuous(program, intervention):
            continue
        if intervention in taken or intervention in chosen:
            continue
        chosen.append(intervention)
        if len(chosen) == HELDOUT_WORLDS:
            order = rng.permutation(HELDOUT_WORLDS)
            return [simulate(rng, program, units, chosen[int(k)]) for k in order]
    raise Rejection("held-out signatures")


SHORTCUT_SIZE: Final = 5
"""AST size of the largest shortcuts, whose at most four variables :func:`sets_of` holds."""
SLACK: Final = 2
CAP: Final = 8
"""A local alternative is at most ``SLACK`` larger than the mechanism and at most ``CAP``."""
_WEIGHTS: Final = 1 << np.arange(INPUTS)
"""What turns a row of a function's inputs into the place in its truth table."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another function for ``child`` than its mechanism: bit p of ``table`` is the value at pattern
    p, and bit i of a pattern the value of ``members[i]``."""

    child: int
    members: tuple[int, ...]
    table: int

    def fails_in(self, world: ReplayWorld) -> bool:
        """Return whether a row of ``world`` contradicts it; False if the world sets ``child``."""
        if self.child in world.targets:
            return False
        pattern = world.rows[:, list(self.members)] @ _WEIGHTS[: len(self.members)]
        return bool((((self.table >> pattern) & 1) != world.rows[:, self.child]).any())


@cache
def _small_functions(inputs: int, cap: int) -> NDArray[np.int32]:
    """Return the truth tables, of four inputs, of the functions that depend on all of the first
    ``inputs`` inputs and on no other, and have a formula of AST size at most ``cap``."""
    smallest = smallest_formulas()
    listed = smallest.by_size[inputs]
    small = listed[smallest.sizes[listed] <= cap]
    keep = [
        all(depends_on(int(table), place, INPUTS) for place in range(inputs)) for table in small
    ]
    return np.asarray(small[np.array(keep, dtype=bool)])


def _other_functions(program: HiddenProgram, child: int, k: int, cap: int) -> NDArray[np.int32]:
    """Return truth tables over set ``k`` that are not the mechanism of ``child``, depend on all
    members and have a formula of AST size at most ``cap``."""
    sets = sets_of(program.n)
    tables = _small_functions(len(sets.members[k]), cap) & np.int32(sets.every[k])
    if sets.members[k] == program.parents[child]:
        tables = tables[tables != program.tables[child]]
    return tables


def surviving_shortcuts(
    program: HiddenProgram, worlds: Sequence[ReplayWorld]
) -> dict[int, NDArray[np.bool_]]:
    """Return, for each endogenous variable, which shortcuts each world alone leaves standing, shape
    (shortcuts, worlds). A shortcut survives some worlds if it survives each of them."""
    sets, tables = sets_of(program.n), [tabulate_worlds([world]) for world in worlds]
    # Shape (n, sets, worlds).
    zeros = np.stack([one.zeros for one in tables], axis=-1).astype(np.int32)
    ones = np.stack([one.ones for one in tables], axis=-1).astype(np.int32)
    found = {}
    for place, child in enumerate(program.order[ROOTS:], start=ROOTS):
        later = ~bits(program.order[:place])
        standing = []
        for k in np.flatnonzero((sets.masks != 0) & ((sets.masks & later) == 0)).tolist():
            functions = _other_functions(program, child, k, SHORTCUT_SIZE)[:, None]
            shows, forbids = ones[child, k], zeros[child, k]
            standing.append(((functions & shows) == shows) & ((functions & forbids) == 0))
        found[child] = np.concatenate(standing)
    return found


def local_alternatives(program: HiddenProgram, tables: PartialTables) -> list[Alternative]:
    """Return all local alternatives that fit the training tables, by variable, set and size."""
    sets, consistent = sets_of(program.n), tables.consistent()
    found = []
    for place, child in enumerate(program.order[ROOTS:], start=ROOTS):
        later = ~bits(program.order[:place])
        cap = min(size(program.formulas[child]) + SLACK, CAP)
        for k in np.flatnonzero(consistent[child] & ((sets.masks & later) == 0)).tolist():
            functions = _other_functions(program, child, k, cap)
            ones, zeros = int(tables.ones[child, k]), int(tables.zeros[child, k])
            fits = ((functions & ones) == ones) & ((functions & zeros) == 0)
            found += [Alternative(child, sets.members[k], t) for t in functions[fits].tolist()]
    return found
