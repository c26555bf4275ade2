"""Small frontier exams of causalds, as settings and as what they are parsed to."""

from builder.causalds.exams.model import ExamModel, parse_exam
from builder.settings import TomlTable

PLAIN = {"continuous": {"linear_additive": 1}, "binary": {"single_regulator_logistic": 1}}
ASKED = {
    "effect_estimate": {"ate_point": 3, "ate_sign_only": 3},
    "mediation_effect": {"sign_only": 3},
    "identification": {"one_valid_adjustment_set": 3},
    "counterfactual_identification": {"identifiable_boolean": 3},
    "association": {"sign_before_after": 1},
}
SMALL = {"kind": "frontier", "tasks": 16, "wild": 0.75, "variants": ASKED}
ONE = {"effect_estimate": {"ate_point": 1}}
WILD = {"scenes": 4, "implied": [0.6, 0.9], "misled": 0.0, "strata": {"harmless": 1}}


def model_of(**changes: object) -> ExamModel:
    """The small exam with other settings."""
    return parse_exam(TomlTable({**SMALL, **changes}, "frontier.toml: "))
