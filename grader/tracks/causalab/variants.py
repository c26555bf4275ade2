"""The variants of CausaLab, and the form of the answers to them."""

from functools import partial
from typing import Final

from grader.shape import Shape, Variant
from grader.tracks.causalab.gold import gold_answer
from grader.tracks.causalab.scoring import laboratory_score
from grader.tracks.causalab.submission import check

LABORATORY: Final = Shape(
    "laboratory_jsonl", "session", "prediction", "f1", "accuracy_edge_f1",
    check, laboratory_score, gold_answer, input_mode="prompt",
)  # fmt: skip

_RULE: Final = (
    "½ task accuracy (the prediction within the stated tolerance of the reactor's frequency) "
    "+ ½ F1 of the directed edges over the pairs that experiments can decide."
)

_variant = partial(Variant, "causalab", "laboratory", rung=2, shape=LABORATORY, rule=_RULE)

CAUSALAB: Final[tuple[Variant, ...]] = (_variant("linear"), _variant("quadratic"))
