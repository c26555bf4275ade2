"""Deductions on a graph that is told: which values follow, which do not, which cannot be.

A graph is a chain of components, each of one or two paths between its ends. The ends are cutpoints;
an inner node is none, because the other path leads past it. All functions are monotone, every
variable has a condition of its own, and a direct cause may make no difference.

What follows (:class:`builder.ccr.make.quantities.Response`): a pair of ends is two numbers,
``P(y_x)`` and ``P(y_x')``; they compose along the chain, any two of PNS, PN and PS give the third,
and PN is at least PNS. Of an inner node d between ends a and b neither ``PNS(a, d)`` nor
``PNS(d, b)`` determines anything of (a, b), as b may ignore d; but in each case in which d follows
a and b would follow d, whatever a is, b follows a: so ``PNS(a, b) >= PNS(a, d) PNS(d, b)``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from builder.attempts import Rejected
from builder.ccr.ask.questions import Verdict
from builder.ccr.make.graph import Pair
from builder.ccr.make.quantities import Response, from_response
from builder.seeds import pick

MEASURES: Final = ("pns", "pn", "ps")

MOST_NAMES: Final = 16
"""Variables of the largest graph: three components with two inner nodes on either path."""

CONTRADICTION: Final = (8, 20)
"""By how many percent a contradictory value is off: little more than rounding, but more."""

NEAR: Final = (Fraction(92, 100), Fraction(985, 1000))
"""What is close to 1, the edge of what can be."""

APART: Final = Fraction(110, 100)
"""By which factor, at least, a whole exceeds the product by way of an inner node."""


SPREAD: Final = Fraction(13, 10)
"""The least ratio of two values that a question without an answer may have."""


@dataclass(frozen=True, slots=True)
class Known:
    """A measure of a pair, and its value where it is given."""

    measure: str
    pair: Pair
    value: Fraction = Fraction(0)

    @property
    def text(self) -> str:
        """Such as ``PNS(A, B)``."""
        return f"{self.measure.upper()}({', '.join(self.pair)})"


@dataclass(frozen=True, slots=True)
class Question:
    """What is given, what is asked, and the right answer; ``value`` is there exactly when it is
    ``value``."""

    edges: tuple[Pair, ...]
    givens: tuple[Known, ...]
    target: Known
    verdict: Verdict
    value: Fraction | None


@dataclass
class Chain:
    """A graph under construction: ends, what each component does, and its inner nodes.

    ``inner`` are the two paths of each component (none: a single edge).
    """

    rng: np.random.Generator
    names: list[str]
    ends: list[str] = field(default_factory=list)
    steps: list[Response] = field(default_factory=list)
    inner: list[tuple[list[str], list[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ends.append(self.names.pop())

    def add(self, step: Response | None = None, inner: int = 0) -> None:
        """One more component: drawn freely if no ``step`` is given, with ``inner`` nodes or more
        on its first path."""
        first = max(inner, int(self.rng.integers(0, 3)))
        second = int(self.rng.integers(0, 3)) if first else 0
        self.inner.append(
            ([self.names.pop() for _ in range(first)], [self.names.pop() for _ in range(second)])
        )
        self.ends.append(self.names.pop())
        self.steps.append(step or drawn_step(self.rng))

    @property
    def edges(self) -> tuple[Pair, ...]:
        """All edges, in random order."""
        found: list[Pair] = []
        for k, paths in enumerate(self.inner):
            for path in paths if any(paths) else paths[:1]:
                nodes = [self.ends[k], *path, self.ends[k + 1]]
                found += pairwise(nodes)
        return tuple(found[k] for k in self.rng.permutation(len(found)))

    def response(self, first: int, last: int) -> Response:
        """What the end ``last`` does when the end ``first`` is set."""
        found = self.steps[first]
        for step in self.steps[first + 1 : last]:
            found = found.then(step)
        return found

    def known(self, measure: str, first: int, last: int, factor: Fraction = Fraction(1)) -> Known:
        """A measure of two ends; multiplied by ``factor``, which contradicts unless it is 1."""
        value = from_response(self.response(first, last))[measure]
        return Known(measure, (self.ends[first], self.ends[last]), factor * value)

    def two(self, first: int, last: int) -> list[Known]:
        """Two measures of two ends: they give everything."""
        left = int(self.rng.integers(3))
        return [self.known(name, first, last) for k, name in enumerate(MEASURES) if k != left]

    def ask(self, known: Known, givens: Sequence[Known], verdict: Verdict) -> Question:
        """The question, its givens in random order."""
        order = tuple(givens[k] for k in self.rng.permutation(len(givens)))
        value = known.value if verdict == "value" else None
        return Question(self.edges, order, Known(known.measure, known.pair), verdict, value)


def drawn_step(rng: np.random.Generator, rise: tuple[int, int] = (30, 80)) -> Response:
    """Two numbers in hundredths, their difference in the range ``rise``."""
    high = int(rng.integers(rise[0] + 3, 98))
    least = max(3, high - rise[1])
    low = int(rng.integers(least, high - rise[0] + 1)) if high - rise[0] >= least else least
    return Response(Fraction(high, 100), Fraction(low, 100))


def _factor(rng: np.random.Generator, *, up: bool | None = None) -> Fraction:
    """A contradictory factor, up or down."""
    size = Fraction(int(rng.integers(CONTRADICTION[0], CONTRADICTION[1] + 1)), 100)
    raised = bool(rng.random() < 0.5) if up is None else up
    return 1 + size if raised else 1 - size


def _near(value: Fraction) -> Fraction:
    if not NEAR[0] <= value <= NEAR[1]:
        raise Rejected("not close to the edge")
    return value


# --- What has a value, and what contradicts by as little ------------------------------------------


def _convert(chain: Chain, verdict: Verdict) -> Question:
    """The PNS of the whole, PN and PS of all parts but one; or a whole larger than its part."""
    if verdict == "inconsistent":
        return _beyond(chain)
    for _ in range(int(chain.rng.integers(2, 4))):
        chain.add()
    count = len(chain.steps)
    target = int(chain.rng.integers(count))
    others = [k for k in range(count) if k != target]
    givens = [chain.known("pns", 0, count)]
    givens += [chain.known(name, k, k + 1) for k in others for name in ("pn", "ps")]
    return chain.ask(chain.known("pns", target, target + 1), givens, verdict)


def _beyond(chain: Chain) -> Question:
    """A part so large a share of the whole that the rest is close to 1, or beyond it."""
    for _ in range(2):
        chain.add()
    target = int(chain.rng.integers(2))
    other = chain.known("pns", 1 - target, 2 - target)
    whole = Known("pns", (chain.ends[0], chain.ends[2]), other.value * _factor(chain.rng, up=True))
    if whole.value > NEAR[1]:
        raise Rejected("a whole beyond 1")
    givens = [whole, *chain.two(1 - target, 2 - target)]
    return chain.ask(chain.known("pns", target, target + 1), givens, "inconsistent")


def _close(chain: Chain, verdict: Verdict) -> Question:
    """As :func:`_beyond`, where the rest is close to 1 and possible."""
    if verdict == "inconsistent":
        return _beyond(chain)
    near = Response(Fraction(int(chain.rng.integers(96, 100)), 100), Fraction(1, 100))
    target = int(chain.rng.integers(2))
    for k in range(2):
        chain.add(near if k == target else None)
    _near(near.pns)
    givens = [chain.known("pns", 0, 2), *chain.two(1 - target, 2 - target)]
    return chain.ask(chain.known("pns", target, target + 1), givens, verdict)


def _necessity(chain: Chain, verdict: Verdict) -> Question:
    """PNS and PN (or PS) of one pair, the second little above the first, or below it."""
    rng = chain.rng
    low, high = (int(n) for n in (rng.integers(5, 40), rng.integers(93, 98)))
    step = Response(Fraction(high, 100), Fraction(low, 100))
    if mirrored := bool(rng.random() < 0.5):
        step = Response(1 - step.low, 1 - step.high)
    place = int(rng.integers(2))
    for k in range(2):
        chain.add(step if k == place else None)
    first, second = ("ps", "pn") if mirrored else ("pn", "ps")
    # PN = PNS / P(y_x) with P(y_x) close to 1; mirrored: PS = PNS / P(y'_x') in the same way.
    factor = (
        Fraction(1) if verdict == "value" else step.pns / chain.known(first, place, place + 1).value
    )
    if verdict != "value":
        factor *= _factor(rng, up=False)
    givens = [
        chain.known("pns", place, place + 1),
        chain.known(first, place, place + 1, factor),
        *chain.two(1 - place, 2 - place),
    ]
    target = chain.known(second, place, place + 1)
    if bool(rng.random() < 0.5):
        target = chain.known(("pn", "ps")[int(rng.integers(2))], 0, 2)
    return chain.ask(target, givens, verdict)


def _compose(chain: Chain, verdict: Verdict) -> Question:
    """Two measures of either part, PN or PS of the whole; or a PNS of the whole that differs."""
    for _ in range(2):
        chain.add()
    factor = Fraction(1) if verdict == "value" else _factor(chain.rng)
    givens = [*chain.two(0, 1), *chain.two(1, 2)]
    if verdict != "value" or chain.rng.random() < 0.5:
        givens.append(chain.known("pns", 0, 2, factor))
    return chain.ask(chain.known(("pn", "ps")[int(chain.rng.integers(2))], 0, 2), givens, verdict)


def _divide(chain: Chain, verdict: Verdict) -> Question:
    """PN and PS of the whole, two measures of a part, one of the other; another of it is asked."""
    for _ in range(2):
        chain.add()
    part = int(chain.rng.integers(2))
    factor = Fraction(1) if verdict == "value" else _factor(chain.rng)
    givens = [chain.known(name, 0, 2) for name in ("pn", "ps")] + chain.two(part, part + 1)
    if verdict != "value" or chain.rng.random() < 0.5:
        givens.append(chain.known("pns", 1 - part, 2 - part, factor))
    name = ("pn", "ps")[int(chain.rng.integers(2))]
    return chain.ask(chain.known(name, 1 - part, 2 - part), givens, verdict)


def _inner(chain: Chain, verdict: Verdict) -> Question:
    """The PNS of a pair beside those by way of an inner node: more is possible, less is not."""
    rng = chain.rng
    above, below = drawn_step(rng, (50, 85)).pns, drawn_step(rng, (50, 85)).pns
    product = above * below
    factor = (
        _factor(rng, up=False)
        if verdict == "inconsistent"
        else Fraction(int(rng.integers(110, 150)), 100)
    )
    rise = product * factor
    low = Fraction(int(rng.integers(3, 10)), 100)
    if rise + low > Fraction(97, 100):
        raise Rejected("a rise that is too large")
    place = int(rng.integers(2))
    for k in range(2):
        chain.add(Response(low + rise, low) if k == place else None, inner=int(k == place))
    node = chain.inner[place][0][0]
    givens = [
        chain.known("pns", 0, 2),
        chain.known("pns", place, place + 1),
        Known("pns", (chain.ends[place], node), above),
        Known("pns", (node, chain.ends[place + 1]), below),
    ]
    return chain.ask(chain.known("pns", 1 - place, 2 - place), givens, verdict)


def _cut(chain: Chain, verdict: Verdict) -> Question:
    """The same where the middle node is a cutpoint: the product, and neither more nor less."""
    for _ in range(3):
        chain.add()
    place = int(chain.rng.integers(2))
    factor = Fraction(1) if verdict == "value" else _factor(chain.rng)
    givens = [
        chain.known("pns", 0, 3),
        chain.known("pns", place, place + 2, factor),
        chain.known("pns", place, place + 1),
        chain.known("pns", place + 1, place + 2),
    ]
    rest = (2, 3) if place == 0 else (0, 1)
    return chain.ask(chain.known("pns", *rest), givens, verdict)


# --- What does not follow -------------------------------------------------------------------------


def _past(chain: Chain, verdict: Verdict) -> Question:
    """Both PNS by way of an inner node do not give the pair's."""
    place = int(chain.rng.integers(2))
    for k in range(2):
        chain.add(inner=int(k == place))
    node = chain.inner[place][0][0]
    above, below = (drawn_step(chain.rng).pns for _ in range(2))
    givens = [
        Known("pns", (chain.ends[place], node), above),
        Known("pns", (node, chain.ends[place + 1]), below),
        *chain.two(1 - place, 2 - place),
    ]
    pair = (place, place + 1) if chain.rng.random() < 0.5 else (0, 2)
    return chain.ask(chain.known("pns", *pair), givens, verdict)


def _half(chain: Chain, verdict: Verdict) -> Question:
    """The PNS of a pair and one by way of an inner node do not give the other."""
    place = int(chain.rng.integers(2))
    for k in range(2):
        chain.add(inner=int(k == place))
    node, first, last = chain.inner[place][0][0], chain.ends[place], chain.ends[place + 1]
    whole = chain.steps[place].pns
    # Clear of the whole, so that the other PNS has room on both sides.
    given = max(whole * Fraction(13, 10), drawn_step(chain.rng).pns)
    if given > Fraction(9, 10):
        raise Rejected("no room by way of the inner node")
    givens = [
        chain.known("pns", place, place + 1),
        Known("pns", (first, node), given),
        *chain.two(1 - place, 2 - place),
    ]
    return chain.ask(Known("pns", (node, last)), givens, verdict)


def _one_short(chain: Chain, verdict: Verdict) -> Question:
    """PNS of both parts and PN or PS of one: PN and PS of the whole need one more."""
    for _ in range(2):
        chain.add()
    part = int(chain.rng.integers(2))
    givens = [chain.known("pns", k, k + 1) for k in range(2)]
    name = pick(chain.rng, ("pn", "ps"))
    givens.append(chain.known(name, part, part + 1))
    target = pick(chain.rng, ("pn", "ps"))
    pair = (0, 2) if chain.rng.random() < 0.5 else (1 - part, 2 - part)
    # The part whose PNS alone is given may lie anywhere: at either end the asked value differs.
    rise, values = chain.steps[1 - part].pns, []
    for low in (Fraction(1, 100), Fraction(99, 100) - rise):
        chain.steps[1 - part] = Response(low + rise, low)
        values.append(chain.known(target, *pair).value)
    if max(values) < SPREAD * min(values):
        raise Rejected("a value that is nearly determined")
    return chain.ask(chain.known(target, *pair), givens, verdict)


def _two_missing(chain: Chain, verdict: Verdict) -> Question:
    """Two parts of three are missing."""
    for _ in range(3):
        chain.add()
    given = int(chain.rng.integers(3))
    target = pick(chain.rng, [k for k in range(3) if k != given])
    givens = [chain.known("pns", 0, 3), *chain.two(given, given + 1)]
    return chain.ask(chain.known("pns", target, target + 1), givens, verdict)


Template = Callable[[Chain, Verdict], Question]

_DECIDED: Final[tuple[Template, ...]] = (
    _convert, _close, _necessity, _compose, _divide, _inner, _inner, _cut
)  # fmt: skip
_OPEN: Final[tuple[Template, ...]] = (_past, _past, _half, _one_short, _two_missing)
TEMPLATES: Final[Mapping[Verdict, tuple[Template, ...]]] = {
    "value": _DECIDED,
    "inconsistent": _DECIDED,
    "insufficient": _OPEN,
}
"""How questions with each right answer are made."""


def draw_question(verdict: Verdict, names: Sequence[str], rng: np.random.Generator) -> Question:
    """A question with this answer over variables of these names; raises ``Rejected``."""
    return checked(pick(rng, TEMPLATES[verdict])(Chain(rng, list(names)), verdict))


def checked(question: Question) -> Question:
    """The question, if no value in it is too close to 0 or 1; raises ``Rejected``."""
    values = [given.value for given in question.givens]
    values += [] if question.value is None else [question.value]
    if not all(Fraction(5, 100) <= value <= NEAR[1] for value in values):
        raise Rejected("a value that is too close to 0 or 1")
    return question
