"""What the reasons behind a scene's effects make one expect, and whether its numbers bear it out.

Reasons come from the knowledge graph, which says of each whether it implies more or less of the
effect (:mod:`builder.words.knowledge`). Equations follow none of that, so a scene's effect agrees
with its reasons or conflicts with them: a label that stays private.
"""

from collections.abc import Mapping
from typing import Final, Literal

from builder.causalds.plan.types import ScenePlan
from builder.words.knowledge import Sign, domain, implied_sign

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

Reasons = Mapping[tuple[str, str], Sign]
"""What is implied by the reason of a direct effect, as (cause, effect) by name."""


def reasons_of(plan: ScenePlan) -> Reasons:
    """The reasons of the effects that a story tells. Empty in words other than a domain's."""
    if plan.domain is None:
        return {}
    names, found = dict(plan.names), domain(plan.domain)
    edges = [(names[a], names[b]) for a, b in plan.edges]
    return {edge: found.signs[edge] for edge in edges}


def expected_sign(plan: ScenePlan, estimand: str) -> int:
    """The sign that a scene's reasons imply of an effect, 1 or -1; 0 where they imply none."""
    if plan.domain is None:
        return 0
    names, reasons = dict(plan.names), reasons_of(plan)
    ends = names[plan.treatment], names[plan.outcome]
    return implied_sign(along(reasons, ends, estimand), *ends)


def along(reasons: Reasons, ends: tuple[str, str], estimand: str) -> Reasons:
    """The reasons of the chains that an effect between two variables is about: of the NDE the
    direct one, of the NIE the others, else all."""
    if estimand not in ("NDE", "NIE"):
        return reasons
    return {edge: sign for edge, sign in reasons.items() if (edge == ends) is (estimand == "NDE")}


def prior_of(plan: ScenePlan, estimand: str, effect: float | None) -> Prior:
    """Whether the effect has the sign that the reasons imply; it has none where it is 0 or None."""
    expected = expected_sign(plan, estimand)
    if not effect or not expected:
        return "none"
    return "agrees" if effect * expected > 0 else "conflicts"
