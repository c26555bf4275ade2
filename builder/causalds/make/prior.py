"""What the reasons behind a scene's effects make one expect, and whether its numbers bear it out.

Reasons come from the knowledge graph, which says of each whether it implies more or less of the
effect (:mod:`builder.words.knowledge`). Equations follow none of that, so a scene's effect agrees
with its reasons or conflicts with them: a label that stays private.
"""

from functools import cache
from typing import Final, Literal

from builder.causalds.plan.types import ScenePlan
from builder.words.knowledge import Sign, domain

Prior = Literal["agrees", "conflicts", "none"]
PRIOR: Final = "prior"
"""The member of a truth's target with the label."""

ESTIMANDS: Final = {
    "effect_estimate": ("ATE",),
    "counterfactual_effect": ("ETT",),
    "mediation_effect": ("NDE", "NIE"),
}
"""The effects that variants of these families ask for, as numbers and as signs."""

_UNIT: Final = {"+": 1, "-": -1, "0": 0}


def signs_of(plan: ScenePlan) -> dict[tuple[str, str], Sign]:
    """What the reason of every edge implies, by nodes; empty in words other than a domain's."""
    if plan.domain is None:
        return {}
    names, signs = dict(plan.names), domain(plan.domain).signs
    return {(a, b): signs[names[a], names[b]] for a, b in plan.edges}


def expected_sign(plan: ScenePlan, estimand: str) -> int:
    """The sign that the reasons imply of an effect, 1 or -1; 0 where they imply none.

    Each chain from treatment to outcome implies the product of its reasons' signs, and all chains
    that the effect is about must imply the same: of the NDE the direct one, of the NIE the others.
    """
    signs, graph = signs_of(plan), plan.query.graph

    def bears(edge: tuple[str, str]) -> bool:
        direct = edge == (plan.treatment, plan.outcome)
        return direct if estimand == "NDE" else estimand != "NIE" or not direct

    @cache
    def implied(node: str) -> frozenset[int]:
        """What the chains from the treatment to a node imply of it."""
        if node == plan.treatment:
            return frozenset({1})
        return frozenset(
            one * _UNIT[signs[parent, node]]
            for parent in graph.parents(node)
            if bears((parent, node))
            for one in implied(parent)
        )

    if not signs:
        return 0
    found = implied(plan.outcome)
    return next(iter(found)) if len(found) == 1 else 0


def prior_of(plan: ScenePlan, estimand: str, effect: float | None) -> Prior:
    """Whether the effect has the sign that the reasons imply; it has none where it is 0 or None."""
    expected = expected_sign(plan, estimand)
    if not effect or not expected:
        return "none"
    return "agrees" if effect * expected > 0 else "conflicts"
