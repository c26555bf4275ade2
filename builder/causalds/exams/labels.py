"""Which answer a task has, as a class; and which classes a planned scene can be asked for.

A balanced exam takes every class of a variant equally often. Classes of numbers say only whether
there is one: ``abstain``, ``zero``, ``value``.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from builder.causal import (
    Motif,
    ate_identifiable,
    ett_identifiable,
    identification_method,
    nde_identifiable,
    nie_identifiable,
    opens_collider_bias,
    valid_adjustment_sets,
)
from builder.causalds.plan.types import ScenePlan
from grader.variants.causalds import CAUSALDS


def label_class(target: Mapping[str, Any], value: float | None, should_abstain: bool) -> str:
    """The class of a truth: from its target, its number and whether abstaining is right."""
    if "accepted_before" in target:
        same = target["accepted_before"] == target["accepted_after"]
        return "same" if same else "different"
    if "category" in target:
        return str(target["category"])
    if "edges" in target or "rows" in target:
        return "value"
    if "accepted" in target:
        first = target["accepted"][0]
        known = isinstance(first, bool | int | None) or first in _WORDS
        return str(first) if known else "value"
    if should_abstain:
        return "abstain"
    return "zero" if value == 0 else "value"


_WORDS: Final = frozenset(word for variant in CAUSALDS for word in variant.labels)

_Possible = Callable[[ScenePlan, Motif], tuple[str, ...]]

_ANY: Final = ("value",)


def possible_classes(key: str, plan: ScenePlan) -> tuple[str, ...]:
    """The classes that a variant can have in scenes of this plan, as far as the graph decides.

    It is assumed that the plan can host the variant. A class that also depends on the numbers may
    turn out to be rare.
    """
    return _POSSIBLE[key](plan, plan.query)


def _association(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return ("unknown",) if _unrelated(motif) else ("+", "-")


def _size(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return ("zero",) if _unrelated(motif) else _ANY


def _change_signs(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    kinds = {_no_change(motif, z) for z in _others(motif)}
    return (*(("0",) if True in kinds else ()), *(("+", "-") if False in kinds else ()))


def _changes(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    kinds = {_no_change(motif, z) for z in _others(motif)}
    return (*(("zero",) if True in kinds else ()), *(_ANY if False in kinds else ()))


def _before_after(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return ("same", "different")


def _induced(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    absent = _absent(plan, motif)
    present = any(_opens(motif, z) for z in _others(motif))
    return (*(("True",) if present else ()), *(("False",) if absent else ()))


def _induced_sign(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    absent = _absent(plan, motif)
    return ("+", "-", *(("unknown",) if absent else ()))


def _induced_size(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    absent = _absent(plan, motif)
    return (*_ANY, *(("zero",) if absent else ()))


def _bias(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return ("True",) if any(_opens(motif, z) for z in _others(motif)) else ("False",)


def _one(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return _ANY


def _method(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return (identification_method(motif.graph, motif.treatment, motif.outcome),)


def _category(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    if valid_adjustment_sets(motif.graph, motif.treatment, motif.outcome):
        return ("set",)
    return ("no_backdoor",) if _ate(motif) else ("non_id",)


def _smallest(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    sets = valid_adjustment_sets(motif.graph, motif.treatment, motif.outcome)
    return (str(min(map(len, sets))),) if sets else _category(plan, motif)


def _count(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    sets = valid_adjustment_sets(motif.graph, motif.treatment, motif.outcome)
    return (str(len(sets)),) if sets else _category(plan, motif)


def _identifiable(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return (str(_ate(motif)),)


def _counterfactual(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    graph, x, y = motif.graph, motif.treatment, motif.outcome
    verdicts = {_ett(plan, motif)}
    if graph.mediators(x, y):
        verdicts |= {nde_identifiable(graph, x, y), nie_identifiable(graph, x, y)}
    return tuple(sorted(map(str, verdicts)))


def _ate_number(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return _number(motif, _ate(motif))


def _ett_number(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return _number(motif, _ett(plan, motif))


def _ate_sign(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return _sign(motif, _ate(motif))


def _ett_sign(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return _sign(motif, _ett(plan, motif))


def _match(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    if not _ate(motif):
        return ("None",)
    return ("True", "False") if _path(motif) else ("False",)


def _natural(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return tuple(sorted({"value" if one else "abstain" for one in _naturals(motif)}))


def _natural_sign(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    found = _naturals(motif)
    return (*(("+", "-") if any(found) else ()), *(() if all(found) else ("unknown",)))


def _dominance(plan: ScenePlan, motif: Motif) -> tuple[str, ...]:
    return ("direct", "indirect") if all(_naturals(motif)) else ("None",)


_POSSIBLE: Final[Mapping[str, _Possible]] = {
    "prediction.point_predictor": _one,
    "prediction.prediction_interval": _one,
    "association.sign_only": _association,
    "association.effect_size_point": _size,
    "association.sign_before_after": _before_after,
    "association.delta_point": _changes,
    "association.delta_sign_only": _change_signs,
    "association.argmax_change": _one,
    "collider_phenomenon.induced_association_boolean": _induced,
    "collider_phenomenon.induced_association_sign_only": _induced_sign,
    "collider_phenomenon.induced_association_strength_point": _induced_size,
    "causal_sketch.edges_only": _one,
    "causal_sketch.skeleton_edges": _one,
    "identification.one_valid_adjustment_set": _category,
    "identification.method_label": _method,
    "identification.identifiable_boolean": _identifiable,
    "identification.minimal_adjustment_set_size": _smallest,
    "identification.n_valid_adjustment_sets": _count,
    "identification.all_minimal_adjustment_sets": _category,
    "effect_estimate.ate_point": _ate_number,
    "effect_estimate.ate_uq_95": _ate_number,
    "effect_estimate.ate_sign_only": _ate_sign,
    "effect_estimate.ate_vs_assoc_sign_match": _match,
    "bias_diagnostic.collider_bias_boolean": _bias,
    "bias_diagnostic.forbidden_controls_list": _category,
    "counterfactual_identification.identifiable_boolean": _counterfactual,
    "counterfactual_effect.effect_point": _ett_number,
    "counterfactual_effect.effect_uq_95": _ett_number,
    "counterfactual_effect.sign_only": _ett_sign,
    "mediation_effect.effect_point": _natural,
    "mediation_effect.effect_uq_95": _natural,
    "mediation_effect.sign_only": _natural_sign,
    "mediation_effect.direct_vs_indirect_dominance": _dominance,
}


def _ate(motif: Motif) -> bool:
    return ate_identifiable(motif.graph, motif.treatment, motif.outcome)


def _ett(plan: ScenePlan, motif: Motif) -> bool:
    return ett_identifiable(
        motif.graph,
        motif.treatment,
        motif.outcome,
        binary_treatment=plan.treatment_kind == "binary",
    )


def _naturals(motif: Motif) -> list[bool]:
    """Identifiability of the natural effects that the scene is asked about."""
    graph, x, y = motif.graph, motif.treatment, motif.outcome
    direct = [nde_identifiable(graph, x, y)] if x in graph.parents(y) else []
    return [*direct, nie_identifiable(graph, x, y)]


def _number(motif: Motif, identifiable: bool) -> tuple[str, ...]:
    if not identifiable:
        return ("abstain",)
    return _ANY if _path(motif) else ("zero",)


def _sign(motif: Motif, identifiable: bool) -> tuple[str, ...]:
    if not identifiable:
        return ("unknown",)
    return ("+", "-") if _path(motif) else ("0",)


def _path(motif: Motif) -> bool:
    return motif.outcome in motif.graph.descendants(motif.treatment)


def _others(motif: Motif) -> list[str]:
    return [v for v in motif.graph.observed if v not in (motif.treatment, motif.outcome)]


def _opens(motif: Motif, z: str) -> bool:
    return opens_collider_bias(motif.graph, motif.treatment, motif.outcome, z)


def _unrelated(motif: Motif) -> bool:
    return motif.graph.d_separated((motif.treatment,), (motif.outcome,))


def _absent(plan: ScenePlan, motif: Motif) -> bool:
    """Whether the partial correlation given some node is zero: by the graph, or by the graph and
    equations that are lines."""
    x, y = motif.treatment, motif.outcome
    lines = plan.continuous == "linear_additive"
    return any(
        motif.graph.d_separated((x,), (y, z))
        or motif.graph.d_separated((y,), (x, z))
        or (lines and motif.graph.d_separated((x,), (y,), (z,)))
        for z in _others(motif)
    )


def _no_change(motif: Motif, z: str) -> bool:
    """Whether Z has no bearing on the association by the graph alone."""
    x, y = motif.treatment, motif.outcome
    orders = ((x, y, z), (y, x, z), (z, x, y))
    return any(motif.graph.d_separated((a,), (b, c)) for a, b, c in orders)
