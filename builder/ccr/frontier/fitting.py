"""Whether models fit the givens of a deduction, by search over explicit models.

The second derivation of a deduction's answer: nothing is deduced. A model is made of response
types: each end of a component always holds, follows the end before it, or never holds; where an
inner node is spoken of, the node has these types and the component's last end one of the six
monotone functions of (first end, node). Searches from several starts find models whose measures are
the givens, or how near any comes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import networkx as nx
import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit

from builder.ccr.ask.questions import Verdict
from builder.ccr.frontier.chains import Known
from builder.ccr.make.graph import Pair

ROUNDING: Final = 0.005
"""The relative error up to which a given counts as met."""

SPREAD: Final = 1.1
"""Values that differ by more than this factor are several."""

STARTS: Final = 8

_TINY: Final = 1e-9

Floats = NDArray[np.float64]

_TYPES: Final = tuple(
    tuple(bool(number >> place & 1) for place in range(4))
    for number in (0b0000, 0b1000, 0b1010, 0b1100, 0b1110, 0b1111)
)
"""The monotone functions of (first end, node): values at (0,0), (1,0), (0,1), (1,1)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The ends of a chain in causal order, and the inner node spoken of in each component."""

    ends: tuple[str, ...]
    inner: tuple[str | None, ...]

    @classmethod
    def of(cls, edges: Sequence[Pair], spoken: Sequence[str]) -> "Layout":
        """Of a graph with one root and one leaf, from its edges alone.

        Raises ``ValueError`` where two inner nodes of one component are spoken of.
        """
        graph: Any = nx.DiGraph(edges)
        order = list(nx.topological_sort(graph))
        cuts = set(nx.articulation_points(nx.Graph(edges)))
        ends = [v for v in order if v in cuts or not graph.in_degree(v) or not graph.out_degree(v)]
        inner: list[str | None] = []
        for first, last in pairwise(ends):
            between = nx.descendants(graph, first) & nx.ancestors(graph, last)
            here = sorted(between & {*spoken})
            if len(here) > 1:
                raise ValueError("two inner nodes of one component")
            inner.append(here[0] if here else None)
        return cls(tuple(ends), tuple(inner))

    @property
    def size(self) -> int:
        """How many numbers describe a model."""
        return 1 + sum(3 if node is None else 9 for node in self.inner)

    def measures(self, numbers: Floats, asked: Sequence[Known]) -> Floats:
        """The measures of the model that these numbers describe; shape (asked,)."""
        found = {**self._chain(numbers)}
        return np.array([found[one.measure, one.pair] for one in asked])

    def _chain(self, numbers: Floats) -> Mapping[tuple[str, Pair], float]:
        found: dict[tuple[str, Pair], float] = {}
        chance, at = float(expit(numbers[0])), 1
        rates: list[tuple[float, float]] = []
        for k, node in enumerate(self.inner):
            always, follows, _ = _shares(numbers[at : at + 3])
            at += 3
            high, low = always + follows, always
            if node is not None:
                first, last = self.ends[k], self.ends[k + 1]
                weights = _shares(numbers[at : at + 6])
                at += 6
                found["pns", (first, node)] = follows
                found["pns", (node, last)] = sum(
                    w * ((1 - chance) * (t[2] and not t[0]) + chance * (t[3] and not t[1]))
                    for w, t in zip(weights, _TYPES, strict=True)
                )
                high, low = (
                    sum(
                        w * (d * t[2 + x] + (1 - d) * t[x])
                        for w, t in zip(weights, _TYPES, strict=True)
                    )
                    for x, d in ((1, high), (0, low))
                )
            rates.append((high, low))
            chance = low + (high - low) * chance
        for start, first in enumerate(self.ends[:-1]):
            high, low = 1.0, 0.0
            for (up, down), last in zip(rates[start:], self.ends[start + 1 :], strict=True):
                high, low = down + (up - down) * high, down + (up - down) * low
                found["pns", (first, last)] = high - low
                found["pn", (first, last)] = (high - low) / max(high, _TINY)
                found["ps", (first, last)] = (high - low) / max(1 - low, _TINY)
        return found


def _shares(numbers: Floats) -> Floats:
    raised = np.exp(numbers - numbers.max())
    shares: Floats = raised / raised.sum()
    return shares


@dataclass(frozen=True, slots=True)
class Fits:
    """What the searches found: the target's values in models that meet the givens, and how far off
    the nearest other model stays (the least sum of squared logarithms)."""

    values: tuple[float, ...]
    nearest: float
    givens: int

    @property
    def answer(self) -> tuple[Verdict | None, float | None]:
        """The right answer, with its value if it has one; ``None`` where the searches do not tell.

        If every given could be met up to rounding, the sum of squares would be at most n times the
        square of one error.
        """
        if not self.values:
            beyond = self.nearest > self.givens * ROUNDING**2
            return ("inconsistent" if beyond else None), None
        if max(self.values) > SPREAD * max(min(self.values), _TINY):
            return "insufficient", None
        return "value", sum(self.values) / len(self.values)


def fit(edges: Sequence[Pair], givens: Sequence[Known], target: Known) -> Fits:
    """Searches from fixed starts."""
    spoken = [name for known in (*givens, target) for name in known.pair]
    layout = Layout.of(edges, spoken)
    wanted = np.log([float(given.value) for given in givens])
    costs, values = [], []

    def missed(numbers: Floats) -> Floats:
        off: Floats = np.log(np.maximum(layout.measures(numbers, givens), _TINY)) - wanted
        return off

    for start in _starts(layout.size):
        found = scipy.optimize.least_squares(
            missed,
            start,
            xtol=1e-10,
            ftol=1e-10,
            gtol=1e-10,
            max_nfev=100,
        )
        costs.append(float((found.fun**2).sum()))
        if np.abs(found.fun).max() < ROUNDING / 5:
            values.append(float(layout.measures(found.x, [target])[0]))
    return Fits(tuple(values), min(costs), len(givens))


def _starts(size: int) -> Iterator[Floats]:
    rng = np.random.Generator(np.random.Philox(key=size))
    for _ in range(STARTS):
        yield rng.normal(0, 1.5, size)
