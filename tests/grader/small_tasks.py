"""The scenes and tasks of the small hand-made release, with truths that are worked by hand.

:data:`TASKS` maps the short names that tests and case tables use (``ate``, ``ate_unid`` …) to tasks
and their truths. Every variant is there in every form it can take: ``_unid`` where abstaining is
right, ``_none`` where there is no adjustment set, ``_zero`` where an effect is exactly 0.
"""

from dataclasses import dataclass, field
from typing import Any

NAMES = ("Brass density", 'Corsin "flow"', "Dusk; level", "Übel rate")
"""Story names with what breaks careless SQL, CSV and Unicode handling."""


@dataclass(frozen=True, slots=True)
class HandTask:
    """One task with its truth; ``scene`` is the short name of its scene."""

    key: str
    scene: str
    inputs: dict[str, Any]
    target: dict[str, Any] = field(default_factory=dict)
    value: float | None = None
    abstain: bool = False


@dataclass(frozen=True, slots=True)
class HandScene:
    """A scene: its motif and the held-out labels of its outcome."""

    motif: str
    kind: str
    labels: tuple[float, ...]


# Population sd of (0, 0, 2, 2) is 1, so the divisor 1 + sd is 2; of (0, 0, 1, 1) it is 0.5.
SCENES = {
    "lake": HandScene("confounding", "continuous", (0.0, 0.0, 2.0, 2.0)),
    "fog": HandScene("iv", "continuous", (0.0, 0.0, 2.0, 2.0)),
    "mill": HandScene("frontdoor", "binary", (0.0, 0.0, 1.0, 1.0)),
}
A, B, C, U = NAMES
_PREDICT = {"outcome": B, "columns": [A, B, C], "rows": 4}
_EFFECT = {"treatment": A, "outcome": B, "x0": 0.0, "x1": 1.0}
_SETS = {"treatment": A, "outcome": B, "available": [C, U]}
_LABEL = {"treatment": A, "outcome": B, "observed": [A, B, C]}
_ENDS = {"treatment": A, "outcome": B}
_GIVEN = _ENDS | {"conditioning_var": C}
_COLLIDER = _ENDS | {"collider": C}
_ALPHA = {"alpha": 0.05}
_ETT = _EFFECT | {"estimand": "ETT"}
_NDE = _EFFECT | {"estimand": "NDE", "mediators": [C]}
_NIE = _EFFECT | {"estimand": "NIE", "mediators": [C]}
_EDGES = {"nodes": list(NAMES), "edges": [[A, B], [C, A], [C, B], [U, B]]}

TASKS: dict[str, HandTask] = {
    "predict": HandTask(
        "prediction.point_predictor", "lake", _PREDICT | {"outcome_kind": "continuous"},
        {"kind": "continuous", "sd": 1.0, "rows": 4}),
    "predict_binary": HandTask(
        "prediction.point_predictor", "mill", _PREDICT | {"outcome_kind": "binary"},
        {"kind": "binary", "sd": 0.5, "rows": 4}),
    "interval": HandTask(
        "prediction.prediction_interval", "lake",
        _PREDICT | {"outcome_kind": "continuous", "alpha": 0.1},
        {"kind": "continuous", "sd": 1.0, "rows": 4}),
    "sign": HandTask("association.sign_only", "lake", _ENDS,
                     {"accepted": ["+"]}),
    "sign_zero": HandTask("association.sign_only", "mill", _ENDS,
                          {"accepted": ["unknown"]}),
    "correlation": HandTask("association.effect_size_point", "lake",
                            _ENDS, value=0.5),
    "sketch": HandTask("causal_sketch.edges_only", "lake", {"variables": 4},
                       _EDGES),
    "method": HandTask("identification.method_label", "lake", _LABEL, {"accepted": ["backdoor"]}),
    "method_unid": HandTask("identification.method_label", "fog", _LABEL, {"accepted": ["none"]},
                            abstain=True),
    "sets": HandTask("identification.all_minimal_adjustment_sets", "lake", _SETS,
                     {"category": "set", "sets": [[C], [U]]}),
    "sets_unid": HandTask("identification.all_minimal_adjustment_sets", "fog", _SETS,
                          {"category": "non_id", "sets": []}, abstain=True),
    "sets_none": HandTask("identification.all_minimal_adjustment_sets", "mill", _SETS,
                          {"category": "no_backdoor", "sets": []}),
    "ate": HandTask("effect_estimate.ate_point", "lake", _EFFECT, value=1.0),
    "ate_unid": HandTask("effect_estimate.ate_point", "fog", _EFFECT, abstain=True),
    "ate_extra": HandTask("effect_estimate.ate_point", "mill", _EFFECT, value=0.0),
    "ate_interval": HandTask("effect_estimate.ate_uq_95", "lake", _EFFECT | {"alpha": 0.05},
                             value=1.0),
    "ate_interval_unid": HandTask("effect_estimate.ate_uq_95", "fog", _EFFECT | {"alpha": 0.05},
                                  abstain=True),
    "ett": HandTask("counterfactual_effect.effect_point", "lake", _EFFECT, value=-3.0),
    "ett_unid": HandTask("counterfactual_effect.effect_point", "fog", _EFFECT, abstain=True),
    "signs": HandTask("association.sign_before_after", "lake",
        _GIVEN, {"accepted_before": ["+"], "accepted_after": ["unknown"]}),
    "signs_kept": HandTask("association.sign_before_after", "mill",
        _GIVEN, {"accepted_before": ["-"], "accepted_after": ["-"]}),
    "delta": HandTask("association.delta_point", "lake", _GIVEN, value=-0.25),
    "change": HandTask("association.delta_sign_only", "lake", _GIVEN, {"accepted": ["-"]}),
    "change_zero": HandTask("association.delta_sign_only", "mill", _GIVEN, {"accepted": ["0"]}),
    "argmax": HandTask("association.argmax_change", "lake",
        _ENDS | {"candidates": [C, U]}, {"accepted": [U]}),
    "induced": HandTask("collider_phenomenon.induced_association_boolean", "lake",
        _COLLIDER, {"accepted": [True]}),
    "induced_zero": HandTask("collider_phenomenon.induced_association_boolean", "mill",
        _COLLIDER, {"accepted": [False]}),
    "induced_sign": HandTask("collider_phenomenon.induced_association_sign_only", "lake",
        _COLLIDER, {"accepted": ["-"]}),
    "induced_sign_zero": HandTask("collider_phenomenon.induced_association_sign_only", "mill",
        _COLLIDER, {"accepted": ["unknown"]}),
    "strength": HandTask("collider_phenomenon.induced_association_strength_point", "lake",
        _COLLIDER, value=-0.6),
    "skeleton": HandTask("causal_sketch.skeleton_edges", "lake", {"variables": 4}, _EDGES),
    "one_set": HandTask("identification.one_valid_adjustment_set", "lake",
        _SETS, {"category": "set", "sets": [[C], [C, U]]}),
    "one_set_empty": HandTask("identification.one_valid_adjustment_set", "mill",
        _SETS, {"category": "set", "sets": [[], [C]]}),
    "one_set_none": HandTask("identification.one_valid_adjustment_set", "mill",
        _SETS, {"category": "no_backdoor", "sets": []}),
    "one_set_unid": HandTask("identification.one_valid_adjustment_set", "fog",
        _SETS, {"category": "non_id", "sets": []}, abstain=True),
    "identified": HandTask("identification.identifiable_boolean", "lake",
        _LABEL, {"accepted": [True]}),
    "identified_unid": HandTask("identification.identifiable_boolean", "fog",
        _LABEL, {"accepted": [False]}, abstain=True),
    "size": HandTask("identification.minimal_adjustment_set_size", "lake",
        _SETS, {"accepted": [1]}),
    "size_none": HandTask("identification.minimal_adjustment_set_size", "mill",
        _SETS, {"accepted": ["no_backdoor"]}),
    "size_unid": HandTask("identification.minimal_adjustment_set_size", "fog",
        _SETS, {"accepted": ["non_id"]}, abstain=True),
    "count": HandTask("identification.n_valid_adjustment_sets", "lake", _SETS, {"accepted": [3]}),
    "count_none": HandTask("identification.n_valid_adjustment_sets", "mill",
        _SETS, {"accepted": ["no_backdoor", 0]}),
    "count_unid": HandTask("identification.n_valid_adjustment_sets", "fog",
        _SETS, {"accepted": ["non_id"]}, abstain=True),
    "ate_sign": HandTask("effect_estimate.ate_sign_only", "lake", _EFFECT, {"accepted": ["+"]}),
    "ate_sign_zero": HandTask("effect_estimate.ate_sign_only", "mill",
        _EFFECT, {"accepted": ["0"]}),
    "ate_sign_band": HandTask("effect_estimate.ate_sign_only", "mill",
        _EFFECT, {"accepted": ["0", "-"]}),
    "ate_sign_unid": HandTask("effect_estimate.ate_sign_only", "fog",
        _EFFECT, {"accepted": ["unknown"]}, abstain=True),
    "agree": HandTask("effect_estimate.ate_vs_assoc_sign_match", "lake",
        _EFFECT, {"accepted": [True]}),
    "agree_not": HandTask("effect_estimate.ate_vs_assoc_sign_match", "mill",
        _EFFECT, {"accepted": [False]}),
    "agree_unid": HandTask("effect_estimate.ate_vs_assoc_sign_match", "fog",
        _EFFECT, {"accepted": [None]}, abstain=True),
    "bias": HandTask("bias_diagnostic.collider_bias_boolean", "lake",
        _COLLIDER, {"accepted": [True]}),
    "bias_not": HandTask("bias_diagnostic.collider_bias_boolean", "mill",
        _COLLIDER, {"accepted": [False]}),
    "forbidden": HandTask("bias_diagnostic.forbidden_controls_list", "lake",
        _SETS, {"category": "set", "names": [C, U]}),
    "forbidden_empty": HandTask("bias_diagnostic.forbidden_controls_list", "mill",
        _SETS, {"category": "set", "names": []}),
    "forbidden_none": HandTask("bias_diagnostic.forbidden_controls_list", "mill",
        _SETS, {"category": "no_backdoor", "names": []}),
    "forbidden_unid": HandTask("bias_diagnostic.forbidden_controls_list", "fog",
        _SETS, {"category": "non_id", "names": []}, abstain=True),
    "ett_identified": HandTask("counterfactual_identification.identifiable_boolean", "lake",
        _ETT, {"accepted": [True]}),
    "nde_identified_unid": HandTask("counterfactual_identification.identifiable_boolean", "fog",
        _NDE, {"accepted": [False]}, abstain=True),
    "ett_interval": HandTask("counterfactual_effect.effect_uq_95", "lake",
        _EFFECT | _ALPHA, value=-3.0),
    "ett_interval_unid": HandTask("counterfactual_effect.effect_uq_95", "fog",
        _EFFECT | _ALPHA, abstain=True),
    "ett_sign": HandTask("counterfactual_effect.sign_only", "lake", _EFFECT, {"accepted": ["-"]}),
    "ett_sign_unid": HandTask("counterfactual_effect.sign_only", "fog",
        _EFFECT, {"accepted": ["unknown"]}, abstain=True),
    "nde": HandTask("mediation_effect.effect_point", "lake", _NDE, value=0.0),
    "nde_unid": HandTask("mediation_effect.effect_point", "fog", _NDE, abstain=True),
    "nie_interval": HandTask("mediation_effect.effect_uq_95", "lake", _NIE | _ALPHA, value=4.0),
    "nie_interval_unid": HandTask("mediation_effect.effect_uq_95", "fog",
        _NIE | _ALPHA, abstain=True),
    "nie_sign": HandTask("mediation_effect.sign_only", "lake", _NIE, {"accepted": ["+"]}),
    "nie_sign_unid": HandTask("mediation_effect.sign_only", "fog",
        _NIE, {"accepted": ["unknown"]}, abstain=True),
    "dominance": HandTask("mediation_effect.direct_vs_indirect_dominance", "lake",
        _EFFECT | {"mediators": [C]}, {"accepted": ["indirect"]}),
    "dominance_unid": HandTask("mediation_effect.direct_vs_indirect_dominance", "fog",
        _EFFECT | {"mediators": [C]}, {"accepted": [None]}, abstain=True),
}  # fmt: skip
"""Short name to task."""
