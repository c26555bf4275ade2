"""Every task variant of every track, as one declarative table.

This is the shared vocabulary of the project: the builder asks what is listed here, the grader
scores what is listed here, and tests walk the table to find a variant without a scorer, an asker,
an answer schema or a table of cases. To add a variant, start with a row here
(``docs/adding-a-variant.md``).
"""

from dataclasses import dataclass
from typing import Final, Literal

Pool = Literal["pass", "nrel_point", "nrel_interval", "f1"]
"""Where a task's loss is pooled (CausalDS §3.7): exact matches, numbers, intervals, F1."""

InputMode = Literal["data", "story", "prompt"]
"""``data``: the test taker gets tables. ``story``: the narrated scene alone. ``prompt``: the
prompt says everything and nothing stands beside it."""

POOLS: Final[tuple[Pool, ...]] = ("pass", "nrel_point", "nrel_interval", "f1")

LOSS_CAP: Final = 10.0
"""The cap c on one numeric loss (CausalDS Eq. 3)."""

PREDICTION_ALPHA: Final = 0.1
"""Prediction intervals are central 90% intervals (CausalDS A.9)."""

EFFECT_ALPHA: Final = 0.05
"""Effect intervals are central 95% intervals (CausalDS A.9)."""

NULL_EQUIVALENTS: Final = frozenset({"", "none", "null", "unknown", "n/a"})
"""Strings that mean "I abstain" in an abstainable variant's answer field, besides JSON null."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking one question: how it is answered, scored and pooled.

    ``shape`` names the JSON Schema of the answer (``schemas/answers/<shape>.json``); shapes that
    end in ``_csv`` are CSV files, their schema describes one row. ``field`` is the member of the
    answer that holds the answer proper (and the abstention). ``rule`` is the published scoring
    rule in one sentence; it is what ``explain`` prints.
    """

    track: str
    family: str
    name: str
    rung: int
    pool: Pool
    metric: str
    shape: str
    field: str
    abstainable: bool
    input_mode: InputMode
    rule: str

    @property
    def key(self) -> str:
        """``family.variant``, unique inside a track."""
        return f"{self.family}.{self.name}"

    @property
    def suffix(self) -> str:
        """File ending of an answer, with its dot."""
        return ".csv" if self.shape.endswith("_csv") else ".json"


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


def _ccr(family: str, name: str, rung: int, shape: str, field: str, rule: str) -> Variant:
    return Variant("ccr", family, name, rung, "pass", "rae", shape, field, False, "story", rule)


_WITHIN = "Right when every listed quantity is within a relative error of 0.1 of its exact value."
_DEDUCED = (
    "Right when the number is within a relative error of 0.1 of the exact value; where the givens "
    'contradict each other or do not determine it, exactly when the answer is "inconsistent" or '
    '"insufficient".'
)


def _replayscm(family: str, name: str, shape: str, rule: str) -> Variant:
    return Variant(
        "replayscm", family, name, 2, "pass", "heldout_exact" if family == "induction" else
        "joint_success", shape, "mechanisms", False, "prompt", rule,
    )  # fmt: skip


_REPLAY_RULE: Final = (
    "Right when the program replays every training world and every held-out world exactly"
)
_ALTERNATIVE_RULE: Final = (
    "Right when the program fits every training world, differs from the reference in some "
    "mechanism's function, and the intervention with the witness shows a difference."
)


VARIANTS: Final[tuple[Variant, ...]] = (
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
    _ccr(
        "simulation", "pair", 3, "unit_answers", "do_true",
        "Right (the pair is externally valid) when the PNS that the answers give, over the units' "
        "exact weights, has a relative absolute error of at most 0.1 of the exact PNS.",
    ),
    _ccr("direct", "boolean", 3, "quantities", "quantities", _WITHIN),
    _ccr("direct", "linear", 2, "quantities", "quantities", _WITHIN),
    _ccr("direct", "trap", 2, "quantities", "quantities", _WITHIN),
    _ccr("deductive", "boolean", 3, "deduction", "value", _DEDUCED),
    _ccr("deductive", "linear", 2, "deduction", "value", _DEDUCED),
    _replayscm("induction", "ordered", "mechanisms", f"{_REPLAY_RULE}."),
    _replayscm("induction", "block", "mechanisms", f"{_REPLAY_RULE}."),
    _replayscm("induction", "hidden", "mechanisms", f"{_REPLAY_RULE}."),
    _replayscm(
        "induction", "hidden_roots", "roots_mechanisms",
        f"{_REPLAY_RULE}, and the declared roots are the roots.",
    ),
    _replayscm("alternative", "alternative_ordered", "alternative_scm", _ALTERNATIVE_RULE),
    _replayscm("alternative", "alternative_hidden", "alternative_scm", _ALTERNATIVE_RULE),
)  # fmt: skip

TRACKS: Final[tuple[str, ...]] = tuple(dict.fromkeys(variant.track for variant in VARIANTS))

_BY_KEY: Final = {(variant.track, variant.key): variant for variant in VARIANTS}


def variant(track: str, key: str) -> Variant:
    """The variant of ``track`` called ``family.variant``; raises ``KeyError`` if there is none."""
    return _BY_KEY[track, key]
