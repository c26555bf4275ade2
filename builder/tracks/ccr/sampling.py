"""Drawing contexts whose quantities can be measured, within :class:`Bounds` (``docs/ccr.md``).
Beyond five components the global PNS shrinks by nature; cut-tree pairs that span two to five
components take its place.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.release.attempts import list_counts
from builder.tracks.ccr.graph import CutTree, Pair, chain, cut_tree, graph_of_parents, parent_lists
from builder.tracks.ccr.model import BooleanContext, LinearContext, Operator
from builder.tracks.ccr.plan import BOUNDS, MEASURED_SPAN, Bounds, Design
from builder.tracks.ccr.quantities import (
    MEDIATED,
    Quantities,
    component_response,
    exact_quantities,
    linear_effect,
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
        tree = cut_tree(context.dag)
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
    """Draw one part for each component, each with a PNS within bounds. Return None when their
    product cannot reach the global bound, or when draws run out. Rejected draws are counted in
    ``rejections`` by reason."""
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
    dag = chain([kind], [size], rng)
    # Over a single parent the second operator joins nothing; it then repeats the first.
    among = tuple(
        a if len(p) > 1 else o for a, o, p in zip(among, own, parent_lists(dag), strict=True)
    )
    tenths = rng.integers(design.tenths[0], design.tenths[1] + 1, size).tolist()
    return BooleanContext(dag, own, among, tuple(tenths))


def _operators(operators: str, size: int, rng: np.random.Generator) -> tuple[Operator, ...]:
    """Return ``size`` operators: all "or", all "and", or drawn node by node."""
    if operators == "or" or operators == "and":
        return (operators,) * size
    return tuple("or" if one else "and" for one in rng.random(size) < 0.5)


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
    return BooleanContext(graph_of_parents(parents), tuple(own), tuple(among), tuple(tenths))


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
        dag = chain(kinds, sizes, rng)
        middle = sizes[0] - 1
        if trap:
            dag = _add_bypass(dag, middle, rng)
        coefficients = tuple(
            tuple(LINEAR_COEFFICIENTS[k] for k in rng.integers(0, len(LINEAR_COEFFICIENTS), len(p)))
            for p in parent_lists(dag)
        )
        context = LinearContext(dag, coefficients)
        ends = (dag.nodes[0], dag.nodes[middle], dag.nodes[-1])
        pairs = [(ends[0], ends[1]), (ends[1], ends[2]), (ends[0], ends[2])]
        if not trap:
            pairs = list(cut_tree(dag).pairs)
        effects = [total_effect(context, *pair) for pair in pairs]
        if any(abs(effect) < LEAST_EFFECT for effect in effects):
            continue
        product = total_effect(context, *pairs[0]) * total_effect(context, *pairs[1])
        if not trap or abs(product - effects[2]) > abs(effects[2]) / 2:
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
    parents = [{*row, before} if v == after else row for v, row in enumerate(parent_lists(dag))]
    return graph_of_parents([sorted(row) for row in parents])
