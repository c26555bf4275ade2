"""The variants of CausaLab."""

from functools import partial
from typing import Final

from grader.shape import Variant
from grader.tracks.causalab.shapes import LABORATORY

_RULE: Final = (
    "½ task accuracy (the prediction within the stated tolerance of the reactor's frequency) "
    "+ ½ F1 of the directed edges."
)
_variant = partial(Variant, "causalab", "laboratory", rung=2, shape=LABORATORY, rule=_RULE)

CAUSALAB: Final[tuple[Variant, ...]] = (
    _variant("linear"),
    _variant("quadratic"),
)
