"""Exact causal quantities of a context, by two independent routes.

:func:`exact_quantities` enumerates each component alone: without confounding, and with monotone
functions, two numbers describe it (:class:`Response`), and all else follows along the chain.
:func:`twin_quantities` eliminates one node of the whole model after another and applies the
definitions (CCR Definitions 2.3, 2.4, B.1, B.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.tracks.ccr import model
from builder.tracks.ccr.model import Bits, BooleanContext, Context, CutTree, LinearContext, Pair

MEDIATED: Final = ("nde", "nie")
"""Natural effects, past a mediator and through it; their sum is the total effect (Example 3.2)."""

Quantities = dict[str, Fraction]
"""Measure (``pns``, ``pn``, ``ps``, ``ate``; for a linear context ``ate`` alone) to its value."""


@dataclass(frozen=True, slots=True)
class Response:
    """``P(effect = 1 | do(cause = 1))`` and ``P(effect = 1 | do(cause = 0))``."""

    high: Fraction
    low: Fraction

    def extended_by(self, later: "Response") -> "Response":
        """Return the response of ``later``'s effect to this cause, through the cutpoint between."""
        rise = later.high - later.low
        return Response(later.low + rise * self.high, later.low + rise * self.low)

    @property
    def pns(self) -> Fraction:
        """Return ``P(y_x, y'_x')``, which by monotonicity is the difference."""
        return self.high - self.low

    @property
    def quantities(self) -> Quantities:
        """Return all four measures without confounding: ``PN = PNS / P(y_x)``, ``PS = PNS /
        P(y'_x')`` (CCR Eq. B.7, B.8), and the ATE, which is the PNS. A quotient by 0 is 0."""
        return {
            "pns": self.pns,
            "pn": self.pns / self.high if self.high else Fraction(0),
            "ps": self.pns / (1 - self.low) if self.low != 1 else Fraction(0),
            "ate": self.pns,
        }


def component_tables(
    context: BooleanContext, component: tuple[int, ...]
) -> tuple[Bits, Bits, NDArray[np.int64]]:
    """Return a component's leaf with root 1, with root 0, and the weight, by pattern of its other
    bits. Each has shape (2^(k - 1),) for k nodes. Weights are probabilities times 10^(k - 1)."""
    root, *others = component
    bits = np.zeros((len(context.tenths), 1 << len(others)), dtype=bool)
    bits[others] = model.patterns(len(others))
    high, low = (
        model.evaluate(context, bits, {root: on}, component)[others[-1]] for on in (True, False)
    )
    return high, low, model.pattern_weights([context.tenths[v] for v in others])


def component_response(context: BooleanContext, component: tuple[int, ...]) -> Response:
    """Return ``P(leaf = 1)`` under do(root = 1) and under do(root = 0), as exact fractions."""
    high, low, weights = component_tables(context, component)
    total = model.TENTHS ** (len(component) - 1)
    return Response(
        Fraction(int(weights[high].sum()), total), Fraction(int(weights[low].sum()), total)
    )


def responses(context: BooleanContext, tree: CutTree) -> dict[Pair, Response]:
    """Return the response of each pair's effect to its cause, for every pair of the cut tree."""
    steps = [component_response(context, component) for component in tree.components]
    return {
        (cause, effect): response
        for start, cause in enumerate(tree.nodes)
        for effect, response in zip(
            tree.nodes[start + 1 :], accumulate(steps[start:], Response.extended_by), strict=True
        )
    }


def exact_quantities(context: Context, tree: CutTree | None = None) -> dict[Pair, Quantities]:
    """Return the exact PNS, PN, PS and ATE by pair of the cut tree, of a linear context the ATE
    alone. Without ``tree`` it is that of the graph; raises ``ValueError`` if there is none."""
    tree = tree or model.cut_tree(context.dag)
    if isinstance(context, LinearContext):
        return {pair: {"ate": total_effect(context, *pair)} for pair in tree.pairs}
    return {pair: response.quantities for pair, response in responses(context, tree).items()}


Triple = tuple[bool, bool, bool]
"""A node's value in the factual world, under do(cause true) and under do(cause false)."""


def twin_quantities(context: BooleanContext, pair: Pair) -> Quantities:
    """Return one pair's quantities by eliminating one node after another, for any size. The state
    is (factual, under do(1), under do(0)) of the nodes still needed. Nothing is assumed about
    components, monotonicity or confounding."""
    x, y = (context.dag.index[name] for name in pair)
    needed = sorted({*model.ancestors(context.dag, x), *model.ancestors(context.dag, y)})
    last = {p: v for v in needed for p in context.parents[v]}
    live: list[int] = []
    states: dict[tuple[Triple, ...], int] = {(): 1}
    for node in needed:
        tenth, grown = context.tenths[node], dict[tuple[Triple, ...], int]()
        kept = [k for k, v in enumerate(live) if v in (x, y) or last.get(v, node) > node]
        for state, weight in states.items():
            values = dict(zip(live, state, strict=True))
            for bit, mass in ((True, tenth), (False, model.TENTHS - tenth)):
                triple = node_worlds(context, node, bit, values)
                if node == x:
                    triple = (triple[0], True, False)
                key = (*(state[k] for k in kept), triple)
                grown[key] = grown.get(key, 0) + weight * mass
        states, live = grown, [*(live[k] for k in kept), node]
    return _from_states(states, live.index(x), live.index(y))


def node_worlds(
    context: BooleanContext, node: int, bit: bool, values: Mapping[int, Triple]
) -> Triple:
    """Return the value of one node in each of the three worlds, given its bit and its parents'
    values there. No intervention on the node itself is applied."""
    if not context.parents[node]:
        return (bit, bit, bit)
    parents = [values[p] for p in context.parents[node]]
    among = any if context.among[node] == "or" else all
    own = any if context.own[node] == "or" else all
    first, second, third = (own((bit, among(row))) for row in zip(*parents, strict=True))
    return first, second, third


def _from_states(states: Mapping[tuple[Triple, ...], int], x: int, y: int) -> Quantities:
    """Return a pair's quantities, by definition, from the weights of joint states; ``x`` and ``y``
    are its places in a state. PN and PS are 0 where their condition never occurs."""
    weights = np.array(list(states.values()), dtype=object)
    cause, factual, high, low = np.array([(state[x][0], *state[y]) for state in states]).T

    def share(event: Bits, given: Bits) -> Fraction:
        """Return the probability of ``event`` where ``given`` holds, 0 if it never does."""
        return Fraction(weights[event & given].sum(), weights[given].sum() or 1)

    anyway = np.ones_like(cause)
    return {
        "pns": share(high & ~low, anyway),
        "pn": share(~low, cause & factual),
        "ps": share(high, ~cause & ~factual),
        "ate": share(high, anyway) - share(low, anyway),
    }


def linear_values(context: LinearContext, do: Mapping[int, Fraction]) -> list[Fraction]:
    """Return every node's mean under an intervention ``do`` (value by index), from the equations in
    causal order. Without an intervention every mean is 0."""
    values: list[Fraction] = []
    for node, parents in enumerate(context.parents):
        rows = zip(parents, context.coefficients[node], strict=True)
        values.append(do.get(node, sum((c * values[p] for p, c in rows), Fraction(0))))
    return values


def total_effect(context: LinearContext, cause: str, effect: str) -> Fraction:
    """Return a linear model's ATE of ``cause`` + 1 by forward propagation (Wright 1921)."""
    place = context.dag.index
    return linear_values(context, {place[cause]: Fraction(1)})[place[effect]]


def linear_effect(context: LinearContext, measure: str, path: Sequence[str]) -> Fraction:
    """Return a linear model's effect of a cause + 1. "nde" is past the mediator of ``path`` (cause,
    mediator, effect) and "nie" through it, as nested counterfactuals (Pearl 2001): Y(x + 1, M(x))
    and Y(x, M(x + 1)), less Y(x). Any other measure is a total effect, a product over ``path``."""
    if measure not in MEDIATED:
        return prod((total_effect(context, *pair) for pair in pairwise(path)), start=Fraction(1))
    x, m, y = (context.dag.index[name] for name in path)
    if measure == "nde":
        return linear_values(context, {x: Fraction(1), m: Fraction(0)})[y]
    raised = linear_values(context, {x: Fraction(1)})
    return linear_values(context, {x: Fraction(0), m: raised[m]})[y]


def path_sum(context: LinearContext, cause: str, effect: str, avoided: str = "") -> Fraction:
    """Return the ATE of ``cause`` + 1 in a linear model as a sum of products over directed paths,
    of those alone that do not meet the node ``avoided`` where one is named."""
    start, node = context.dag.index[cause], context.dag.index[effect]
    without = context.dag.index.get(avoided)

    def paths(v: int) -> Fraction:
        """Return the sum over directed paths from the cause to ``v`` of their products."""
        if v == start:
            return Fraction(1)
        rows = zip(context.parents[v], context.coefficients[v], strict=True)
        return sum((c * paths(p) for p, c in rows if p >= start and p != without), Fraction(0))

    return paths(node)
