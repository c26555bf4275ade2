"""The variants of CCR."""

from functools import partial
from typing import Final

from grader.shape import Variant
from grader.tracks.ccr import shapes

_WITHIN: Final = (
    "Right when every listed quantity is within a relative error of 0.1 of its exact value."
)
_DEDUCED: Final = (
    "Right when the number is within a relative error of 0.1 of the exact value; where the givens "
    'contradict each other or do not determine it, exactly when the answer is "inconsistent" or '
    '"insufficient".'
)

_variant = partial(Variant, "ccr")

CCR: Final[tuple[Variant, ...]] = (
    _variant(
        "simulation", "pair", 3, shapes.UNIT_ANSWERS,
        "Right (the pair is externally valid) when the PNS that the answers give, over the units' "
        "exact weights, has a relative absolute error of at most 0.1 of the exact PNS.",
    ),
    _variant("direct", "boolean", 3, shapes.QUANTITIES, _WITHIN),
    _variant("direct", "linear", 2, shapes.QUANTITIES, _WITHIN),
    _variant("direct", "trap", 2, shapes.QUANTITIES, _WITHIN),
    _variant("deductive", "boolean", 3, shapes.DEDUCTION, _DEDUCED),
    _variant("deductive", "linear", 2, shapes.DEDUCTION, _DEDUCED),
)  # fmt: skip
