"""Accept or strengthen an instance: training worlds, filters, disambiguation, held-out worlds.

ReplaySCM B.2.3 (Algorithm 3); by default with the thresholds of one stratum: at least 3 scored
worlds and 33 scored cells per endogenous variable, at most 5 worlds that set it, at least 3
hard_assigned and one hard_constant world, and a survivor reduction of at least 0.75.

A shortcut of V is a formula of AST size at most five over the variables before V in the latent
order that fits the training rows but is another function than V's mechanism.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import and_, or_, xor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.release.attempts import Rejected
from builder.tracks.replayscm.plan import PAPER, Generation
from builder.tracks.replayscm.programs import HiddenProgram, name_of, sample_program
from builder.tracks.replayscm.synthesis import INPUTS, smallest_formulas
from builder.tracks.replayscm.tables import Tables, bits, sets_of, tabulate_worlds
from builder.tracks.replayscm.worlds import (
    Intervention,
    Units,
    World,
    draw_intervention,
    draw_units,
    intervene,
    is_vacuous,
    simulate,
)
from grader.tracks.replayscm.boolean import depends_on, input_column, size, truth_table

SEED_WORLDS: Final = 4
TRAINING_WORLDS: Final = 8
HELDOUT_WORLDS: Final = 8
NOVEL: Final = (2, 5)
"""Held-out worlds whose target set never occurs in training: shares 0.25 to 0.625."""
MAX_ADDED: Final = 3
SEPARATORS: Final = 60


@dataclass(frozen=True, slots=True)
class Evidence:
    """A program with its units, training worlds (Original level) and held-out worlds.

    ``statistics`` are construction figures for the generation report; ``kill_coverage`` is the
    share of mechanisms of which the first worlds left a shortcut standing that a later one ruled
    out.
    """

    program: HiddenProgram
    units: Units
    training: tuple[World, ...]
    heldout: tuple[World, ...]
    statistics: Mapping[str, float]
    kill_coverage: float


def generate(rng: np.random.Generator, settings: Generation = PAPER) -> Evidence:
    """One attempt at an instance; raises :class:`Rejected`."""
    program = sample_program(rng, settings)
    units = draw_units(rng, settings.rows)
    training, reduction, covered = _training(rng, program, units, settings)
    _check(program, training, settings)
    before = len(training)
    if settings.disambiguation:
        training = _disambiguate(rng, program, units, training)
    if any(sum(child in world.targets for world in training) > 5 for child in program.endogenous):
        raise Rejected("clamped too often")
    heldout = _heldout(rng, program, units, training)
    statistics = {"survivor_reduction": reduction, "disambiguation_worlds": len(training) - before}
    return Evidence(program, units, tuple(training), tuple(heldout), statistics, covered)


def candidate_worlds(
    rng: np.random.Generator, program: HiddenProgram, units: Units, count: int
) -> list[World]:
    """Ordinary worlds that score something."""
    found: list[World] = []
    while len(found) < count:
        intervention = draw_intervention(rng, program.n)
        if not is_vacuous(program, intervention):
            found.append(simulate(rng, program, units, intervention))
    return found


def _training(
    rng: np.random.Generator, program: HiddenProgram, units: Units, settings: Generation
) -> tuple[list[World], float, float]:
    """Four random worlds, then four that rule out the most surviving shortcuts; the share of
    shortcuts that these rule out, and that of mechanisms of which they rule one out."""
    candidates = candidate_worlds(rng, program, units, settings.proposals)
    standing = survivors(program, candidates)
    chosen = list(range(SEED_WORLDS))
    alive = {v: np.asarray(flags[:, chosen].all(axis=1)) for v, flags in standing.items()}
    seeded = {v: int(flags.sum()) for v, flags in alive.items()}
    while len(chosen) < TRAINING_WORLDS:
        kills = np.zeros(len(candidates), dtype=np.int64)
        for v, flags in standing.items():
            kills += (alive[v][:, None] & ~flags).sum(axis=0)
        kills[chosen] = -1
        best = int(np.argmax(kills))
        chosen.append(best)
        alive = {v: alive[v] & standing[v][:, best] for v in standing}
    left = {v: int(flags.sum()) for v, flags in alive.items()}
    standing_first = sum(seeded.values())
    reduction = 1.0 if standing_first == 0 else 1 - sum(left.values()) / standing_first
    if reduction < settings.survivor_reduction:
        raise Rejected("survivor reduction")
    covered = sum(left[v] < seeded[v] for v in seeded) / len(seeded)
    return [candidates[k] for k in chosen], reduction, covered


def _check(program: HiddenProgram, training: Sequence[World], settings: Generation) -> None:
    modes = Counter(world.intervention.mode for world in training)
    if modes["hard_assigned"] < 3 or modes["hard_constant"] < 1:
        raise Rejected("mode mix")
    for child in program.endogenous:
        scored = [world for world in training if child not in world.targets]
        cells = sum(len(world.rows) for world in scored)
        if len(scored) < settings.scored_worlds or cells < settings.scored_cells:
            raise Rejected("scored exposure")


def _disambiguate(
    rng: np.random.Generator,
    program: HiddenProgram,
    units: Units,
    training: list[World],
) -> list[World]:
    """Up to three worlds, each only if it rules out many of the local alternatives."""
    candidates = candidate_worlds(rng, program, units, SEPARATORS)
    found = alternatives(program, tabulate_worlds(training))
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
    units: Units,
    training: Sequence[World],
) -> list[World]:
    """Eight worlds with signatures of their own, some on target sets new to training."""
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
            mode = "hard_constant" if rng.random() < 0.35 else "hard_assigned"
            intervention = intervene(rng, mode, targets)  # type: ignore[arg-type]
        if (intervention.targets not in known) != wants_novel or is_vacuous(program, intervention):
            continue
        if intervention in taken or intervention in chosen:
            continue
        chosen.append(intervention)
        if len(chosen) == HELDOUT_WORLDS:
            order = rng.permutation(HELDOUT_WORLDS)
            return [simulate(rng, program, units, chosen[int(k)]) for k in order]
    raise Rejected("held-out signatures")


SLACK: Final = 2
CAP: Final = 8
_WEIGHTS: Final = 1 << np.arange(INPUTS)
"""What turns a row of a function's inputs into the place in its truth table."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another function for ``child``: a truth table over ``members``."""

    child: int
    members: tuple[int, ...]
    table: int

    def fails_in(self, world: World) -> bool:
        """Whether an observed row of ``world`` contradicts it."""
        if self.child in world.targets:
            return False
        pattern = world.rows[:, list(self.members)] @ _WEIGHTS[: len(self.members)]
        return bool((((self.table >> pattern) & 1) != world.rows[:, self.child]).any())


@cache
def _functions(inputs: int, cap: int) -> NDArray[np.int32]:
    """The functions that depend on all of the first ``inputs`` inputs, of size at most ``cap``."""
    smallest = smallest_formulas()
    listed = smallest.by_size[inputs]
    small = listed[smallest.sizes[listed] <= cap]
    keep = [
        all(depends_on(int(table), place, INPUTS) for place in range(inputs)) for table in small
    ]
    return np.asarray(small[np.array(keep, dtype=bool)])


def alternatives(program: HiddenProgram, tables: Tables) -> list[Alternative]:
    """All local alternatives that fit the training tables, by variable, set and size."""
    sets = sets_of(program.n)
    consistent = tables.consistent()
    found = []
    for place, child in enumerate(program.order):
        if child not in program.windows:
            continue
        earlier = bits(program.order[:place])
        cap = min(size(program.formulas[child]) + SLACK, CAP)
        own = (program.parents[child], program.tables[child])
        for k in np.flatnonzero(consistent[child] & ((sets.masks & ~earlier) == 0)):
            members = sets.members[int(k)]
            functions = _functions(len(members), cap)
            ones, zeros = int(tables.ones[child, k]), int(tables.zeros[child, k])
            fits = ((functions & ones) == ones) & ((functions & zeros) == 0)
            every = int(sets.every[k])
            for table in functions[fits].tolist():
                if (members, table & every) != own:
                    found.append(Alternative(child, members, table & every))
    return found


LARGEST: Final = 5
_JOIN: Final = {"and": and_, "or": or_, "xor": xor}

Columns = NDArray[np.uint16]
Entry = tuple[int, str, int, int]
"""AST size, operator, left, right."""


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """All different non-constant functions of p variables with a formula of size <= 5.

    Each applies an operator to the functions ``left`` and ``right``, both earlier (of a ``leaf``,
    ``left`` is the variable). ``stages`` are runs of functions (operator, left, right) that need
    only earlier runs. ``index`` finds a function by its truth table over p variables.
    """

    count: int
    stages: tuple[tuple[str, NDArray[np.int64], NDArray[np.int64]], ...]
    index: dict[int, int]

    def evaluate(self, columns: Columns, full: Columns) -> Columns:
        """Every function on packed rows.

        ``columns`` has shape (p, worlds), bit r row r of a world; ``full`` (worlds,) has a bit for
        every row. Shape (functions, worlds).
        """
        values = np.zeros((self.count, columns.shape[1]), dtype=np.uint16)
        start = 0
        for operator, left, right in self.stages:
            stage = slice(start, start := start + len(left))
            if operator == "leaf":
                values[stage] = columns[left]
            elif operator == "not":
                values[stage] = values[left] ^ full
            else:
                values[stage] = _JOIN[operator](values[left], values[right])
        return values


@cache
def shortcuts(p: int) -> Shortcuts:
    """The shortcut functions of ``p`` variables."""
    full = (1 << (1 << p)) - 1
    index: dict[int, int] = {}
    tables: list[int] = []
    entries: list[Entry] = []

    def add(table: int, *entry: *Entry) -> None:
        if table not in (0, full) and table not in index:
            index[table] = len(entries)
            tables.append(table)
            entries.append(entry)

    for place in range(p):
        add(input_column(place, p), 1, "leaf", place, 0)
    levels: list[list[int]] = [[], list(range(p))]
    for level in range(2, LARGEST + 1):
        before = len(entries)
        for k in levels[level - 1]:
            add(full ^ tables[k], level, "not", k, 0)
        for operator, k, j in _combinations(levels, level, entries):
            if operator == "iff":  # the negation of a parity, which is an entry by now
                parity = tables[k] ^ tables[j]
                if parity in index:
                    add(full ^ parity, level, "not", index[parity], 0)
            else:
                add(_JOIN[operator](tables[k], tables[j]), level, operator, k, j)
        levels.append(list(range(before, len(entries))))
    # A run of one size and operator needs smaller functions, or those of the run before it.
    runs = [(operator, list(run)) for (_, operator), run in groupby(entries, lambda e: e[:2])]
    stages = [
        (operator, np.array([left for *_, left, _ in run]), np.array([right for *_, right in run]))
        for operator, run in runs
    ]
    return Shortcuts(len(entries), tuple(stages), index)


def _combinations(
    levels: list[list[int]], level: int, entries: list[Entry]
) -> list[tuple[str, int, int]]:
    """Pairs for a formula of this size: two formulas, or one more argument for an n-ary one."""
    found = []
    for operator in ("and", "or", "xor", "iff"):
        for b in range(1, (level - 1) // 2 + 1):
            found += [(operator, k, j) for k in levels[level - 1 - b] for j in levels[b]]
        if operator == "iff":
            continue
        for b in range(1, level - 2):  # (op x y z) costs one node less than (op (op x y) z)
            grown = [k for k in levels[level - b] if entries[k][1] == operator]
            found += [(operator, k, j) for k in grown for j in levels[b]]
    return found


def survivors(program: HiddenProgram, worlds: Sequence[World]) -> dict[int, NDArray[np.bool_]]:
    """For each endogenous variable, which shortcuts each world alone leaves standing.

    Shape (functions, worlds) by variable; the rows of functions equal to the mechanism are left
    out, so that a shortcut survives a set of worlds if it survives all of them.
    """
    packed = _pack(worlds)
    full = np.array([(1 << len(world.rows)) - 1 for world in worlds], dtype=np.uint16)
    found = {}
    for place, child in enumerate(program.order):
        if child in program.windows:
            earlier = program.order[:place]
            table = shortcuts(len(earlier))
            values = table.evaluate(packed[list(earlier)], full)
            wrong = (values ^ packed[child]) != 0
            clamped = np.array([child in world.targets for world in worlds])
            mine = truth_table(program.formulas[child], [name_of(v) for v in earlier])
            keep = np.ones(table.count, dtype=bool)
            if mine in table.index:
                keep[table.index[mine]] = False
            found[child] = (~wrong | clamped)[keep]
    return found


def _pack(worlds: Sequence[World]) -> Columns:
    """Shape (n, worlds): the rows of each world's column as bits."""
    packed = np.zeros((worlds[0].rows.shape[1], len(worlds)), dtype=np.uint16)
    for k, world in enumerate(worlds):
        weights = (1 << np.arange(len(world.rows))).astype(np.uint16)
        packed[:, k] = (world.rows * weights[:, None]).sum(axis=0)
    return packed
