"""Drawing contexts of the frontier exam, and what is asked of them.

A pair is asked about only where its cause is neither root nor cutpoint and shares a cause with the
effect, where harm and benefit are both possible, and where seeing is not doing: the difference of
conditional probabilities misses the ATE.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from operator import or_
from typing import Final, TypeVar

import numpy as np

from builder.attempts import Rejected, listed
from builder.ccr.ask.themes import THEMES, Words
from builder.ccr.frontier.cases import Cases, choose_cases
from builder.ccr.frontier.effects import Enumeration, Estimand, Evidence
from builder.ccr.make.graph import Pair, numbered
from builder.ccr.make.model import BooleanContext, Operator
from builder.ccr.make.quantities import Quantities
from builder.seeds import stream
from grader.errors import UsageError

NODES: Final = (7, 9)
"""Least and most variables of a context."""

DENIED: Final = 0.35
"""The chance that a parent enters a function by its denial."""

RANGE: Final = (Fraction(3, 100), Fraction(95, 100))
"""Where PNS, PN, PS and the size of the ATE lie, so that 10% of each can be told from 0."""

LEAST_HARM: Final = Fraction(3, 100)
"""``PNS - ATE``: the share of cases in which the cause prevents the effect."""

MISSED: Final = Fraction(15, 100)
"""By how much of the ATE, at least, the difference of conditional probabilities misses it; so much
must evidence change a value, too, to be asked about."""

LEAST_SEEN: Final = Fraction(1, 10)
"""The least probability of evidence."""

MAX_TRIES: Final = 4000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A context with its words, and what is asked: estimands, or the cases of a simulation."""

    context: BooleanContext
    words: Words
    asked: tuple[Estimand, ...]
    cases: Cases | None
    rejections: Mapping[str, int]


Asker = Callable[[Enumeration, np.random.Generator], tuple[tuple[Estimand, ...], Cases | None]]
"""What a variant asks of a context; raises ``Rejected`` with the reason where it can ask
nothing."""


def draw(variant: str, theme: str, tenths: tuple[int, int], key: bytes, where: str) -> Drawn:
    """The first context of which the variant can be asked, under the theme's names.

    Raises ``UsageError`` after ``MAX_TRIES``.
    """
    rng = stream(key, "world")

    def attempt() -> tuple[BooleanContext, tuple[Estimand, ...], Cases | None]:
        context = random_context(tenths, rng)
        if {node for edge in context.dag.edges for node in edge} < {*context.dag.nodes}:
            raise Rejected("a variable that is joined to none")
        return context, *ASKERS[variant](Enumeration(context), rng)

    (context, asked, cases), rejections = accepted(attempt, f"{where}: no context for {variant}")
    words = THEMES[theme](context.tenths, stream(key, "words"))
    names = dict(zip(context.dag.nodes, words.names, strict=True))
    told = replace(context, dag=numbered(context.parents, words.names))
    asked = tuple(estimand.renamed(names) for estimand in asked)
    return Drawn(told, words, asked, cases and cases.renamed(names), rejections)


def accepted(attempt: Callable[[], T], wanted: str) -> tuple[T, Mapping[str, int]]:
    """The first of ``MAX_TRIES`` tries that is not rejected, and the reasons why others were.

    Raises ``UsageError`` where there is none.
    """
    rejections: Counter[str] = Counter()
    while rejections.total() < MAX_TRIES:
        try:
            return attempt(), rejections
        except Rejected as rejected:
            rejections[rejected.reason] += 1
    raise UsageError(f"{wanted} in {MAX_TRIES} draws: {listed(rejections)}; widen probability")


def random_context(tenths: tuple[int, int], rng: np.random.Generator) -> BooleanContext:
    """A context of 7 to 9 nodes, most of them drawn freely.

    Roots, then causes with parents among all before; then two nodes that the last cause moves in
    opposite ways, and an effect of both and of a root; then descendants of the cause. Without the
    two ways, each open where the other is shut, harm beside benefit would be rare.
    """
    wanted = int(rng.integers(NODES[0], NODES[1] + 1))
    roots, causes = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    parents: list[dict[int, bool]] = [{} for _ in range(roots)]
    own = _operators(roots, rng)
    among = list(own)

    def add(fixed: dict[int, bool], further: int, ways: tuple[Operator, Operator] | None) -> None:
        others = rng.permutation(len(parents))[: int(rng.integers(0, further + 1))].tolist()
        parents.append({node: bool(rng.random() < DENIED) for node in others} | fixed)
        first, second = ways or tuple(_operators(2, rng))
        own.append(first)
        among.append(second if len(parents[-1]) > 1 else first)

    for _ in range(causes):
        add({int(rng.integers(roots)): bool(rng.random() < DENIED)}, 1, None)
    cause = len(parents) - 1
    way, join = _OPENINGS[int(rng.integers(2))]
    for denial in (False, True):
        add({cause: denial}, int(rng.random() < 0.3), (way, way))
    shared = {int(rng.integers(cause)): bool(rng.random() < DENIED)}
    add({cause + 1: False, cause + 2: False} | shared, 0, (_operators(1, rng)[0], join))
    while len(parents) < wanted:
        add({int(rng.integers(cause, len(parents))): bool(rng.random() < DENIED)}, 1, None)
    rows = [sorted(row) for row in parents]
    denied = tuple(tuple(row[p] for p in sorted(row)) for row in parents)
    odds = tuple(rng.integers(tenths[0], tenths[1] + 1, len(rows)).tolist())
    return BooleanContext(numbered(rows), tuple(own), tuple(among), odds, denied)


_OPENINGS: Final[tuple[tuple[Operator, Operator], ...]] = (("and", "or"), ("or", "and"))
"""How a way is opened by its own bit, and how two such ways are joined."""


def _operators(count: int, rng: np.random.Generator) -> list[Operator]:
    return ["or" if drawn else "and" for drawn in (rng.random(count) < 0.5).tolist()]


def confounded_pairs(context: BooleanContext) -> Iterator[Pair]:
    """Every pair whose cause has a cause that also acts on the effect past it."""
    nodes = context.dag.nodes
    above = _upstream(context.parents, None)
    for x, cause in enumerate(nodes):
        past = _upstream(context.parents, x)
        for y in range(x + 1, len(nodes)):
            if above[y] >> x & 1 and above[x] & past[y] & ~(1 << x):
                yield cause, nodes[y]


def _upstream(parents: Sequence[Sequence[int]], without: int | None) -> list[int]:
    """Each node with all that reaches it, as a bit mask; not by way of the node ``without``."""
    masks: list[int] = []
    for node, row in enumerate(parents):
        reached = [masks[p] for p in row if p != without]
        masks.append(reduce(or_, reached, 1 << node))
    return masks


def tellable(values: Quantities) -> bool:
    """Whether all four measures are far enough from 0 and 1, and harm from 0."""
    low, high = RANGE
    inside = all(low <= values[name] <= high for name in ("pns", "pn", "ps"))
    return inside and abs(values["ate"]) >= low and values["pns"] - values["ate"] >= LEAST_HARM


def seeing_misses(seen: Fraction, values: Quantities) -> bool:
    """Whether the difference of conditional probabilities is not the ATE."""
    return abs(seen - values["ate"]) >= MISSED * abs(values["ate"])


def _pairs(table: Enumeration, evidence: Evidence = ()) -> list[Pair]:
    """The pairs that can be asked about under some evidence."""
    known = {name for name, _ in evidence}
    return [
        pair
        for pair in confounded_pairs(table.context)
        if not known & {*pair}
        and tellable(values := table.quantities(pair, evidence))
        and seeing_misses(table.conditioned(pair, evidence), values)
    ]


def _some(found: Sequence[T], count: int, reason: str, rng: np.random.Generator) -> list[T]:
    if len(found) < count:
        raise Rejected(reason)
    return [found[k] for k in rng.permutation(len(found))[:count]]


def _direct(
    table: Enumeration, rng: np.random.Generator
) -> tuple[tuple[Estimand, ...], Cases | None]:
    """ATE, PNS and PN of one pair; ATE, PNS and PS of another."""
    first, second = _some(_pairs(table), 2, "fewer than two pairs to ask about", rng)
    asked = [Estimand(measure, *first) for measure in ("ate", "pns", "pn")]
    asked += [Estimand(measure, *second) for measure in ("ate", "pns", "ps")]
    return tuple(_some(asked, len(asked), "", rng)), None


def _evidence(
    table: Enumeration, rng: np.random.Generator
) -> tuple[tuple[Estimand, ...], Cases | None]:
    """Two measures of each of two pairs, given two other nodes, where these change the values."""
    fitting: list[tuple[Pair, Evidence]] = []
    nodes = _some(table.context.dag.nodes, 5, "", rng)
    for both in combinations(nodes, 2):
        so = tuple((name, bool(rng.random() < 0.5)) for name in both)
        if table.mass(table.event(so)) < LEAST_SEEN * int(table.weights.sum()):
            continue
        fitting += [
            (pair, so)
            for pair in _pairs(table, so)
            if _changed(table.quantities(pair), table.quantities(pair, so))
        ]
    chosen = _some(fitting, 2, "fewer than two pairs that evidence tells apart", rng)
    measures = _some([("pns", "pn"), ("ate", "ps")], 2, "", rng)
    asked = [
        Estimand(measure, *pair, so)
        for (pair, so), row in zip(chosen, measures, strict=True)
        for measure in row
    ]
    return tuple(_some(asked, len(asked), "", rng)), None


def _changed(without: Quantities, given: Quantities) -> bool:
    """Whether at most one of the four measures is nearly the same without the evidence."""
    far = [abs(given[name] - without[name]) > MISSED * abs(given[name]) for name in given]
    return sum(far) >= 3


def _simulation(
    table: Enumeration, rng: np.random.Generator
) -> tuple[tuple[Estimand, ...], Cases | None]:
    (pair,) = _some(_pairs(table), 1, "no pair to ask about", rng)
    return (), choose_cases(table, pair, rng)


ASKERS: Final[Mapping[str, Asker]] = {
    "frontier.direct": _direct,
    "frontier.evidence": _evidence,
    "frontier.simulation": _simulation,
}
"""What asks of a Boolean context, by variant."""
