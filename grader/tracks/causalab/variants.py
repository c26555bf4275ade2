"""The variants of CausaLab."""

from functools import partial
from typing import Final

from grader.shape import Variant
from grader.tracks.causalab.shapes import LABORATORY

_RULE: Final = (
    "½ task accuracy (the prediction within the stated tolerance of the reactor's frequency) "
    "+ ½ F1 of the directed edges over the pairs that experiments can decide."
)
_NOISY_RULE: Final = (
    "½ task accuracy (the prediction within the stated tolerance of the reactor's frequency) "
    "+ ½ F1 of the directed edges over the pairs that the planner's experiments decide at 95% (in "
    "190 of 200 draws of the readings' errors)."
)

_variant = partial(Variant, "causalab", "laboratory", rung=2, shape=LABORATORY, rule=_RULE)
_noisy = partial(Variant, "causalab", "frontier", rung=2, shape=LABORATORY, rule=_NOISY_RULE)

CAUSALAB: Final[tuple[Variant, ...]] = (
    _variant("linear"),
    _variant("quadratic"),
    _noisy("curved"),
    _noisy("confounded"),
    _noisy("replicated"),
    _noisy("tight"),
)
