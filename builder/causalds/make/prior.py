"""What the reasons behind a scene's effects make one expect, and whether its numbers bear it out.

Reasons come from the knowledge graph, which says of each whether it implies more or less of the
effect (:mod:`builder.words.knowledge`). Equations follow none of that, so a scene's effect agrees
with its reasons or conflicts with them: a label that stays private.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from builder.causal.graph import LatentDAG
from builder.causalds.plan.types import ScenePlan
from builder.words.knowledge import Sign, domain

Prior = Literal["agrees", "conflicts", "none"]
SIDES: Final[tuple[Prior, Prior]] = ("agrees", "conflicts")
PRIOR: Final = "prior"
"""The member of a truth's target with the label."""

ESTIMANDS: Final = {
    "effect_estimate": ("ATE",),
    "counterfactual_effect": ("ETT",),
    "mediation_effect": ("NDE", "NIE"),
}
"""The effects that variants of these families ask for, as numbers and as signs."""

_UNIT: Final = {"+": 1, "-": -1, "0": 0}


def reasons_of(plan: ScenePlan) -> dict[tuple[str, str], Sign]:
    """The reasons that bear on a scene's effects, as (cause, effect) by name: those of the effects
    that its story tells. A story that implies its graph tells none: there they are those of its
    domain that lead from the treatment to the outcome. Empty in words other than a domain's."""
    if plan.domain is None:
        return {}
    names, found = dict(plan.names), domain(plan.domain)
    if plan.implied is None:
        edges = [(names[a], names[b]) for a, b in plan.edges]
    else:
        graph = LatentDAG(tuple(one.name for one in found.concepts), tuple(found.signs))
        x, y = names[plan.treatment], names[plan.outcome]
        between = (graph.descendants(x) | {x}) & (graph.ancestors(y) | {y})
        edges = [edge for edge in found.signs if between.issuperset(edge)]
    return {edge: found.signs[edge] for edge in edges}


def expected_sign(plan: ScenePlan, estimand: str) -> int:
    """The sign that a scene's reasons imply of an effect, 1 or -1; 0 where they imply none.

    Where no reason is told, what all of a domain's chains imply is expected of every effect.
    """
    if plan.domain is None:
        return 0
    names = dict(plan.names)
    ends = names[plan.treatment], names[plan.outcome]
    return implied_sign(reasons_of(plan), *ends, estimand if plan.implied is None else "ATE")


def implied_sign(signs: Mapping[tuple[str, str], Sign], x: str, y: str, estimand: str) -> int:
    """The sign that reasons imply of the effect of ``x`` on ``y``, 1 or -1; 0 for none.

    Each chain implies the product of its signs, and all chains that the effect is about must imply
    the same: of the NDE the direct one, of the NIE the others, else all there are.
    """
    causes: dict[str, list[str]] = {}
    for cause, effect in signs:
        direct = (cause, effect) == (x, y)
        if estimand not in ("NDE", "NIE") or direct is (estimand == "NDE"):
            causes.setdefault(effect, []).append(cause)

    @cache
    def implied(name: str) -> frozenset[int]:
        """What the chains from ``x`` to a variable imply of it."""
        if name == x:
            return frozenset({1})
        return frozenset(
            one * _UNIT[signs[cause, name]]
            for cause in causes.get(name, ())
            for one in implied(cause)
        )

    found = implied(y)
    return next(iter(found)) if len(found) == 1 else 0


def prior_of(plan: ScenePlan, estimand: str, effect: float | None) -> Prior:
    """Whether the effect has the sign that the reasons imply; it has none where it is 0 or None."""
    expected = expected_sign(plan, estimand)
    if not effect or not expected:
        return "none"
    return "agrees" if effect * expected > 0 else "conflicts"
