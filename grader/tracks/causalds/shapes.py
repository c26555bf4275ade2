"""The forms of answers to CausalDS tasks, with the paper's member names (A.16.2), and variants."""

from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from grader.answers.check import check_csv, check_json, with_bounds, with_known_labels
from grader.io.jsonio import pretty_json
from grader.scoring.model import Truth
from grader.scoring.shape import Shape, Task, read_variants
from grader.tracks.causalds import scoring


def _gold_predictions(task: Task, truth: Truth, *, columns: tuple[str, ...]) -> str:
    """Return a CSV with the held-out labels in each of ``columns``: intervals of no width."""
    return _table(truth.labels or (), columns)


@lru_cache(maxsize=4)  # the views of a scene have the same labels
def _table(labels: tuple[float, ...], columns: tuple[str, ...]) -> str:
    """Return a CSV with each label in all of ``columns``."""
    rows = (",".join([repr(label)] * len(columns)) for label in labels)
    return "\n".join([",".join(columns), *rows]) + "\n"


def _gold(task: Task, truth: Truth) -> str:
    """Return a right answer as JSON: the first one of several, the abstention where it is due."""
    shape, target = task.shape, truth.target
    right: Any = shape.abstention
    if truth.should_abstain:
        return pretty_json({shape.field: right})
    match shape.kind:
        case "signs":
            before, after = target["accepted_before"][0], target["accepted_after"][0]
            return pretty_json({"sign_before": before, "sign_after": after})
        case "interval":
            members = (shape.field, "ci_lower", "ci_upper")
            return pretty_json(dict.fromkeys(members, truth.value))
        case "number":
            right = truth.value
        case "edges":
            ends = scoring.ends_of(task)
            right = [dict(zip(ends, edge, strict=True)) for edge in target["edges"]]
        case "set" | "sets" | "names" if target["category"] != "set":
            right = target["category"]
        case "set":
            right = target["sets"][0]
        case "sets" | "names":
            right = target[shape.kind]
        case _:
            right = target["accepted"][0]
    return pretty_json({shape.field: right})


PREDICTION_ALPHA: Final = 0.1
"""Prediction intervals are central 90% intervals (CausalDS A.9)."""

EFFECT_ALPHA: Final = 0.05
"""Effect intervals are central 95% intervals (CausalDS A.9)."""

ASSOCIATION_SIGNS: Final = ("+", "-", "0", "unknown")
"""Two words for exactly zero: ours, and the reference's; which of them are right a truth says."""

CHANGE_SIGNS: Final = ("+", "-", "0")
METHODS: Final = ("trivial_zero", "backdoor", "frontdoor", "other_id", "none")
SET_WORDS: Final = ("no_backdoor", "non_id")
DOMINANCE: Final = ("direct", "indirect", "tie")

_exact = partial(Shape, pool="pass", metric="exact", check=check_json, gold=_gold)
_names = partial(check_json, then=scoring.with_unknown_names)
_label = partial(_exact, score=scoring.exact_answer)
_number = partial(
    Shape, kind="number", pool="nrel_point", metric="abs_error", check=check_json,
    gold=_gold, check_truth=scoring.check_value,
)  # fmt: skip
_interval = partial(
    Shape, kind="interval", pool="nrel_interval", metric="interval_score",
    check=partial(check_json, then=with_bounds), score=scoring.effect_interval, gold=_gold,
    abstention=None, check_truth=scoring.check_value,
)  # fmt: skip
_f1 = partial(Shape, pool="f1", metric="f1", check=_names, gold=_gold, input_mode="story")

# --- Predictions --------------------------------------------------------------------------------

_POINT: Final = ("prediction",)
_ENDS: Final = ("prediction", "lower", "upper")

PREDICTION: Final = Shape(
    "prediction_csv", "predictions", "prediction", "nrel_point", "rmse",
    partial(check_csv, columns=_POINT), scoring.point_predictor,
    partial(_gold_predictions, columns=_POINT), check_truth=scoring.check_labels,
)  # fmt: skip
PREDICTION_INTERVAL: Final = Shape(
    "prediction_interval_csv", "predictions", "prediction", "nrel_interval", "interval_score",
    partial(check_csv, columns=_ENDS), scoring.prediction_interval,
    partial(_gold_predictions, columns=_ENDS), check_truth=scoring.check_labels,
)  # fmt: skip


def _with_known_signs(task: Task, document: dict[str, Any]) -> dict[str, Any]:
    return with_known_labels(task, document, "sign_before", "sign_after")


# --- Right or wrong -----------------------------------------------------------------------------

SIGN: Final = _label("sign", "sign", "sign", labels=ASSOCIATION_SIGNS)
CHANGE_SIGN: Final = _label("change_sign", "sign", "sign", labels=CHANGE_SIGNS)
EFFECT_SIGN: Final = _label(
    "effect_sign", "sign", "sign", labels=ASSOCIATION_SIGNS, abstention="unknown"
)
SIGNS_BEFORE_AFTER: Final = Shape(
    "signs_before_after", "signs", "sign_before", "pass", "exact",
    partial(check_json, then=_with_known_signs), scoring.both_signs, _gold,
    labels=ASSOCIATION_SIGNS,
)  # fmt: skip
ASSOCIATION_PRESENT: Final = _label("association_present", "boolean", "association_present")
BIAS_PRESENT: Final = _label("bias_present", "boolean", "bias_present")
MATCHES: Final = _label("matches", "boolean", "matches", abstention=None)
IDENTIFIABLE: Final = _label(
    "identifiable", "boolean", "identifiable", abstention=False, input_mode="story"
)
METHOD: Final = _label(
    "method", "label", "method", labels=METHODS, abstention="none", input_mode="story"
)
DOMINANT: Final = _label("dominant", "label", "dominant", labels=DOMINANCE, abstention=None)
SET_SIZE: Final = _label(
    "set_size", "count", "k", labels=SET_WORDS, abstention="non_id", input_mode="story"
)
SET_COUNT: Final = _label(
    "set_count", "count", "n", labels=SET_WORDS, abstention="non_id", input_mode="story"
)
CONDITIONING_VAR: Final = _exact(
    "conditioning_var", "name", "conditioning_var", check=_names, score=scoring.exact_name
)
ADJUSTMENT_SET: Final = _exact(
    "adjustment_set", "set", "adjust", check=_names, score=scoring.one_of_the_sets,
    labels=SET_WORDS, abstention="non_id", input_mode="story",
)  # fmt: skip

# --- Numbers and intervals ----------------------------------------------------------------------

VALUE: Final = _number("value", field="value", score=scoring.point)
DELTA: Final = _number("delta", field="delta", score=scoring.point)
ATE: Final = _number("ate", field="ate", score=scoring.effect_point, abstention=None)
EFFECT_VALUE: Final = _number(
    "effect_value", field="value", score=scoring.effect_point, abstention=None
)
ATE_INTERVAL: Final = _interval("ate_interval", field="ate")
EFFECT_INTERVAL: Final = _interval("effect_interval", field="value")

# --- F1 -----------------------------------------------------------------------------------------

EDGES: Final = _f1("edges", "edges", "edges", score=scoring.graph_edges)
SKELETON_EDGES: Final = _f1("skeleton_edges", "edges", "skeleton_edges", score=scoring.graph_edges)
ADJUSTMENT_SETS: Final = _f1(
    "adjustment_sets", "sets", "adjustment_sets", score=scoring.listed_members,
    labels=SET_WORDS, abstention="non_id",
)  # fmt: skip
FORBIDDEN: Final = _f1(
    "forbidden", "names", "forbidden", score=scoring.listed_members,
    labels=SET_WORDS, abstention="non_id",
)  # fmt: skip


CAUSALDS: Final = read_variants(
    "causalds", Path(__file__).with_name("variants.toml"), globals().values()
)
