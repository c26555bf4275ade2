"""Which statements a story makes: a minimal set with exactly one model, the graph of its scene.

All true statements of every kind are put in an order of preference, drawn anew for each scene;
those that deletion from its end leaves are told. They suffice when the graph can be worked out by
refuting one supposition at a time (:mod:`builder.implied.reasoning`), which proves that it is the
only one. The edges to be named come first, so that the others are found with them in hand;
negations come last, so that they go first.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

import numpy as np

from builder.causal.graph import LatentDAG
from builder.implied.encoding import Edge, Encoding
from builder.implied.enough import Enough
from builder.implied.minimal import minimal_set
from builder.implied.reasoning import Reasoner, Step
from builder.implied.statements import MOST, NEGATIONS, Kind, Statement, Truths
from builder.seeds import shuffled

SHARES: Final = (0.3, 0.9)
"""The least and the largest share of edges that a story may leave unnamed."""

MOST_NAMES: Final = 12
"""The most measured variables of an implied story."""

_PER_NAME: Final[dict[Kind, int]] = {
    "moves": 2, "before": 2, "still": 2, "only_through": 3, "shared": 2, "unshared": 1,
}  # fmt: skip
"""Candidates of a kind, per measured variable, where there are more: enough to choose from."""

_STRONG: Final[dict[Kind, float]] = {
    "only_through": 0.0, "total": 0.5, "causes": 1.0, "effects": 1.0, "shared": 1.2, "moves": 1.4,
    "before": 1.6,
}  # fmt: skip
"""The order that leaves fewest statements, for when the orders drawn leave too many."""

STRICTLY_MINIMAL: Final = 8
"""Up to so many measured variables no statement can be dropped without another graph. Beyond, none
without losing the proof that refutes one supposition at a time: where a proof needs more than that,
it can take a solver minutes, and a reader for ever."""


class CannotImply(Exception):
    """A graph that no story within the limits implies; ``reason`` is counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Implied:
    """What a story states: statements whose one model is the graph of its scene.

    ``share`` is the share of edges between measured variables that was to go unnamed. ``proof`` are
    the refutations by which the graph can be worked out, None where suppositions one under another
    are not enough.
    """

    share: float
    statements: tuple[Statement, ...]
    proof: tuple[Step, ...] | None


def imply(
    rng: np.random.Generator,
    graph: LatentDAG,
    share: float,
    clear: Collection[Edge] | None = None,
) -> Implied:
    """A minimal set of statements with ``graph``, over the names of a story, as its only model.

    Of the edges between measured variables, as many as ``share`` says, to the nearest whole number,
    go unnamed (more where others can be worked out from the rest). Only pairs in ``clear`` are said
    to make a difference (None: any pair with a chain). Raises :class:`CannotImply` when the graph
    is outside the limits, or the statements would be more than ``MOST``.
    """
    if (reason := outside_limits(graph)) is not None:
        raise CannotImply(reason)
    frame = _frame(graph)
    edges = [edge for edge in graph.edges if edge[0] not in graph.latent]
    named = shuffled(rng, edges)[: len(edges) - round(share * len(edges))]
    pool = _candidates(rng, Truths(graph), clear)
    first = [Statement("direct", edge) for edge in named]
    with (
        closing(Encoding(graph.observed)) as encoding,
        closing(Reasoner(encoding, edges)) as reasoner,
    ):
        enough = Enough(encoding, reasoner, edges, first + pool)
        for strong in (False, True):
            order = first + _preferred(rng, pool, edges, strong=strong)
            chosen = minimal_set(order, enough)
            if chosen is not None and len(graph.observed) <= STRICTLY_MINIMAL:
                chosen = minimal_set(chosen, lambda some: not encoding.possible(some))
            if chosen is not None and len(chosen) + len(frame) <= MOST:
                return Implied(share, (*chosen, *frame), reasoner.proof(chosen, nested=True))
    raise CannotImply("a story that implies its graph would be too long")


def certified(graph: LatentDAG, statements: Collection[Statement]) -> bool:
    """Whether ``graph`` is the one model of the statements."""
    truths = Truths(graph)
    if not all(truths.holds(statement) for statement in statements):
        return False
    if not {*_frame(graph)} <= {*statements}:
        return False
    encoding = Encoding(graph.observed)
    try:
        encoding.other_than(edge for edge in graph.edges if edge[0] not in graph.latent)
        return not encoding.possible(statements)
    finally:
        encoding.close()


def inference_steps(graph: LatentDAG, statements: Sequence[Statement]) -> int | None:
    """How many suppositions have to be refuted to work out the graph; None where that is not
    enough."""
    encoding = Encoding(graph.observed)
    try:
        edges = [edge for edge in graph.edges if edge[0] not in graph.latent]
        proof = Reasoner(encoding, edges).proof(statements)
        return None if proof is None else len(proof)
    finally:
        encoding.close()


def outside_limits(graph: LatentDAG) -> str | None:
    """Why no story can imply a graph, if so: an unmeasured variable with a cause, or too few or too
    many measured ones."""
    if any(graph.parents(name) for name in graph.latent):
        return "an implied story has no unmeasured variable with a cause"
    if not 2 <= len(graph.observed) <= MOST_NAMES:
        return f"an implied story has 2 to {MOST_NAMES} measured variables"
    return None


def _frame(graph: LatentDAG) -> list[Statement]:
    """What every story states: the edges of unmeasured variables, and that there is no more."""
    hidden = [name for name in graph.nodes if name in graph.latent]
    reaches = [Statement("reach", (name, *sorted(graph.children(name)))) for name in hidden]
    return [*reaches, Statement("closure")]


def _preferred(
    rng: np.random.Generator, pool: list[Statement], edges: list[Edge], *, strong: bool
) -> list[Statement]:
    """The candidates in an order of preference: negations last, the kinds as they fall.

    That a pair "makes a difference" is said rather where no edge joins it.
    """
    kinds = dict.fromkeys(statement.kind for statement in pool)
    drawn = {kind: float(rng.random()) for kind in kinds}
    base = {kind: _STRONG.get(kind, 0.0) for kind in kinds} if strong else drawn
    joined = set(edges)

    def place(statement: Statement) -> float:
        late = 9.0 if statement.kind in NEGATIONS else 0.0
        plain = 0.5 if statement.kind == "moves" and statement.names in joined else 0.0
        return base[statement.kind] + late + plain + float(rng.random())

    return sorted(pool, key=place)


def _candidates(
    rng: np.random.Generator, truths: Truths, clear: Collection[Edge] | None
) -> list[Statement]:
    """True statements to choose from, every kind but the named edges."""
    by_kind: dict[Kind, list[Statement]] = {}
    for statement in _true(rng, truths, clear):
        by_kind.setdefault(statement.kind, []).append(statement)
    names = len(truths.graph.observed)
    return [
        statement
        for kind, found in by_kind.items()
        for statement in shuffled(rng, found)[: _PER_NAME.get(kind, names) * names]
    ]


def _true(
    rng: np.random.Generator, truths: Truths, clear: Collection[Edge] | None
) -> Iterator[Statement]:
    graph = truths.graph
    names = graph.observed
    for a, b in permutations(names, 2):
        if a not in graph.parents(b):
            yield Statement("not_direct", (a, b))
        if not truths.chain(a, b):
            yield Statement("still", (a, b))
        elif clear is None or (a, b) in clear:
            yield Statement("moves", (a, b))
            for m in names:
                if m not in (a, b) and not truths.chain(a, b, avoiding=m):
                    yield Statement("only_through", (a, b, m))
    for name in names:
        yield Statement("causes", (name,), truths.parents(name))
        yield Statement("effects", (name,), truths.children(name))
    for a, b in combinations(sorted(names), 2):
        yield Statement("shared" if truths.shared(a, b) else "unshared", (a, b))
    # Things that come to pass in one order: what is said of time must never contradict itself.
    order = _some_order(rng, graph)
    for a, b in combinations(order, 2):
        yield Statement("before", (a, b))
    yield Statement("total", (), truths.total())


def _some_order(rng: np.random.Generator, graph: LatentDAG) -> list[str]:
    """The measured variables in a random order with which every edge agrees."""
    order: list[str] = []
    left = shuffled(rng, graph.observed)
    while left:
        free = next(v for v in left if not set(graph.parents(v)) & set(left))
        left.remove(free)
        order.append(free)
    return order
