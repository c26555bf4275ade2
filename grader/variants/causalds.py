"""The variants of CausalDS: the 33 (family, variant) pairs of the paper's Tables 8-10.

Families and variants have the paper's names, answers its member names (A.16.2). What the truth row
and the inputs of each variant hold is stated in :mod:`grader.tracks.causalds`.
"""

from typing import Final

from grader.shape import InputMode, Pool, Variant

ASSOCIATION_SIGNS: Final = ("+", "-", "unknown")
CHANGE_SIGNS: Final = ("+", "-", "0")
EFFECT_SIGNS: Final = ("+", "-", "0", "unknown")
METHODS: Final = ("trivial_zero", "backdoor", "frontdoor", "other_id", "none")
SET_WORDS: Final = ("no_backdoor", "non_id")
DOMINANCE: Final = ("direct", "indirect", "tie")


def _causalds(
    family: str,
    name: str,
    rung: int,
    pool: Pool,
    metric: str,
    shape: str,
    field: str,
    *,
    abstainable: bool = False,
    input_mode: InputMode = "data",
    labels: tuple[str, ...] = (),
    abstention: str | bool | None = None,
    rule: str,
) -> Variant:
    return Variant(
        "causalds", family, name, rung, pool, metric, shape, field, abstainable, input_mode, rule,
        labels, abstention,
    )  # fmt: skip


def _number(quantity: str, symbol: str) -> str:
    return f"NRelErr = |answer - {symbol}| / (1 + |{symbol}|), {symbol} the {quantity}."


def _effect(symbol: str) -> str:
    return (
        f"NRelErr = |answer - {symbol}| / (1 + |{symbol}|); null is right exactly when "
        f"the {symbol} is not identifiable."
    )


def _effect_interval(symbol: str) -> str:
    return (
        f"NRelIS = interval score at alpha = 0.05 / (1 + |{symbol}|); null is right exactly when "
        f"the {symbol} is not identifiable."
    )


def _effect_sign(symbol: str) -> str:
    return (
        f'Right when the sign equals the sign of the {symbol}, "0" for one that is exactly 0; '
        f'"unknown" is the abstention, right exactly when the {symbol} is not identifiable.'
    )


_SET_WORDS_RULE: Final = (
    '"no_backdoor" is right when no valid set exists but the ATE is identifiable; "non_id" is the '
    "abstention."
)

_REQUESTED: Final = "For the effect that is asked about, NDE or NIE:"

CAUSALDS: Final[tuple[Variant, ...]] = (
    _causalds(
        "prediction", "point_predictor", 1, "nrel_point", "rmse", "prediction_csv", "prediction",
        rule="NRelErr = RMSE / (1 + sd of the held-out labels); for a binary outcome "
        "sqrt(Brier score) / (1 + sd), with predictions clipped to [0, 1].",
    ),
    _causalds(
        "prediction", "prediction_interval", 1, "nrel_interval", "interval_score",
        "prediction_interval_csv", "prediction",
        rule="NRelIS = mean interval score at alpha = 0.1 over the held-out rows / "
        "(1 + sd of the held-out labels).",
    ),
    _causalds(
        "association", "sign_only", 1, "pass", "exact", "sign", "sign", labels=ASSOCIATION_SIGNS,
        rule="Right when the sign equals the sign of the population Pearson correlation; "
        '"unknown" is right when that correlation is exactly zero.',
    ),
    _causalds(
        "association", "effect_size_point", 1, "nrel_point", "abs_error", "value", "value",
        rule=_number("population Pearson correlation", "r"),
    ),
    _causalds(
        "association", "sign_before_after", 1, "pass", "exact", "signs_before_after",
        "sign_before", labels=ASSOCIATION_SIGNS,
        rule="Right when both signs are: that of the population Pearson correlation and that of "
        'the linear partial correlation given the named variable, "unknown" for one that is '
        "exactly zero.",
    ),
    _causalds(
        "association", "delta_point", 1, "nrel_point", "abs_error", "delta", "delta",
        rule=_number(
            "linear partial correlation given the named variable minus the Pearson correlation",
            "delta",
        ),
    ),
    _causalds(
        "association", "delta_sign_only", 1, "pass", "exact", "change_sign", "sign",
        labels=CHANGE_SIGNS,
        rule="Right when the sign equals the sign of the linear partial correlation given the "
        'named variable minus the Pearson correlation; "0" for a change that is exactly zero.',
    ),
    _causalds(
        "association", "argmax_change", 1, "pass", "exact", "conditioning_var",
        "conditioning_var",
        rule="Right when the named candidate is the one given which the linear partial "
        "correlation differs most from the Pearson correlation.",
    ),
    _causalds(
        "collider_phenomenon", "induced_association_boolean", 1, "pass", "exact",
        "association_present", "association_present",
        rule="Right when the answer says whether the linear partial correlation given the named "
        "variable differs from zero.",
    ),
    _causalds(
        "collider_phenomenon", "induced_association_sign_only", 1, "pass", "exact", "sign",
        "sign", labels=ASSOCIATION_SIGNS,
        rule="Right when the sign equals the sign of the linear partial correlation given the "
        'named variable; "unknown" is right when it is exactly zero.',
    ),
    _causalds(
        "collider_phenomenon", "induced_association_strength_point", 1, "nrel_point",
        "abs_error", "value", "value",
        rule=_number("linear partial correlation given the named variable", "r"),
    ),
    _causalds(
        "causal_sketch", "edges_only", 2, "f1", "f1", "edges", "edges", input_mode="story",
        rule="F1 of the directed edges against the edges of the hidden graph, "
        "unmeasured variables included.",
    ),
    _causalds(
        "causal_sketch", "skeleton_edges", 2, "f1", "f1", "skeleton_edges", "skeleton_edges",
        input_mode="story",
        rule="F1 of the pairs, without direction, against the edges of the hidden graph, "
        "unmeasured variables included.",
    ),
    _causalds(
        "identification", "one_valid_adjustment_set", 2, "pass", "exact", "adjustment_set",
        "adjust", abstainable=True, input_mode="story", labels=SET_WORDS, abstention="non_id",
        rule=f"Right when the set is one of the valid adjustment sets; {_SET_WORDS_RULE}",
    ),
    _causalds(
        "identification", "method_label", 2, "pass", "exact", "method", "method",
        abstainable=True, input_mode="story", labels=METHODS, abstention="none",
        rule='Right when the label equals the first that applies; "none" is the abstention, '
        "right exactly when the ATE is not identifiable.",
    ),
    _causalds(
        "identification", "identifiable_boolean", 2, "pass", "exact", "identifiable",
        "identifiable", abstainable=True, input_mode="story", abstention=False,
        rule="Right when the answer says whether the ATE is identifiable; false is the abstention.",
    ),
    _causalds(
        "identification", "minimal_adjustment_set_size", 2, "pass", "exact", "set_size", "k",
        abstainable=True, input_mode="story", labels=SET_WORDS, abstention="non_id",
        rule=f"Right when k is the size of the smallest valid adjustment set; {_SET_WORDS_RULE}",
    ),
    _causalds(
        "identification", "n_valid_adjustment_sets", 2, "pass", "exact", "set_count", "n",
        abstainable=True, input_mode="story", labels=SET_WORDS, abstention="non_id",
        rule="Right when n is the number of valid adjustment sets; 0 and "
        '"no_backdoor" are right when there is none but the ATE is identifiable; "non_id" is the '
        "abstention.",
    ),
    _causalds(
        "identification", "all_minimal_adjustment_sets", 2, "f1", "f1", "adjustment_sets",
        "adjustment_sets", abstainable=True, input_mode="story", labels=SET_WORDS,
        abstention="non_id",
        rule='F1 over the listed sets against all inclusion-minimal valid sets; "no_backdoor" is '
        'right (1 or 0) when no valid set exists but the ATE is identifiable; "non_id" is the '
        "abstention.",
    ),
    _causalds(
        "effect_estimate", "ate_point", 2, "nrel_point", "abs_error", "ate", "ate",
        abstainable=True, rule=_effect("ATE"),
    ),
    _causalds(
        "effect_estimate", "ate_uq_95", 2, "nrel_interval", "interval_score", "ate_interval",
        "ate", abstainable=True, rule=_effect_interval("ATE"),
    ),
    _causalds(
        "effect_estimate", "ate_sign_only", 2, "pass", "exact", "effect_sign", "sign",
        abstainable=True, labels=EFFECT_SIGNS, abstention="unknown",
        rule=_effect_sign("ATE"),
    ),
    _causalds(
        "effect_estimate", "ate_vs_assoc_sign_match", 2, "pass", "exact", "matches", "matches",
        abstainable=True,
        rule="Right when the answer says whether the ATE and the population Pearson correlation "
        "have the same sign, + or -; null is right exactly when the ATE is not identifiable.",
    ),
    _causalds(
        "bias_diagnostic", "collider_bias_boolean", 2, "pass", "exact", "bias_present",
        "bias_present",
        rule="Right when the answer says whether conditioning on the named variable opens a path "
        "that is not a chain of effects from treatment to outcome and is blocked without it.",
    ),
    _causalds(
        "bias_diagnostic", "forbidden_controls_list", 2, "f1", "f1", "forbidden", "forbidden",
        abstainable=True, input_mode="story", labels=SET_WORDS, abstention="non_id",
        rule="F1 over the listed variables against those that are in no valid adjustment set; "
        '"no_backdoor" is right (1 or 0) when no valid set exists but the ATE is identifiable; '
        '"non_id" is the abstention.',
    ),
    _causalds(
        "counterfactual_identification", "identifiable_boolean", 3, "pass", "exact",
        "identifiable", "identifiable", abstainable=True, input_mode="story", abstention=False,
        rule="Right when the answer says whether the named estimand (ETT, NDE or NIE) is "
        "identifiable; false is the abstention.",
    ),
    _causalds(
        "counterfactual_effect", "effect_point", 3, "nrel_point", "abs_error", "effect_value",
        "value", abstainable=True, rule=_effect("ETT"),
    ),
    _causalds(
        "counterfactual_effect", "effect_uq_95", 3, "nrel_interval", "interval_score",
        "effect_interval", "value", abstainable=True, rule=_effect_interval("ETT"),
    ),
    _causalds(
        "counterfactual_effect", "sign_only", 3, "pass", "exact", "effect_sign", "sign",
        abstainable=True, labels=EFFECT_SIGNS, abstention="unknown",
        rule=_effect_sign("ETT"),
    ),
    _causalds(
        "mediation_effect", "effect_point", 3, "nrel_point", "abs_error", "effect_value",
        "value", abstainable=True, rule=f"{_REQUESTED} {_effect('effect')}",
    ),
    _causalds(
        "mediation_effect", "effect_uq_95", 3, "nrel_interval", "interval_score",
        "effect_interval", "value", abstainable=True,
        rule=f"{_REQUESTED} {_effect_interval('effect')}",
    ),
    _causalds(
        "mediation_effect", "sign_only", 3, "pass", "exact", "effect_sign", "sign",
        abstainable=True, labels=EFFECT_SIGNS, abstention="unknown",
        rule=f"{_REQUESTED} {_effect_sign('effect')}",
    ),
    _causalds(
        "mediation_effect", "direct_vs_indirect_dominance", 3, "pass", "exact", "dominant",
        "dominant", abstainable=True, labels=DOMINANCE,
        rule='Right when the answer says which of |NDE| and |NIE| is larger, "tie" when they '
        "differ by at most 5% of the larger; null is right exactly when the NDE or the NIE is "
        "not identifiable.",
    ),
)  # fmt: skip
