"""The units of a simulation task: exogenous patterns with exact weights, and their true answers.

*Exhaustive*: every pattern of the effect's ancestors once. *Stratified*, beyond 512 patterns: 512
units drawn within the cells of (effect under do(cause true), effect under do(cause false)), each
cell's weights summing to its exact probability. Correct answers give the exact value either way.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from builder.tracks.ccr.graph import CutTree, Pair
from builder.tracks.ccr.graph import ancestors as ancestors_of
from builder.tracks.ccr.model import (
    TENTHS,
    Bits,
    BooleanContext,
    evaluate,
    pattern_weights,
    patterns,
)
from builder.tracks.ccr.quantities import Response, component_tables, responses

MAX_UNITS: Final = 512
LEAST_PER_CELL: Final = 96
CELLS: Final = ("11", "10", "00")
"""Effect under do(true) and under do(false); 01 cannot be, functions being monotone."""


@dataclass(frozen=True, slots=True)
class PairUnits:
    """Units of one pair: ``bits`` (nodes, units), the effect's values (units,), which are
    ``factual``, ``high`` under do(cause true) and ``low`` under do(cause false), and exact
    ``weights`` as the truth row has them: "numerators" by unit over a "denominator", or the
    probability of each of "cells", which its units share equally."""

    bits: Bits
    factual: Bits
    high: Bits
    low: Bits
    weights: dict[str, Any]


def pair_units(
    context: BooleanContext, tree: CutTree, pair: Pair, rng: np.random.Generator
) -> PairUnits:
    """Return a pair's units, in random order. Bits without a role are drawn too, so that a case
    does not show which ones they are."""
    cause, effect = (context.dag.index[name] for name in pair)
    ancestors = ancestors_of(context.dag, effect)
    if 1 << len(ancestors) <= MAX_UNITS:
        order = rng.permutation(1 << len(ancestors))
        bits = _draw_bits(context, len(order), rng)
        bits[list(ancestors)] = patterns(len(ancestors))[:, order]
        numerators = pattern_weights([context.tenths[v] for v in ancestors])[order].tolist()
        total = TENTHS ** len(ancestors)
        weights: dict[str, Any] = {"numerators": numerators, "denominator": total}
    else:
        cells = cell_probabilities(responses(context, tree)[pair])
        bits = _draw_stratified_bits(context, tree, pair, cells, rng)
        weights = {"cells": {name: str(value) for name, value in cells.items()}}
    high, low = (evaluate(context, bits, {cause: level})[effect] for level in (True, False))
    factual = evaluate(context, bits)[effect]
    return PairUnits(bits, factual, high, low, weights)


def cell_probabilities(response: Response) -> dict[str, Fraction]:
    """Return the exact probability of each cell that can occur, in ``CELLS``'s order."""
    values = (response.low, response.pns, 1 - response.high)
    return {name: value for name, value in zip(CELLS, values, strict=True) if value}


def _draw_bits(context: BooleanContext, count: int, rng: np.random.Generator) -> Bits:
    """Draw the bits of ``count`` units independently, (nodes, count), by each node's odds."""
    odds = np.array(context.tenths)[:, None]
    return rng.integers(0, TENTHS, (len(context.tenths), count)) < odds


def _allocation(cells: dict[str, Fraction]) -> dict[str, int]:
    """Return the number of units of each cell, ``MAX_UNITS`` in all: ``LEAST_PER_CELL`` each, the
    rest in proportion to its probability by largest remainder."""
    rest = MAX_UNITS - LEAST_PER_CELL * len(cells)
    shares = {name: value * rest for name, value in cells.items()}
    counts = {name: int(share) for name, share in shares.items()}
    by_rest = sorted(cells, key=lambda name: (counts[name] - shares[name], name))
    for name in by_rest[: rest - sum(counts.values())]:
        counts[name] += 1
    return {name: count + LEAST_PER_CELL for name, count in counts.items()}


def _draw_stratified_bits(
    context: BooleanContext,
    tree: CutTree,
    pair: Pair,
    cells: dict[str, Fraction],
    rng: np.random.Generator,
) -> Bits:
    """Draw bits (nodes, ``MAX_UNITS``) with :func:`_allocation`'s numbers by cell, in random order,
    each by its law given the cell."""
    counts = _allocation(cells)
    wanted = np.repeat([CELLS.index(name) for name in counts], list(counts.values()))
    wanted = wanted[rng.permutation(MAX_UNITS)]
    bits = _draw_bits(context, MAX_UNITS, rng)
    first, last = (tree.nodes.index(name) for name in pair)
    tables = [component_tables(context, part) for part in tree.components[first:last]]
    kinds = [np.where(low, 0, np.where(high, 1, 2)) for high, low, _ in tables]
    masses = [
        [float(weights[kind == k].sum()) for k in range(3)]
        for kind, (_, _, weights) in zip(kinds, tables, strict=True)
    ]
    asked = _component_cells(wanted, masses, rng)
    for place, part in enumerate(tree.components[first:last]):
        weights = tables[place][2]
        rows = list(part[1:])
        chosen = np.zeros(MAX_UNITS, dtype=np.int64)
        for k in range(-1, 3):
            here = asked[place] == k
            if here.any():
                allowed = weights if k < 0 else np.where(kinds[place] == k, weights, 0)
                sums = np.cumsum(allowed)
                drawn = rng.integers(0, sums[-1], int(here.sum()))
                chosen[here] = np.searchsorted(sums, drawn, side="right")
        bits[rows] = patterns(len(rows))[:, chosen]
    return bits


def _component_cells(
    wanted: NDArray[np.int64], masses: list[list[float]], rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Draw the cell (or -1: any) of each component for each unit, given the cell of the whole
    chain. ``wanted`` are indices into ``CELLS``, ``masses`` each component's weights of its cells.
    The chain complies (10) when all components do. Else the last one that does not comply decides,
    and what lies before it is free. So cells are drawn from the effect backwards."""
    totals = [[0.0, 1.0, 0.0]]
    for always, complies, never in masses:
        mass = always + complies + never
        before = totals[-1]
        sums = always + complies * before[0], complies * before[1], never + complies * before[2]
        totals.append([value / mass for value in sums])
    open_ = np.ones(len(wanted), dtype=bool)
    cells: list[NDArray[np.int64]] = []
    for place in range(len(masses) - 1, -1, -1):
        mass = sum(masses[place])
        total = np.array(totals[place + 1])[wanted]
        odds = np.array(masses[place])[wanted] / mass / np.where(total > 0, total, 1)
        # What is left must be decided at the first component.
        decides = open_ & (wanted != 1) & ((rng.random(len(wanted)) < odds) | (place == 0))
        cells.append(np.where(open_, np.where(decides, wanted, 1), -1))
        open_ = open_ & ~decides
    return cells[::-1]
