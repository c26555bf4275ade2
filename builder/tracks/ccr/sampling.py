"""Drawing contexts whose quantities can be measured (``docs/ccr.md``), and units of their tasks.

Quantities lie within :class:`Bounds`. Beyond five components the global PNS shrinks by nature;
cut-tree pairs that span two to five components take its place. Units are exogenous patterns with
exact weights, and their true answers. *Exhaustive*: every pattern of the effect's ancestors once.
*Stratified*, beyond 512 patterns: 512 units drawn within the cells of (effect under do(cause true),
effect under do(cause false)), each cell's weights summing to its exact probability. Correct answers
give the exact value either way.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from builder.graphs.graph import LatentDAG
from builder.release.attempts import list_counts
from builder.tracks.ccr import model
from builder.tracks.ccr.model import Bits, BooleanContext, CutTree, LinearContext, Pair
from builder.tracks.ccr.plan import BOUNDS, MEASURED_SPAN, Bounds, Design
from builder.tracks.ccr.quantities import (
    MEDIATED,
    Quantities,
    component_response,
    component_tables,
    exact_quantities,
    linear_effect,
    responses,
    total_effect,
)
from grader.errors import UsageError

MAX_TRIES: Final = 200_000
"""Components drawn for one context before its design is given up."""


@dataclass(frozen=True, slots=True)
class SampledContext:
    """A context with its cut tree, its exact quantities, and the rejected draws by reason."""

    context: BooleanContext
    tree: CutTree
    quantities: dict[Pair, Quantities]
    rejections: Mapping[str, int]

    @classmethod
    def of_context(cls, context: BooleanContext, rejections: Mapping[str, int]) -> Self:
        """Return ``context`` with its cut tree and exact quantities."""
        tree = model.cut_tree(context.dag)
        return cls(context, tree, exact_quantities(context, tree), rejections)


def sample_context(design: Design, rng: np.random.Generator, where: str) -> SampledContext:
    """Draw a context with a measurable pair, nodes called by index. Raises ``UsageError``, begun by
    ``where``, when ``MAX_TRIES`` components give none."""
    rejections: Counter[str] = Counter()
    while rejections.total() < MAX_TRIES:
        parts = _parts(design, rng, rejections)
        if parts is None:
            continue
        sampled = SampledContext.of_context(_join_parts(parts), rejections)
        if references(sampled.tree, sampled.quantities, design.bounds):
            return sampled
        rejections["no measurable pair of two components or more"] += 1
    raise UsageError(
        f"{where}: no context of components {list(design.sizes)} with operators = "
        f"'{design.operators}' in {MAX_TRIES} draws: {list_counts(rejections)}; "
        "use fewer or smaller components"
    )


def measurable(
    tree: CutTree, quantities: dict[Pair, Quantities], bounds: Bounds = BOUNDS
) -> tuple[Pair, ...]:
    """Return the pairs asked about: all in a tree of up to five components, in a longer one those
    that span at most five with a PNS of at least ``bounds.whole``."""
    if len(tree.components) <= MEASURED_SPAN:
        return tree.pairs
    return tuple(
        pair
        for pair in tree.pairs
        if tree.span(pair) <= MEASURED_SPAN and quantities[pair]["pns"] >= bounds.whole
    )


def references(
    tree: CutTree, quantities: dict[Pair, Quantities], bounds: Bounds = BOUNDS
) -> tuple[Pair, ...]:
    """Return the pairs whose indirect paths are the compositions, empty below the bounds: the
    global pair of up to five components, else all measurable ones that span two to five."""
    if len(tree.components) <= MEASURED_SPAN:
        pair = tree.global_pair
        return (pair,) if quantities[pair]["pns"] >= bounds.whole else ()
    return tuple(pair for pair in measurable(tree, quantities, bounds) if tree.span(pair) > 1)


def _parts(
    design: Design, rng: np.random.Generator, rejections: Counter[str]
) -> list[BooleanContext] | None:
    """Draw a part for each component with a PNS within bounds; None when their product cannot
    reach the global bound or draws run out. Rejected draws are counted by reason."""
    parts: list[BooleanContext] = []
    product, limit, bounds = Fraction(1), len(design.sizes), design.bounds
    for kind, size in zip(design.kinds, design.sizes, strict=True):
        while True:
            part = _part(kind, size, design, rng)
            pns = component_response(part, tuple(range(size))).pns
            if bounds.low <= pns <= bounds.high:
                break
            rejections[f"adjacent PNS outside [{float(bounds.low):g}, {float(bounds.high):g}]"] += 1
            if rejections.total() >= MAX_TRIES:
                return None
        parts.append(part)
        product *= pns
        room = bounds.high ** (limit - len(parts))
        if limit <= MEASURED_SPAN and product * room < bounds.whole:
            rejections[f"global PNS under {float(bounds.whole):g}"] += 1
            return None
    return parts


def _part(kind: str, size: int, design: Design, rng: np.random.Generator) -> BooleanContext:
    """Draw a component of ``size`` nodes as a context of its own. The bounds are not checked."""
    own = _operators(design.operators, size, rng)
    among = _operators(design.operators, size, rng) if design.operators == "mixed" else own
    dag = model.chain([kind], [size], rng)
    # Over a single parent the second operator joins nothing; it then repeats the first.
    among = tuple(
        a if len(p) > 1 else o for a, o, p in zip(among, own, model.parent_lists(dag), strict=True)
    )
    tenths = rng.integers(design.tenths[0], design.tenths[1] + 1, size).tolist()
    return BooleanContext(dag, own, among, tuple(tenths))


def _operators(operators: str, size: int, rng: np.random.Generator) -> tuple[model.Operator, ...]:
    """Return ``size`` operators: all "or", all "and", or drawn node by node."""
    is_fixed = operators in ("or", "and")
    drawn = [operators == "or"] * size if is_fixed else rng.random(size) < 0.5
    return tuple("or" if one else "and" for one in drawn)


def _join_parts(parts: Sequence[BooleanContext]) -> BooleanContext:
    """Return parts joined leaf to root, named by index. A leaf keeps its rule as next root."""
    parents: list[tuple[int, ...]] = [()]
    own, among, tenths = [parts[0].own[0]], [parts[0].among[0]], [parts[0].tenths[0]]
    for part in parts:
        offset = len(parents) - 1
        parents += [tuple(p + offset for p in row) for row in part.parents[1:]]
        own += part.own[1:]
        among += part.among[1:]
        tenths += part.tenths[1:]
    return BooleanContext(model.graph_of_parents(parents), tuple(own), tuple(among), tuple(tenths))


LINEAR_COEFFICIENTS: Final = tuple(
    Fraction(sign * quarter, 4) for quarter in range(2, 9) for sign in (1, -1)
)
"""Multiples of 1/4 from 1/2 to 2, of either sign."""

LEAST_EFFECT: Final = Fraction(1, 10)


def sample_linear(
    sizes: Sequence[int], kinds: Sequence[str], rng: np.random.Generator, *, trap: bool = False
) -> tuple[LinearContext, tuple[str, ...]]:
    """Draw a linear context none of whose asked effects is below 0.1 in absolute value, and return
    it with (X, first cutpoint, Y). With ``trap`` (two components of four nodes or more) one edge
    leads past the cutpoint, so that the graph has none and the product of the two effects is not
    the global one (CCR Appendix C)."""
    while True:
        dag = model.chain(kinds, sizes, rng)
        middle = sizes[0] - 1
        if trap:
            dag = _add_bypass(dag, middle, rng)
        coefficients = tuple(
            tuple(LINEAR_COEFFICIENTS[k] for k in rng.integers(0, len(LINEAR_COEFFICIENTS), len(p)))
            for p in model.parent_lists(dag)
        )
        context = LinearContext(dag, coefficients)
        ends = (dag.nodes[0], dag.nodes[middle], dag.nodes[-1])
        trapped = (ends[0], ends[1]), (ends[1], ends[2]), (ends[0], ends[2])
        pairs = trapped if trap else model.cut_tree(dag).pairs
        effects = [total_effect(context, *pair) for pair in pairs]
        if any(abs(effect) < LEAST_EFFECT for effect in effects):
            continue
        if not trap or abs(effects[0] * effects[1] - effects[2]) > abs(effects[2]) / 2:
            return context, ends


def sample_additive(
    sizes: Sequence[int], kinds: Sequence[str], rng: np.random.Generator
) -> tuple[LinearContext, tuple[str, ...]]:
    """Draw a linear context as of a trap, and return it with (X, two mediators, Y). Of TE, NDE and
    NIE none is smaller than a fifth of another in size: a sum then keeps the digits of givens."""
    while True:
        context, _ = sample_linear(sizes, kinds, rng, trap=True)
        x, *inner, y = context.dag.nodes
        total = total_effect(context, x, y)
        mediators = []
        for m in inner:
            parts = (total, *(linear_effect(context, name, (x, m, y)) for name in MEDIATED))
            if 5 * min(map(abs, parts)) >= max(map(abs, parts)):
                mediators.append(m)
        if len(mediators) > 1:
            chosen = rng.permutation(len(mediators))[:2]
            return context, (x, *(mediators[k] for k in chosen), y)


def _add_bypass(dag: LatentDAG, middle: int, rng: np.random.Generator) -> LatentDAG:
    """Return ``dag`` with one edge past the node ``middle``, between inner nodes."""
    before = int(rng.integers(1, middle))
    after = int(rng.integers(middle + 1, len(dag.nodes) - 1))
    parents = [
        {*row, before} if v == after else row for v, row in enumerate(model.parent_lists(dag))
    ]
    return model.graph_of_parents([sorted(row) for row in parents])


MAX_UNITS: Final = 512
LEAST_PER_CELL: Final = 96
CELLS: Final = ("11", "10", "00")
"""Effect under do(true) and under do(false); 01 cannot be, functions being monotone."""


def pair_units(
    context: BooleanContext, tree: CutTree, pair: Pair, rng: np.random.Generator
) -> tuple[Bits, dict[str, Bits], dict[str, Any]]:
    """Return a pair's units in random order: bits (nodes, units), the effect's values (units,) by
    question, and exact weights: "numerators" by unit over a "denominator", or the probability of
    each of "cells", which its units share equally. Bits without a role are drawn too."""
    cause, effect = (context.dag.index[name] for name in pair)
    causes = model.ancestors(context.dag, effect)
    if 1 << len(causes) <= MAX_UNITS:
        order = rng.permutation(1 << len(causes))
        bits = _draw_bits(context, len(order), rng)
        bits[list(causes)] = model.patterns(len(causes))[:, order]
        numerators = model.pattern_weights([context.tenths[v] for v in causes])[order].tolist()
        total = model.TENTHS ** len(causes)
        weights: dict[str, Any] = {"numerators": numerators, "denominator": total}
    else:
        response = responses(context, tree)[pair]
        shares = zip(CELLS, (response.low, response.pns, 1 - response.high), strict=True)
        cells = {name: share for name, share in shares if share}
        bits = _draw_stratified_bits(context, tree, pair, cells, rng)
        weights = {"cells": {name: str(value) for name, value in cells.items()}}
    worlds = {"factual": {}, "do_true": {cause: True}, "do_false": {cause: False}}
    answers = {
        question: model.evaluate(context, bits, do)[effect] for question, do in worlds.items()
    }
    return bits, answers, weights


def _draw_bits(context: BooleanContext, count: int, rng: np.random.Generator) -> Bits:
    """Draw the bits of ``count`` units independently, (nodes, count), by each node's odds."""
    odds = np.array(context.tenths)[:, None]
    return rng.integers(0, model.TENTHS, (len(context.tenths), count)) < odds


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
    """Draw bits (nodes, ``MAX_UNITS``) in random order, each by its law given its cell."""
    counts = _allocation(cells)
    wanted = np.repeat([CELLS.index(name) for name in counts], list(counts.values()))
    wanted = wanted[rng.permutation(MAX_UNITS)]
    bits = _draw_bits(context, MAX_UNITS, rng)
    first, last = (tree.nodes.index(name) for name in pair)
    parts = []
    for component in tree.components[first:last]:
        high, low, weights = component_tables(context, component)
        parts.append((list(component[1:]), np.where(low, 0, np.where(high, 1, 2)), weights))
    masses = [np.bincount(kinds, weights, 3).tolist() for _, kinds, weights in parts]
    asked = _component_cells(wanted, masses, rng)
    for (rows, kinds, weights), asked_kinds in zip(parts, asked, strict=True):
        chosen = np.zeros(MAX_UNITS, dtype=np.int64)
        for k in range(-1, 3):
            here = asked_kinds == k
            if here.any():
                allowed = weights if k < 0 else np.where(kinds == k, weights, 0)
                sums = np.cumsum(allowed)
                drawn = rng.integers(0, sums[-1], int(here.sum()))
                chosen[here] = np.searchsorted(sums, drawn, side="right")
        bits[rows] = model.patterns(len(rows))[:, chosen]
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
