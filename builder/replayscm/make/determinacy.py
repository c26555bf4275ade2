"""The complete audit: does the evidence determine the held-out replay, and the program?

**Class.** All legal submissions: acyclic maps of Boolean formulas in which each mechanism mentions
at most K = 4 variables, all of them admitted by the disclosure. A mechanism that mentions a set
depends on a subset of it, and any function of an admitted set S (|S| <= K) can be written with
exactly the variables of S, so it is enough to speak about pairs (V, S) and functions of S.

**(L) Local lemma.** A candidate is train-exact if and only if f_V(x restricted to S_V) = x_V for
every endogenous V and every training row x in which V is not set. *Proof.* If it is train-exact,
replay reproduces every cell, so each mechanism reads observed values and must return the observed
one. Conversely go through the candidate's own causal order: roots are copied, set variables are
clamped, and a mechanism whose inputs are right returns the right value. []

**(1)** S is *consistent* for V if no two training rows with V not set agree on S and differ on V.
The train-exact functions on S are then exactly the completions of that partial table.

**(2) Completable.** (V, S) occurs in some train-exact candidate if and only if S lies inside the
closure that starts with the roots and keeps adding any W other than V that has a consistent
admitted set inside the closure. *Proof.* In a candidate, the variables before V are each placed
on earlier ones, so all of them are in the closure. Conversely, place the closure in the order in
which it grew, then V on S, then the rest: the closure of a larger set is larger, and the rest can
be placed because the hidden order places everything on its own (consistent) parents. []

**(3) Determined.** Some candidate is train-exact and wrong on a held-out row if and only if there
are a completable pair (V, S) and a held-out row with V not set whose S-pattern is unseen in
training, or was seen with the opposite value: a *deviating pair*. *Proof.* Take the first wrong
cell of the row in the candidate's order: its inputs are right, so its pair deviates there. Given a
deviating pair, complete it with f_V wrong at that pattern: in that row either V is wrong, or one of
the variables before it is, which are cells of the same row. []

**(4) Unique.** If every completable consistent S contains Pa(V) and shows all its 2^|S| patterns,
every train-exact candidate has the hidden functions. Conversely, an unseen pattern, or a missing
parent, gives a train-exact candidate with another function. (Interventions can produce any
assignment, so all functions differ somewhere.) []

**(5) Cells.** Which single held-out cells are determined is decided row by row. Fix the set D of
variables that shall be wrong in that row; every value is then known, and the closure that places
W in D only on sets whose pattern is unseen or was seen with the wrong value, and W outside D only
where the right value is possible, reaches all variables if and only if some train-exact candidate
has exactly the wrong cells D (the closure is monotone, so the order of placing does not matter).
A cell is undetermined if some reachable D holds it.

With hidden roots every set of three roots from which the closure reaches all variables is a
candidate's root set; the statements hold with "the rest can be placed" by that reachability.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from builder.replayscm.make.programs import HiddenProgram
from builder.replayscm.make.tables import Flags, Rows, Tables, bits, patterns, sets_of, tabulate
from grader.tracks.replayscm.problem import ROOTS

Disclosure = Literal["ordered", "block", "hidden", "hidden_roots"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A root set and, for each other variable, the variables it may depend on (as bits)."""

    roots: int
    allowed: Mapping[int, int]

    @property
    def endogenous(self) -> tuple[int, ...]:
        """The variables that need a mechanism, ascending."""
        return tuple(sorted(self.allowed))


def disclosed_setting(
    program: HiddenProgram, disclosure: Disclosure, blocks: Sequence[Sequence[int]] = ()
) -> Setting:
    """What a disclosure admits, given the true roots. Hidden roots count as hidden order here."""
    everything = (1 << program.n) - 1
    allowed: dict[int, int] = {}
    for place, child in enumerate(program.order):
        if child not in program.windows:
            continue
        if disclosure == "ordered":
            allowed[child] = bits(program.order[:place])
        elif disclosure == "block":
            own = next(k for k, block in enumerate(blocks) if child in block)
            allowed[child] = bits(v for block in blocks[: own + 1] for v in block) & ~(1 << child)
        else:
            allowed[child] = everything & ~(1 << child)
    return Setting(bits(program.roots), allowed)


@dataclass(frozen=True, slots=True)
class Deviation:
    """A completable pair (V, S) that may be wrong in held-out row ``row``."""

    setting: Setting
    child: int
    set_index: int
    row: int


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings under one disclosure.

    ``deviating`` counts deviating pairs over all root sets; ``undetermined`` has shape
    (held-out rows, n).
    """

    determined: bool
    unique: bool
    deviating: int
    undetermined: Flags
    first: Deviation | None


def audit(
    program: HiddenProgram,
    tables: Tables,
    heldout: Rows,
    disclosure: Disclosure,
    blocks: Sequence[Sequence[int]] = (),
) -> Audit:
    """The complete audit of training ``tables`` against held-out rows."""
    truth = disclosed_setting(program, disclosure, blocks)
    settings = [truth]
    if disclosure == "hidden_roots":
        settings += [
            hidden_setting(program.n, roots)
            for roots in viable_root_sets(tables)
            if roots != truth.roots
        ]
    target = tabulate(heldout)
    wrong = (target.ones & ~tables.ones) | (target.zeros & ~tables.zeros)
    undetermined = np.zeros(heldout.values.shape, dtype=bool)
    count, unique, first = 0, True, None
    for setting in settings:
        admitted = admitted_sets(tables, setting)
        completable = _completable(admitted, setting)
        deviating = completable & (wrong != 0)
        found = int(deviating.sum())
        count += found
        if found:
            rows = _rows_at_risk(tables, heldout, deviating)
            for row in rows:
                cells = heldout.values[row], heldout.clamped[row]
                undetermined[row] |= reached(tables, *cells, admitted, setting).any(axis=0)
            first = first or _first(tables, heldout, deviating, setting)
        unique &= setting is truth and is_unique(program, tables, completable)
    return Audit(count == 0, unique, count, undetermined, first)


def hidden_setting(n: int, roots: int) -> Setting:
    """These roots (as bits), nothing else disclosed."""
    everything = (1 << n) - 1
    return Setting(roots, {v: everything & ~(1 << v) for v in range(n) if not roots >> v & 1})


def root_settings(n: int) -> Iterator[Setting]:
    """Every set of three roots, nothing else disclosed."""
    for chosen in combinations(range(n), ROOTS):
        yield hidden_setting(n, bits(chosen))


def viable_root_sets(tables: Tables) -> list[int]:
    """The sets of three roots (as bits) from which the closure reaches everything, in order.

    All closures grow together. Of the sets that fit a variable only the smallest matter.
    """
    consistent, masks = tables.consistent(), sets_of(tables.n).masks
    smallest = [_minimal(masks[flags]) for flags in consistent]
    starts = np.array([setting.roots for setting in root_settings(tables.n)], dtype=np.int64)
    known, before = starts, np.zeros_like(starts)
    while (known != before).any():
        before = known
        for v, choices in enumerate(smallest):
            placed = ((choices[:, None] & ~known[None, :]) == 0).any(axis=0)
            known = known | (placed.astype(np.int64) << v)
    return [int(roots) for roots in starts[known == (1 << tables.n) - 1]]


def _minimal(masks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sets that hold no other of them; ``masks`` ascend by size."""
    kept: list[int] = []
    for mask in masks.tolist():
        if all(other & ~mask for other in kept):
            kept.append(mask)
    return np.array(kept, dtype=np.int64)


def is_unique(program: HiddenProgram, tables: Tables, completable: Flags) -> bool:
    """(4): every completable set holds the parents and shows all its patterns."""
    sets = sets_of(program.n)
    for child in program.endogenous:
        chosen = completable[child]
        parents = bits(program.parents[child])
        holds = (sets.masks & parents) == parents
        if not (holds & (tables.seen[child] == sets.every))[chosen].all():
            return False
    return True


def completable_pairs(tables: Tables, setting: Setting) -> Flags:
    """(2) for every (V, S), shape (n, sets)."""
    return _completable(admitted_sets(tables, setting), setting)


def admitted_sets(tables: Tables, setting: Setting) -> Flags:
    """Consistent sets that the disclosure admits, shape (n, sets)."""
    consistent, masks = tables.consistent(), sets_of(tables.n).masks
    admitted = np.zeros_like(consistent)
    for child, allowed in setting.allowed.items():
        admitted[child] = consistent[child] & ((masks & ~allowed) == 0)
    return admitted


def _completable(admitted: Flags, setting: Setting) -> Flags:
    masks = sets_of(len(admitted)).masks
    result = np.zeros_like(admitted)
    for child in setting.endogenous:
        known = closure(admitted, setting, without=child)
        result[child] = admitted[child] & ((masks & ~known) == 0)
    return result


def closure(admitted: Flags, setting: Setting, *, without: int | None = None) -> int:
    """The variables that can be placed from the roots, ``without`` left out, as bits."""
    masks = sets_of(len(admitted)).masks
    waiting = {v: masks[admitted[v]] for v in setting.endogenous if v != without}
    known, before = setting.roots, -1
    while known != before:
        before = known
        for v, choices in list(waiting.items()):
            if ((choices & ~known) == 0).any():
                known |= 1 << v
                del waiting[v]
    return known


def _rows_at_risk(tables: Tables, heldout: Rows, deviating: Flags) -> list[int]:
    """Held-out rows in which some deviating pair may be wrong; all cells of others are settled."""
    seen = patterns(heldout)
    risky = np.zeros(len(heldout.values), dtype=bool)
    for child, k in np.argwhere(deviating):
        risky |= _may_be_wrong(tables, heldout, seen[:, k], int(child), int(k))
    return np.flatnonzero(risky).tolist()


def _may_be_wrong(
    tables: Tables, heldout: Rows, pattern: NDArray[np.int64], child: int, k: int
) -> Flags:
    right = np.where(
        heldout.values[:, child] == 1, int(tables.ones[child, k]), int(tables.zeros[child, k])
    )
    return np.asarray(((right >> pattern) & 1 == 0) & ~heldout.clamped[:, child])


def _first(tables: Tables, heldout: Rows, deviating: Flags, setting: Setting) -> Deviation:
    """The first deviating pair by variable and set, with its first row."""
    child, k = (int(v) for v in np.argwhere(deviating)[0])
    rows = _may_be_wrong(tables, heldout, patterns(heldout)[:, k], child, k)
    return Deviation(setting, child, k, int(np.flatnonzero(rows)[0]))


def reached(
    tables: Tables, values: NDArray[np.int64], clamped: Flags, admitted: Flags, setting: Setting
) -> Flags:
    """(5) for one row: which sets D of wrong variables train-exact candidates have, (sets, n).

    ``values`` are right ones, of the hidden program or of any other candidate; shape (n,).
    """
    sets = sets_of(tables.n)
    free = [v for v in setting.endogenous if not clamped[v]]
    # One column per set D of wrong variables.
    wrong = ((np.arange(1 << len(free))[None, :] >> np.arange(len(free))[:, None]) & 1).astype(bool)
    value = np.repeat(values[:, None], wrong.shape[1], axis=1)
    for place, v in enumerate(free):
        value[v] ^= wrong[place]
    options = []
    for v in setting.endogenous:
        chosen = np.flatnonzero(admitted[v])
        pattern = sets.weights[:, chosen].T @ value
        # A seen pattern with the other value forbids; an unseen one allows both.
        forbidding = np.where(
            value[v][None, :] == 1,
            tables.zeros[v, chosen][:, None],
            tables.ones[v, chosen][:, None],
        )
        possible = (forbidding >> pattern) & 1 == 0
        options.append((v, sets.masks[chosen], possible | bool(clamped[v])))
    known = np.full(wrong.shape[1], setting.roots, dtype=np.int64)
    before = np.zeros_like(known)
    while (known != before).any():
        before = known
        for v, masks, possible in options:
            fits = possible & ((masks[:, None] & ~known[None, :]) == 0)
            known = known | (fits.any(axis=0).astype(np.int64) << v)
    complete = known == (1 << tables.n) - 1
    found = np.zeros((int(complete.sum()), tables.n), dtype=bool)
    found[:, free] = wrong[:, complete].T
    return found
