"""The variants of CausalDS."""

from typing import Final

from grader.variants.variant import InputMode, Pool, Variant


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
    rule: str,
) -> Variant:
    return Variant(
        "causalds", family, name, rung, pool, metric, shape, field, abstainable, input_mode, rule
    )


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
        "association", "sign_only", 1, "pass", "exact", "sign", "sign",
        rule="Right when the sign equals the sign of the population Pearson correlation; "
        '"unknown" is right when that correlation is exactly zero.',
    ),
    _causalds(
        "association", "effect_size_point", 1, "nrel_point", "abs_error", "value", "value",
        rule="NRelErr = |answer - r| / (1 + |r|), r the population Pearson correlation.",
    ),
    _causalds(
        "causal_sketch", "edges_only", 2, "f1", "f1", "edges", "edges", input_mode="story",
        rule="F1 of the directed edges against the edges of the hidden graph, "
        "unmeasured variables included.",
    ),
    _causalds(
        "identification", "method_label", 2, "pass", "exact", "method", "method",
        abstainable=True, input_mode="story",
        rule='Right when the label equals the first that applies; "none" is the abstention, '
        "right exactly when the ATE is not identifiable.",
    ),
    _causalds(
        "identification", "all_minimal_adjustment_sets", 2, "f1", "f1", "adjustment_sets",
        "adjustment_sets", abstainable=True, input_mode="story",
        rule='F1 over the listed sets against all inclusion-minimal valid sets; "no_backdoor" is '
        'right (1 or 0) when no valid set exists but the ATE is identifiable; "non_id" is the '
        "abstention.",
    ),
    _causalds(
        "effect_estimate", "ate_point", 2, "nrel_point", "abs_error", "ate", "ate",
        abstainable=True,
        rule="NRelErr = |answer - ATE| / (1 + |ATE|); null is right exactly when the ATE is not "
        "identifiable.",
    ),
    _causalds(
        "effect_estimate", "ate_uq_95", 2, "nrel_interval", "interval_score", "ate_interval",
        "ate", abstainable=True,
        rule="NRelIS = interval score at alpha = 0.05 / (1 + |ATE|); null is right exactly when "
        "the ATE is not identifiable.",
    ),
    _causalds(
        "counterfactual_effect", "effect_point", 3, "nrel_point", "abs_error", "effect_value",
        "value", abstainable=True,
        rule="NRelErr = |answer - ETT| / (1 + |ETT|); null is right exactly when the ETT is not "
        "identifiable.",
    ),
)  # fmt: skip
