"""The functional behind a verdict of identification, which can be evaluated.

A verdict that an effect is identifiable is proved by its functional: on any discrete model it must
return the effect that enumeration gives (``finite_models``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cfactors import identify_factor
from expressions import (
    Array,
    Expression,
    Fixed,
    Level,
    Probability,
    Ratio,
    evaluate,
    product,
    total,
)

from builder.graphs.bits import closure
from builder.graphs.graph import LatentDAG
from builder.graphs.identification import (
    Effect,
    is_identifiable,
    is_structural_zero,
    relevant_nodes,
    response_districts,
    split_districts,
)


@dataclass(frozen=True, slots=True)
class Estimand:
    """An identified effect as a functional of the observed distribution.

    The effect is the sum over levels y of the outcome, y times the signed sum of `terms`, each a
    (sub-)probability of Y = y in which the treatment stands at `x0` or `x1`. No terms: the effect
    is structurally zero. `binary_only` marks a functional that holds for a two-valued treatment
    and no other.
    """

    effect: Effect
    treatment: str
    outcome: str
    terms: tuple[tuple[int, Expression], ...]
    binary_only: bool = False

    def evaluate(self, joint: Array, variables: Sequence[str], x0: int = 0, x1: int = 1) -> float:
        """The effect under a discrete joint distribution of shape (k_1, ..., k_n), axis i ranging
        over the levels of ``variables[i]``; levels of the outcome stand for 0, 1, ..."""
        axes = {name: axis for axis, name in enumerate(variables)}
        y_axis = axes[self.outcome]
        assert not self.binary_only or joint.shape[axes[self.treatment]] == 2
        levels: dict[Level, int] = {"x0": x0, "x1": x1}
        y = np.arange(joint.shape[y_axis])
        return sum(
            sign * float(y @ _along(evaluate(expression, joint, axes, levels), y_axis))
            for sign, expression in self.terms
        )


def _along(values: Array, axis: int) -> Array:
    """Return the values along one axis, at the first level of every other.

    Other axes remain only for variables that the functional mentions and does not depend on (the
    instrument of the napkin graph, say), so any level would do.
    """
    flat: Array = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)[:, 0]
    return flat


def identify(
    g: LatentDAG, x: str, y: str, effect: Effect, *, binary_treatment: bool = False
) -> Estimand | None:
    """The functional that gives an effect, None where the verdict says that there is none.

    ``binary_treatment`` matters for "ett" alone.
    """
    if not is_identifiable(g, x, y, effect, binary_treatment=binary_treatment):
        return None
    if is_structural_zero(g, x, y, effect):
        return Estimand(effect, x, y, ())
    if effect == "ate":
        terms = ((1, _response(g, x, y, "x1")), (-1, _response(g, x, y, "x0")))
        return Estimand(effect, x, y, terms)
    if effect == "ett":
        return _binary_ett(g, x, y) if binary_treatment else _split_ett(g, x, y)
    crossed = _crossed_response(g, x, y, effect)
    return Estimand(effect, x, y, ((1, crossed), (-1, _response(g, x, y, "x0"))))


def _factors(g: LatentDAG, x: str, y: str, districts: list[int]) -> list[Expression]:
    projection = g.projection()
    relevant = relevant_nodes(projection, x, y)
    return [
        identify_factor(
            projection, target, closure(target, projection.sibling_masks, relevant), relevant
        )
        for target in districts
    ]


def _assemble(
    g: LatentDAG, x: str, y: str, districts: list[int], levels: list[Level], free: int
) -> Expression:
    """Return the sum, over all nodes but `free`, of the factors, each with X at its level."""
    factors = [
        Fixed(x, level, factor)
        for level, factor in zip(levels, _factors(g, x, y, districts), strict=True)
    ]
    return total(g.projection().names(sum(districts) & ~free), product(factors))


def _response(g: LatentDAG, x: str, y: str, level: Level) -> Expression:
    """Return P(Y(level))."""
    districts = response_districts(g, x, y)
    free = 1 << g.projection().nodes.index(y)
    return _assemble(g, x, y, districts, [level] * len(districts), free)


def _crossed_response(g: LatentDAG, x: str, y: str, effect: Effect) -> Expression:
    """Return P(Y(x1, M(x0))) for the direct effect, P(Y(x0, M(x1))) for the indirect one."""
    districts = response_districts(g, x, y)
    y_bit = 1 << g.projection().nodes.index(y)
    edge: Level = "x1" if effect == "nde" else "x0"
    rest: Level = "x0" if effect == "nde" else "x1"
    # Without the edge X -> Y, every response in Y's own district belongs to the other paths.
    if not g.child_masks[g.index[x]] >> g.index[y] & 1:
        edge = rest
    levels = [edge if district & y_bit else rest for district in districts]
    return _assemble(g, x, y, districts, levels, y_bit)


def _split_ett(g: LatentDAG, x: str, y: str) -> Estimand:
    projection = g.projection()
    x_bit, y_bit = (1 << projection.nodes.index(name) for name in (x, y))
    districts = split_districts(g, x, y)
    levels: list[Level] = ["x1" if district & x_bit else "x0" for district in districts]
    joint = _assemble(g, x, y, districts, levels, x_bit | y_bit)
    treated = Fixed(x, "x1", Probability((x,)))
    observed = Fixed(x, "x1", Probability((y,), (x,)))
    return Estimand("ett", x, y, ((1, observed), (-1, Ratio(joint, treated))))


def _binary_ett(g: LatentDAG, x: str, y: str) -> Estimand:
    treated = Fixed(x, "x1", Probability((x,)))
    untreated = Fixed(x, "x0", Probability((x, y)))
    terms: tuple[tuple[int, Expression], ...] = (
        (1, Fixed(x, "x1", Probability((y,), (x,)))),
        (-1, Ratio(_response(g, x, y, "x0"), treated)),
        (1, Ratio(untreated, treated)),
    )
    return Estimand("ett", x, y, terms, binary_only=True)
