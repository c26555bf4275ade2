"""One episode whose readings have errors, drawn so that a good plan of experiments decides it.

Properties obey linear equations; frequency's has squares and products. Records come from crystals
whose bases lie in the middle of the range, and the reactor is one whose frequency lies outside
what they show and far from the straight line through them.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np

from builder.attempts import Rejected
from builder.causal.graph import LatentDAG
from builder.causalab.make.episode import (
    DISPLAY,
    REACTOR_DRAWS,
    REACTOR_RANGES,
    Parts,
)
from builder.causalab.make.equations import BASES
from builder.causalab.noisy.cholesky import solved
from builder.causalab.noisy.decided import Law, Outcome, play
from builder.causalab.noisy.notebook import Told
from builder.causalab.plan.suites import Errors, Suite
from builder.causalab.plan.topology import FREQUENCY, properties
from builder.scm.equation import Array
from builder.seeds import hmac_key, stream
from grader.laboratory.episode import CommonCause
from grader.laboratory.model import Crystal, Model, Product, Term
from grader.laboratory.noise import Noise

WEIGHTS: Final = (0.5, 1.2)
"""Size of what a unit of a cause adds to a property."""
SLOPES: Final = (0.6, 1.6)
"""Size of a linear coefficient of frequency."""
CURVES: Final = (0.01, 0.02)
"""Size of a coefficient of a square or a product."""
SQUARES: Final = 0.6
"""How often a cause of frequency has a square."""
RECORD_BASES: Final = (30.0, 70.0)
"""Range of the bases behind the records."""
COMMON: Final = (0.6, 1.2)
"""Size of what a unit of the unmeasured cause adds."""
AMOUNTS: Final = (-50.0, 50.0)
"""Range of how much of it a crystal has."""
OUTSIDE: Final = 0.25
"""The target is outside the records' range by this share of it, and more."""
MISSED: Final = 3.0
"""The straight line through the records misses the target by so many tolerances, and more."""
FIRST_DRAWS: Final = 20
DRAWS: Final = 200
ACCURATE: Final = 0.9
"""Share of the planner's sessions whose prediction is accurate, at least."""
DECIDED: Final = 0.6
"""Share of the edges that are decided, at least."""


class _Drawn:
    """The hidden side of an episode before anything is read."""

    def __init__(self, graph: LatentDAG, suite: Suite, key: bytes) -> None:
        assert suite.errors is not None
        self.names, self.errors = properties(graph), suite.errors
        rng = stream(key, "equations")
        terms = {name: self._terms(graph, name, rng) for name in graph.nodes}
        causes = graph.parents(FREQUENCY)
        pairs = list(combinations(causes, 2))
        first, second = pairs[int(rng.integers(len(pairs)))]
        self.products = (Product(first, second, _signed(CURVES, rng, 4)),)
        base = round(float(rng.uniform(10, 30)), 2)
        self.model = Model.make(self.names, FREQUENCY, terms, base, self.products)
        crystals = stream(key, "crystals")
        self.records = [self._bases(RECORD_BASES, crystals) for _ in range(suite.observations)]
        self.manipulator = self._bases(BASES, crystals)
        self.common = self._common(suite, stream(key, "common cause"))
        self.noise = Noise(self.errors.noise, hmac_key(key, "noise"))
        self.shown = [
            self.noise.of_record(k, self.model.read(bases, self._added(k)))
            for k, bases in enumerate(self.records)
        ]
        start = Crystal(self.model, self.manipulator, "shift", (), self.added)
        self.opening = self.noise.after((), start.read())
        self.reactor = self._reactor(stream(key, "reactor"))
        self.seen = self.model.read(self.reactor, self._reactor_added)

    def _terms(self, graph: LatentDAG, name: str, rng: np.random.Generator) -> list[Term]:
        if name != FREQUENCY:
            return [Term(parent, _signed(WEIGHTS, rng, 2)) for parent in graph.parents(name)]
        return [
            Term(
                parent,
                _signed(SLOPES, rng, 2),
                _signed(CURVES, rng, 4) if rng.random() < SQUARES else 0.0,
            )
            for parent in graph.parents(name)
        ]

    def _bases(self, bounds: tuple[float, float], rng: np.random.Generator) -> dict[str, float]:
        drawn = rng.uniform(*bounds, len(self.names))
        return {name: round(float(v), 2) for name, v in zip(self.names, drawn, strict=True)}

    def _common(self, suite: Suite, rng: np.random.Generator) -> CommonCause | None:
        if not self.errors.common_cause:
            return None
        chosen = rng.choice(len(self.names), 2, replace=False)
        weights = {self.names[int(i)]: _signed(COMMON, rng, 2) for i in sorted(chosen)}
        amounts = [round(float(v), 2) for v in rng.uniform(*AMOUNTS, suite.observations + 2)]
        return CommonCause(weights, tuple(amounts[:-2]), amounts[-2], amounts[-1])

    def _added(self, record: int) -> dict[str, float]:
        return self.common.adds(self.common.records[record]) if self.common else {}

    @property
    def added(self) -> dict[str, float]:
        """What the common cause adds to the manipulator's properties."""
        return self.common.adds(self.common.manipulator) if self.common else {}

    @property
    def _reactor_added(self) -> dict[str, float]:
        return self.common.adds(self.common.reactor) if self.common else {}

    def _reactor(self, rng: np.random.Generator) -> dict[str, float]:
        """Bases of a reactor crystal that is far from what the records show."""
        low, high = REACTOR_RANGES["wide"]
        frequencies = [record[FREQUENCY] for record in self.shown]
        least, most = min(frequencies), max(frequencies)
        line = _straight_line(self.names, self.shown)
        for _ in range(REACTOR_DRAWS):
            bases = self._bases((float(BASES[0]), float(BASES[1])), rng)
            seen = self.model.read(bases, self._reactor_added)
            value = seen[FREQUENCY]
            beyond = max(least - value, value - most)
            missed = abs(_on_line(line, self.names, seen) - value)
            far = beyond > OUTSIDE * (most - least) and missed > MISSED * self.errors.tolerance
            if far and low <= value <= high:
                return bases
        raise Rejected("no reactor crystal far from what the records show")

    @property
    def law(self) -> Law:
        """The same for the simulation."""
        place = {name: i for i, name in enumerate(self.names)}
        count = len(self.names)
        weights, products = np.zeros((count, count)), np.zeros((count, count))
        for name in self.names:
            for term in self.model.equations[name]:
                weights[place[name], place[term.parent]] = term.linear
        slopes, squares = np.zeros(count), np.zeros(count)
        for term in self.model.equations[FREQUENCY]:
            slopes[place[term.parent]] = term.linear
            squares[place[term.parent]] = term.quadratic
        for one in self.products:
            first, second = sorted((place[one.first], place[one.second]))
            products[first, second] = one.coefficient
        order = [node for node, _ in self.model.plan if node < count]
        start = np.array([self.manipulator[name] for name in self.names])
        added = np.array([self.added.get(name, 0.0) for name in self.names])
        base = self.model.base
        return Law(order, weights, base, slopes, squares, products, start, added)


def draw_noisy(graph: LatentDAG, suite: Suite, key: bytes) -> Parts:
    """An episode of a noisy ``suite``, everything random about it from the instance's ``key``.

    Raises :class:`Rejected` where the planner's sessions decide too little of it.
    """
    assert suite.errors is not None
    drawn = _Drawn(graph, suite, key)
    public = _public(drawn, suite, suite.errors)
    told, law, target = Told.of(public), drawn.law, drawn.seen[FREQUENCY]
    # A few draws tell what will not do; the others are spent on what may.
    for name, draws in (("first", FIRST_DRAWS), ("planner", DRAWS)):
        outcome = play(told, law, target, stream(key, name), draws)
        accurate = float((outcome.errors <= suite.errors.tolerance).mean())
        if accurate < ACCURATE:
            raise Rejected("the planner's prediction misses too often")
    undecided = _undecided(drawn.names, outcome)
    open_edges = sum(edge in undecided for edge in graph.edges)
    if len(graph.edges) - open_edges < DECIDED * len(graph.edges):
        raise Rejected("the planner decides too few edges")
    return Parts(public, _private(drawn, suite, undecided, accurate))


def _undecided(names: tuple[str, ...], outcome: Outcome) -> list[tuple[str, str]]:
    nodes = (*names, FREQUENCY)
    return sorted(
        (parent, node)
        for i, node in enumerate(nodes)
        for j, parent in enumerate(names)
        if i != j and not outcome.decided(i, j)
    )


def _public(drawn: _Drawn, suite: Suite, errors: Errors) -> dict[str, Any]:
    low, high = (float(end) for end in BASES)
    return {
        "variables": [
            {"name": name, "display": DISPLAY[name], "controllable": True, "low": low, "high": high}
            for name in drawn.names
        ],
        "target": {"name": FREQUENCY, "display": DISPLAY[FREQUENCY]},
        "family": suite.family,
        "mode": "shift",
        "frequency_may_be_parent": False,
        "shifts": [],
        "records": drawn.shown,
        "chain": [],
        "opening": drawn.opening,
        "reactor": {name: drawn.seen[name] for name in drawn.names},
        "reactor_range": list(REACTOR_RANGES["wide"]),
        "budget": suite.budget,
        "tolerance": errors.tolerance,
        "noise": errors.noise,
        "common_cause": errors.common_cause,
        "record_bases": list(RECORD_BASES),
    }


def _private(
    drawn: _Drawn, suite: Suite, undecided: list[tuple[str, str]], accurate: float
) -> dict[str, Any]:
    common = drawn.common
    return {
        "suite": suite.name,
        "setting": "noisy",
        "regime": f"{suite.observations}o{suite.budget}i",
        "equations": {
            node: [
                {"parent": t.parent, "linear": t.linear, "quadratic": t.quadratic} for t in terms
            ]
            for node, terms in drawn.model.equations.items()
        },
        "products": [
            {"first": one.first, "second": one.second, "coefficient": one.coefficient}
            for one in drawn.products
        ],
        "base": drawn.model.base,
        "records": drawn.records,
        "manipulator": drawn.manipulator,
        "reactor": drawn.reactor,
        "disturbance": None,
        "common_cause": None
        if common is None
        else {
            "weights": dict(common.weights),
            "records": list(common.records),
            "manipulator": common.manipulator,
            "reactor": common.reactor,
        },
        "noise_key": drawn.noise.key.hex(),
        "undecided": [list(pair) for pair in undecided],
        "accurate": accurate,
        "frequency": drawn.seen[FREQUENCY],
    }


def _signed(bounds: tuple[float, float], rng: np.random.Generator, digits: int) -> float:
    sign = 1.0 if rng.random() < 0.5 else -1.0
    return sign * round(float(rng.uniform(*bounds)), digits)


def _straight_line(names: tuple[str, ...], shown: list[dict[str, float]]) -> Array:
    """Frequency regressed on all properties of the records: coefficients, the constant last."""
    rows = np.array([[*((record[name] - 50.0) / 50.0 for name in names), 1.0] for record in shown])
    left = np.array([record[FREQUENCY] for record in shown])
    gram = (rows[:, :, None] * rows[:, None, :]).sum(axis=0)
    for i in range(len(gram)):
        gram[i, i] += 1e-9
    found, _ = solved(gram, (rows * left[:, None]).sum(axis=0)[:, None])
    return found[:, 0]


def _on_line(line: Array, names: tuple[str, ...], seen: Mapping[str, float]) -> float:
    total = float(line[-1])
    for coefficient, name in zip(line[:-1], names, strict=True):
        total += float(coefficient) * (seen[name] - 50.0) / 50.0
    return total
