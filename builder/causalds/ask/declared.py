"""What ``inputs_json`` of each variant declares: nothing else about a task is public by design."""

from collections.abc import Mapping
from typing import Final

_ENDS: Final = frozenset({"treatment", "outcome"})
_LEVELS: Final = _ENDS | {"x0", "x1"}
_NATURAL: Final = _LEVELS | {"mediators", "estimand"}
_PREDICTION: Final = frozenset({"outcome", "outcome_kind", "columns", "rows"})

INPUTS: Final[Mapping[str, frozenset[str]]] = {
    "prediction.point_predictor": _PREDICTION,
    "prediction.prediction_interval": _PREDICTION | {"alpha"},
    "association.sign_only": _ENDS,
    "association.effect_size_point": _ENDS,
    "association.sign_before_after": _ENDS | {"conditioning_var"},
    "association.delta_point": _ENDS | {"conditioning_var"},
    "association.delta_sign_only": _ENDS | {"conditioning_var"},
    "association.argmax_change": _ENDS | {"candidates"},
    "collider_phenomenon.induced_association_boolean": _ENDS | {"collider"},
    "collider_phenomenon.induced_association_sign_only": _ENDS | {"collider"},
    "collider_phenomenon.induced_association_strength_point": _ENDS | {"collider"},
    "causal_sketch.edges_only": frozenset({"variables"}),
    "causal_sketch.skeleton_edges": frozenset({"variables"}),
    "identification.one_valid_adjustment_set": _ENDS | {"available"},
    "identification.method_label": _ENDS | {"observed"},
    "identification.identifiable_boolean": _ENDS | {"observed"},
    "identification.minimal_adjustment_set_size": _ENDS | {"available"},
    "identification.n_valid_adjustment_sets": _ENDS | {"available"},
    "identification.all_minimal_adjustment_sets": _ENDS | {"available"},
    "effect_estimate.ate_point": _LEVELS,
    "effect_estimate.ate_uq_95": _LEVELS | {"alpha"},
    "effect_estimate.ate_sign_only": _LEVELS,
    "effect_estimate.ate_vs_assoc_sign_match": _LEVELS,
    "bias_diagnostic.collider_bias_boolean": _ENDS | {"collider"},
    "bias_diagnostic.forbidden_controls_list": _ENDS | {"available"},
    "counterfactual_identification.identifiable_boolean": _LEVELS | {"observed", "estimand"},
    "counterfactual_effect.effect_point": _LEVELS,
    "counterfactual_effect.effect_uq_95": _LEVELS | {"alpha"},
    "counterfactual_effect.sign_only": _LEVELS,
    "mediation_effect.effect_point": _NATURAL,
    "mediation_effect.effect_uq_95": _NATURAL | {"alpha"},
    "mediation_effect.sign_only": _NATURAL,
    "mediation_effect.direct_vs_indirect_dominance": _LEVELS | {"mediators"},
}
"""By variant. A natural effect's identifiability declares its mediators, too."""


def declared_inputs(key: str, inputs: Mapping[str, object]) -> frozenset[str]:
    """The members that the inputs of a task of this variant must have."""
    natural = key.startswith("counterfactual_identification") and inputs.get("estimand") != "ETT"
    return INPUTS[key] | {"mediators"} if natural else INPUTS[key]
