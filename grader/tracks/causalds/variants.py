"""The variants of CausalDS: the 33 (family, variant) pairs of the paper's Tables 8-10.

Families and variants have the paper's names. What the truth row and the inputs of each variant
hold is stated in :mod:`grader.tracks.causalds`.
"""

from functools import partial
from typing import Final

from grader.shape import Variant
from grader.tracks.causalds import shapes

_variant = partial(Variant, "causalds")


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
    _variant(
        "prediction", "point_predictor", 1, shapes.PREDICTION,
        "NRelErr = RMSE / (1 + sd of the held-out labels); for a binary outcome "
        "sqrt(Brier score) / (1 + sd), with predictions clipped to [0, 1].",
    ),
    _variant(
        "prediction", "prediction_interval", 1, shapes.PREDICTION_INTERVAL,
        "NRelIS = mean interval score at alpha = 0.1 over the held-out rows / "
        "(1 + sd of the held-out labels).",
    ),
    _variant(
        "association", "sign_only", 1, shapes.SIGN,
        "Right when the sign equals the sign of the population Pearson correlation; "
        '"unknown" is right when that correlation is exactly zero.',
    ),
    _variant(
        "association", "effect_size_point", 1, shapes.VALUE,
        _number("population Pearson correlation", "r"),
    ),
    _variant(
        "association", "sign_before_after", 1, shapes.SIGNS_BEFORE_AFTER,
        "Right when both signs are: that of the population Pearson correlation and that of "
        'the linear partial correlation given the named variable, "unknown" for one that is '
        "exactly zero.",
    ),
    _variant(
        "association", "delta_point", 1, shapes.DELTA,
        _number(
            "linear partial correlation given the named variable minus the Pearson correlation",
            "delta",
        ),
    ),
    _variant(
        "association", "delta_sign_only", 1, shapes.CHANGE_SIGN,
        "Right when the sign equals the sign of the linear partial correlation given the "
        'named variable minus the Pearson correlation; "0" for a change that is exactly zero.',
    ),
    _variant(
        "association", "argmax_change", 1, shapes.CONDITIONING_VAR,
        "Right when the named candidate is the one given which the linear partial "
        "correlation differs most from the Pearson correlation.",
    ),
    _variant(
        "collider_phenomenon", "induced_association_boolean", 1, shapes.ASSOCIATION_PRESENT,
        "Right when the answer says whether the linear partial correlation given the named "
        "variable differs from zero.",
    ),
    _variant(
        "collider_phenomenon", "induced_association_sign_only", 1, shapes.SIGN,
        "Right when the sign equals the sign of the linear partial correlation given the "
        'named variable; "unknown" is right when it is exactly zero.',
    ),
    _variant(
        "collider_phenomenon", "induced_association_strength_point", 1, shapes.VALUE,
        _number("linear partial correlation given the named variable", "r"),
    ),
    _variant(
        "causal_sketch", "edges_only", 2, shapes.EDGES,
        "F1 of the directed edges against the edges of the hidden graph, "
        "unmeasured variables included.",
    ),
    _variant(
        "causal_sketch", "skeleton_edges", 2, shapes.SKELETON_EDGES,
        "F1 of the pairs, without direction, against the edges of the hidden graph, "
        "unmeasured variables included.",
    ),
    _variant(
        "identification", "one_valid_adjustment_set", 2, shapes.ADJUSTMENT_SET,
        f"Right when the set is one of the valid adjustment sets; {_SET_WORDS_RULE}",
    ),
    _variant(
        "identification", "method_label", 2, shapes.METHOD,
        'Right when the label equals the first that applies; "none" is the abstention, '
        "right exactly when the ATE is not identifiable.",
    ),
    _variant(
        "identification", "identifiable_boolean", 2, shapes.IDENTIFIABLE,
        "Right when the answer says whether the ATE is identifiable; false is the abstention.",
    ),
    _variant(
        "identification", "minimal_adjustment_set_size", 2, shapes.SET_SIZE,
        f"Right when k is the size of the smallest valid adjustment set; {_SET_WORDS_RULE}",
    ),
    _variant(
        "identification", "n_valid_adjustment_sets", 2, shapes.SET_COUNT,
        "Right when n is the number of valid adjustment sets; 0 and "
        '"no_backdoor" are right when there is none but the ATE is identifiable; "non_id" is the '
        "abstention.",
    ),
    _variant(
        "identification", "all_minimal_adjustment_sets", 2, shapes.ADJUSTMENT_SETS,
        'F1 over the listed sets against all inclusion-minimal valid sets; "no_backdoor" is '
        'right (1 or 0) when no valid set exists but the ATE is identifiable; "non_id" is the '
        "abstention.",
    ),
    _variant(
        "effect_estimate", "ate_point", 2, shapes.ATE,
        _effect("ATE"),
    ),
    _variant(
        "effect_estimate", "ate_uq_95", 2, shapes.ATE_INTERVAL,
        _effect_interval("ATE"),
    ),
    _variant(
        "effect_estimate", "ate_sign_only", 2, shapes.EFFECT_SIGN,
        _effect_sign("ATE"),
    ),
    _variant(
        "effect_estimate", "ate_vs_assoc_sign_match", 2, shapes.MATCHES,
        "Right when the answer says whether the ATE and the population Pearson correlation "
        "have the same sign, + or -; null is right exactly when the ATE is not identifiable.",
    ),
    _variant(
        "bias_diagnostic", "collider_bias_boolean", 2, shapes.BIAS_PRESENT,
        "Right when the answer says whether conditioning on the named variable opens a path "
        "that is not a chain of effects from treatment to outcome and is blocked without it.",
    ),
    _variant(
        "bias_diagnostic", "forbidden_controls_list", 2, shapes.FORBIDDEN,
        "F1 over the listed variables against those that are in no valid adjustment set; "
        '"no_backdoor" is right (1 or 0) when no valid set exists but the ATE is identifiable; '
        '"non_id" is the abstention.',
    ),
    _variant(
        "counterfactual_identification", "identifiable_boolean", 3, shapes.IDENTIFIABLE,
        "Right when the answer says whether the named estimand (ETT, NDE or NIE) is "
        "identifiable; false is the abstention.",
    ),
    _variant(
        "counterfactual_effect", "effect_point", 3, shapes.EFFECT_VALUE,
        _effect("ETT"),
    ),
    _variant(
        "counterfactual_effect", "effect_uq_95", 3, shapes.EFFECT_INTERVAL,
        _effect_interval("ETT"),
    ),
    _variant(
        "counterfactual_effect", "sign_only", 3, shapes.EFFECT_SIGN,
        _effect_sign("ETT"),
    ),
    _variant(
        "mediation_effect", "effect_point", 3, shapes.EFFECT_VALUE,
        f"{_REQUESTED} {_effect('effect')}",
    ),
    _variant(
        "mediation_effect", "effect_uq_95", 3, shapes.EFFECT_INTERVAL,
        f"{_REQUESTED} {_effect_interval('effect')}",
    ),
    _variant(
        "mediation_effect", "sign_only", 3, shapes.EFFECT_SIGN,
        f"{_REQUESTED} {_effect_sign('effect')}",
    ),
    _variant(
        "mediation_effect", "direct_vs_indirect_dominance", 3, shapes.DOMINANT,
        'Right when the answer says which of |NDE| and |NIE| is larger, "tie" when they '
        "differ by at most 5% of the larger; null is right exactly when the NDE or the NIE is "
        "not identifiable.",
    ),
)  # fmt: skip
