"""Decide whether the evidence determines the held-out replay and the hidden program.

See ``docs/replayscm.md`` for statements and proofs, numbered as here: (1) consistent sets, (2)
completable pairs, (3) determined, (4) unique, (5) single cells. A pair (V, S) is a variable with a
set of at most K = 4 others that its mechanism may mention.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from builder.tracks.replayscm.plan import Disclosure
from builder.tracks.replayscm.programs import HiddenProgram
from builder.tracks.replayscm.tables import (
    Flags,
    ObservedRows,
    PartialTables,
    bits,
    patterns,
    sets_of,
    tabulate,
)
from grader.tracks.replayscm.problem import ROOTS


@dataclass(frozen=True, slots=True)
class ParentLimits:
    """Hold a root set and what each other variable may depend on, both as bits."""

    roots: int
    allowed: Mapping[int, int]


def disclosed_limits(
    program: HiddenProgram, disclosure: Disclosure, blocks: Sequence[Sequence[int]] = ()
) -> ParentLimits:
    """Return the limits a disclosure sets, given the true roots. ``blocks`` (in latent order) serve
    "block" alone. "hidden_roots" is treated like "hidden"."""
    allowed = {}
    for child in sorted(program.endogenous):
        if disclosure == "ordered":
            known = program.order[: program.order.index(child)]
        elif disclosure == "block":
            own = next(k for k, block in enumerate(blocks) if child in block)
            known = tuple(chain(*blocks[: own + 1]))
        else:
            known = program.order
        allowed[child] = bits({*known} - {child})
    return ParentLimits(bits(program.roots), allowed)


def limits_by_roots(n: int) -> Iterator[ParentLimits]:
    """Yield limits for each set of three roots: any other variable may depend on all but itself."""
    for roots in combinations(range(n), ROOTS):
        others = [v for v in range(n) if v not in roots]
        yield ParentLimits(bits(roots), {v: ((1 << n) - 1) & ~(1 << v) for v in others})


def viable_limits(tables: PartialTables) -> list[ParentLimits]:
    """Return the limits, one per root set, that some train-exact program keeps."""
    return [
        limits
        for limits in limits_by_roots(tables.n)
        if _closure(admitted_sets(tables, limits), limits) == (1 << tables.n) - 1
    ]


@dataclass(frozen=True, slots=True)
class Deviation:
    """A completable pair (V = ``child``, S of number ``set_index``) under ``limits`` that may be
    wrong: no training row has the pattern of S and value of V of held-out row ``row``."""

    limits: ParentLimits
    child: int
    set_index: int
    row: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Hold the findings under a disclosure: are the held-out replay and the program determined?
    ``deviating`` counts pairs (node, parent set) of :class:`Deviation`, over all root sets, and
    ``first`` is one of them or None. ``undetermined``, shape (held-out rows, n), flags the cells
    that some train-exact program gets wrong."""

    determined: bool
    unique: bool
    deviating: int
    undetermined: Flags
    first: Deviation | None


def audit(
    program: HiddenProgram,
    tables: PartialTables,
    heldout: ObservedRows,
    disclosure: Disclosure,
    blocks: Sequence[Sequence[int]] = (),
) -> Audit:
    """Return what the training ``tables`` leave undetermined in the held-out rows. ``blocks`` serve
    "block" alone. Under "hidden_roots" all viable root sets are tried."""
    truth = disclosed_limits(program, disclosure, blocks)
    all_limits = [truth]
    if disclosure == "hidden_roots":
        all_limits += [s for s in viable_limits(tables) if s.roots != truth.roots]
    target, seen = tabulate(heldout), patterns(heldout)
    asked_anew = (target.ones & ~tables.ones) | (target.zeros & ~tables.zeros)
    undetermined = np.zeros(heldout.values.shape, dtype=bool)
    count, unique, first = 0, True, None
    for limits in all_limits:
        completable = completable_pairs(tables, limits)
        unique &= limits is truth and is_unique(program, tables, completable)
        # Rows in which no pair may be wrong are settled whole.
        at_risk = np.zeros(len(heldout.values), dtype=bool)
        for child, k in np.argwhere(completable & (asked_anew != 0)).tolist():
            ones, zeros = int(tables.ones[child, k]), int(tables.zeros[child, k])
            shown = np.where(heldout.values[:, child] == 1, ones, zeros) >> seen[:, k] & 1 == 1
            rows = ~shown & ~heldout.clamped[:, child]
            first = first or Deviation(limits, child, k, int(rows.argmax()))
            at_risk |= rows
            count += 1
        admitted = admitted_sets(tables, limits)
        for row in np.flatnonzero(at_risk).tolist():
            undetermined[row] |= _undetermined_in_row(tables, heldout, row, admitted, limits)
    return Audit(count == 0, unique, count, undetermined, first)


def is_unique(program: HiddenProgram, tables: PartialTables, completable: Flags) -> bool:
    """Return whether only the hidden program fits: every completable set holds its variable's
    parents and shows all its patterns (``docs/replayscm.md``, 4)."""
    sets = sets_of(program.n)
    parents = np.array([bits(program.parents.get(v, ())) for v in range(program.n)])[:, None]
    settled = ((sets.masks & parents) == parents) & (tables.seen_patterns == sets.every)
    return bool(settled[completable].all())


def admitted_sets(tables: PartialTables, limits: ParentLimits) -> Flags:
    """Return flags (n, sets) of the consistent pairs that ``limits`` allow (1); roots have none."""
    masks = sets_of(tables.n).masks
    allowed = np.array([limits.allowed.get(v, -1) for v in range(tables.n)])[:, None]
    return np.asarray(tables.consistent() & (allowed >= 0) & ((masks & ~allowed) == 0))


def completable_pairs(tables: PartialTables, limits: ParentLimits) -> Flags:
    """Return flags (n, sets) of the pairs that occur in some train-exact program (2)."""
    admitted = admitted_sets(tables, limits)
    reach = [_closure(admitted, limits, without=v) for v in range(tables.n)]
    return np.asarray(admitted & ((sets_of(tables.n).masks & ~np.array(reach)[:, None]) == 0))


def _closure(admitted: Flags, limits: ParentLimits, *, without: int | None = None) -> int:
    """Return as bits what is known from the roots on: a variable once an admitted set of it is."""
    masks = sets_of(len(admitted)).masks
    waiting = {v: masks[admitted[v]] for v in limits.allowed if v != without}
    known, before = limits.roots, -1
    while known != before:
        before = known
        for v, choices in waiting.items():
            if ((choices & ~known) == 0).any():
                known |= 1 << v
    return known


def _undetermined_in_row(
    tables: PartialTables, heldout: ObservedRows, row: int, admitted: Flags, limits: ParentLimits
) -> Flags:
    """Return flags (n,) of what some train-exact program gets wrong in a held-out row (5)."""
    sets, n, clamped = sets_of(tables.n), tables.n, heldout.clamped[row]
    free = [v for v in limits.allowed if not clamped[v]]
    # One column per set D of wrong variables, shape (n, columns).
    wrong = np.zeros((n, 1 << len(free)), dtype=bool)
    wrong[free] = np.arange(1 << len(free))[None, :] >> np.arange(len(free))[:, None] & 1 == 1
    value = heldout.values[row][:, None] ^ wrong
    known = np.full(wrong.shape[1], limits.roots, dtype=np.int64)
    options = []
    for v in limits.allowed:
        chosen = np.flatnonzero(admitted[v])
        pattern = sets.weights[:, chosen].T @ value
        # Leave a value possible unless its pattern was seen with the other.
        zeros, ones = (
            table[v, chosen, None].astype(np.int64) for table in (tables.zeros, tables.ones)
        )
        possible = np.where(value[v] == 1, zeros, ones) >> pattern & 1 == 0
        options.append((v, sets.masks[chosen, None], possible | bool(clamped[v])))
    before = np.zeros_like(known)
    while (known != before).any():
        before = known
        for v, masks, possible in options:
            fits = possible & ((masks & ~known) == 0)
            known = known | (fits.any(axis=0).astype(np.int64) << v)
    return np.asarray(wrong[:, known == (1 << n) - 1].any(axis=1))
