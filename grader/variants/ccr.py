"""The variants of CCR."""

from typing import Final

from grader.shape import Variant


def _ccr(family: str, name: str, rung: int, shape: str, field: str, rule: str) -> Variant:
    return Variant("ccr", family, name, rung, "pass", "rae", shape, field, False, "prompt", rule)


_WITHIN = "Right when every listed quantity is within a relative error of 0.1 of its exact value."
_DEDUCED = (
    "Right when the number is within a relative error of 0.1 of the exact value; where the givens "
    'contradict each other or do not determine it, exactly when the answer is "inconsistent" or '
    '"insufficient".'
)


CCR: Final[tuple[Variant, ...]] = (
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
)  # fmt: skip
