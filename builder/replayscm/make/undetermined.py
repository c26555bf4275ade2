"""Evidence that leaves some cells open, and the proof which ones (the variant ``undetermined``).

The rows asked about come under interventions of their own. A cell is open if two legal train-exact
programs give it different values: that is exact, row by row, by (5) of ``determinacy``. Every open
cell is shown by a witness, a legal train-exact program that gives another value than the hidden
one; that no other cell is open follows from (5).
"""

from typing import Final

import numpy as np

from builder.attempts import Rejected
from builder.replayscm.make.determinacy import (
    Setting,
    admitted_sets,
    disclosed_setting,
    reached,
)
from builder.replayscm.make.generate import Evidence
from builder.replayscm.make.programs import HiddenProgram, name_of
from builder.replayscm.make.reversible import draw_groups, draw_targets, sample_reversible
from builder.replayscm.make.search import formula_of, smallest_choice
from builder.replayscm.make.tables import (
    Flags,
    Rows,
    Tables,
    patterns,
    sets_of,
    stack,
    tabulate_worlds,
)
from builder.replayscm.make.worlds import (
    Bits,
    Intervention,
    World,
    draw_units,
    intervene,
    is_vacuous,
    run_program,
    set_targets,
    simulate,
)
from grader.tracks.replayscm.boolean import to_text

VARIABLES: Final = (8, 9, 10, 11)
ASKED: Final = 8
"""Rows asked about."""
CANDIDATES: Final = 40
SEED_WORLDS: Final = 5
MOST_WORLDS: Final = 20
MOST_OPEN: Final = 0.35
"""Worlds are added until at most this share of the candidates' cells is open."""
LEAST_OPEN: Final = 0.15
"""Records in which fewer of the asked cells are open are replaced."""
AIM: Final = 1 / 3
"""Shares that the choice of rows aims at: open cells, and settled ones that look open."""


def undetermined(rng: np.random.Generator, n: int) -> Evidence:
    """One attempt: a program of ``n`` variables, training worlds, and the asked rows as held-out
    worlds of one row each. Raises ``Rejected`` where too few cells are open."""
    program, linked = sample_reversible(rng, n, (n - 6) // 2)
    groups = draw_groups(rng, n, linked)
    units = draw_units(rng)
    setting = disclosed_setting(program, "hidden")
    worlds: list[World] = []

    def add(count: int) -> None:
        before = len(worlds)
        while len(worlds) < before + count:
            targets = draw_targets(rng, groups, int(rng.integers(2, n)))
            intervention = intervene(rng, "hard_assigned", targets)
            if not is_vacuous(program, intervention):
                worlds.append(simulate(rng, program, units, intervention))

    add(SEED_WORLDS)
    candidates = _candidates(rng, program, CANDIDATES)
    rows = stack(candidates)
    while True:
        tables = tabulate_worlds(worlds)
        flags = open_cells(tables, rows, setting)
        if flags.sum() <= MOST_OPEN * _asked(program, rows).sum():
            break
        if len(worlds) == MOST_WORLDS:
            raise Rejected("too much is open")
        add(1)
    chosen = _choose(program, tables, rows, flags)
    cells = _asked(program, rows)[chosen].sum()
    if flags[chosen].sum() < LEAST_OPEN * cells:
        raise Rejected("too little is open")
    statistics = {"open_share": float(flags[chosen].sum() / cells)}
    asked = tuple(candidates[place] for place in chosen)
    return Evidence(program, units, tuple(worlds), asked, statistics)


def _candidates(rng: np.random.Generator, program: HiddenProgram, count: int) -> list[World]:
    """Rows under interventions that set one to three variables, whichever; roots by a coin."""
    found: dict[tuple[int, ...], World] = {}
    while len(found) < count:
        drawn = set_targets(rng, "hard_assigned", program.n, int(rng.integers(1, 4)))
        row: Bits = rng.integers(2, size=(1, program.n)).astype(np.uint8)
        run_program(program, row, drawn.targets)
        if not is_vacuous(program, drawn):
            constants = tuple(int(row[0, v]) for v in drawn.targets)
            one = World(Intervention("hard_constant", drawn.targets, constants), row)
            found.setdefault(tuple(row[0].tolist()) + drawn.targets, one)
    return list(found.values())


def _asked(program: HiddenProgram, rows: Rows) -> Flags:
    """The cells that are computed, shape (rows, n)."""
    return np.isin(np.arange(program.n), program.endogenous)[None, :] & ~rows.clamped


def open_cells(tables: Tables, rows: Rows, setting: Setting) -> Flags:
    """Which cells legal train-exact programs disagree on, shape (rows, n).

    The values of ``rows`` are those of any one such program.
    """
    admitted = admitted_sets(tables, setting)
    flags = np.zeros(rows.values.shape, dtype=bool)
    for row, (values, clamped) in enumerate(zip(rows.values, rows.clamped, strict=True)):
        flags[row] = reached(tables, values, clamped, admitted, setting).any(axis=0)
    return flags


def _choose(program: HiddenProgram, tables: Tables, rows: Rows, flags: Flags) -> list[int]:
    """The asked rows: a third of the cells open, and a third settled though some set that fits
    leaves them open or says otherwise; as near as a greedy choice comes."""
    cells = _asked(program, rows)
    similar = _look_open(tables, rows) & cells & ~flags
    counts = np.stack([part.sum(axis=1) for part in (cells, flags, similar)], axis=1)
    chosen: list[int] = []
    total = np.zeros(3)
    while len(chosen) < ASKED:
        after = total + counts
        off = ((after[:, 1:] / after[:, :1] - AIM) ** 2).sum(axis=1)
        off[chosen] = np.inf
        chosen.append(int(np.argmin(off)))
        total = total + counts[chosen[-1]]
    return chosen


def _look_open(tables: Tables, rows: Rows) -> Flags:
    """Cells that some consistent set, legal or not, leaves open or gives another value."""
    consistent, shown = tables.consistent(), patterns(rows)
    found = np.zeros(rows.values.shape, dtype=bool)
    for v in range(tables.n):
        ks = np.flatnonzero(consistent[v])
        own = np.where(rows.values[:, [v]] == 1, tables.ones[v, ks], tables.zeros[v, ks])
        found[:, v] = ((own >> shown[:, ks]) & 1 == 0).any(axis=1)
    return found


def witnesses(program: HiddenProgram, tables: Tables, rows: Rows) -> list[dict[str, str]]:
    """Legal train-exact programs, as mechanisms by label, that between them give every open cell
    another value than the hidden program does. Each is the one that shows most of what is left in
    the first row with something left."""
    setting = disclosed_setting(program, "hidden")
    admitted = admitted_sets(tables, setting)
    left = open_cells(tables, rows, setting)
    found = []
    while left.any():
        row = int(np.flatnonzero(left.any(axis=1))[0])
        values, clamped = rows.values[row], rows.clamped[row]
        sets = reached(tables, values, clamped, admitted, setting)
        wrong = sets[int(np.argmax((sets & left[row]).sum(axis=1)))]
        mechanisms = _witness(program, tables, (values, clamped, wrong), admitted, setting)
        left &= ~_differs(mechanisms, rows)
        found.append({name_of(v): text for v, (_, _, text) in sorted(mechanisms.items())})
    return found


Mechanisms = dict[int, tuple[tuple[int, ...], int, str]]
"""By variable, in causal order: parents, truth table over them, formula."""


def _witness(
    program: HiddenProgram,
    tables: Tables,
    row: tuple[np.ndarray, np.ndarray, np.ndarray],
    admitted: Flags,
    setting: Setting,
) -> Mechanisms:
    """A train-exact program that is wrong in exactly the cells ``wrong`` of a row, built along the
    closure of (5). ``row`` holds its values, what is set in it and ``wrong``."""
    values, clamped, wrong = row
    sets, value = sets_of(tables.n), values ^ wrong
    found: Mechanisms = {}
    known, waiting = setting.roots, list(setting.endogenous)

    def place(v: int) -> bool:
        for k in np.flatnonzero(admitted[v] & ((sets.masks & ~known) == 0)).tolist():
            ones, zeros = int(tables.ones[v, k]), int(tables.zeros[v, k])
            here = 0 if clamped[v] else 1 << int(value @ sets.weights[:, k])
            ones, zeros = (ones | here, zeros) if value[v] else (ones, zeros | here)
            if not ones & zeros:
                choice = smallest_choice(ones, zeros, sets.members[k])
                text = to_text(formula_of(choice, program.roots))
                found[v] = (choice.members, choice.table, text)
                return True
        return False

    while waiting:
        placed = next(v for v in waiting if place(v))
        waiting.remove(placed)
        known |= 1 << placed
    return found


def _differs(mechanisms: Mechanisms, rows: Rows) -> Flags:
    """The cells of ``rows`` in which the program has other values, shape (rows, n)."""
    values = rows.values.copy()
    for v, (members, table, _) in mechanisms.items():
        pattern = np.zeros(len(values), dtype=np.int64)
        for bit, parent in enumerate(members):
            pattern |= values[:, parent] << bit
        values[:, v] = np.where(rows.clamped[:, v], values[:, v], (table >> pattern) & 1)
    return np.asarray(values != rows.values)
