"""The variants of CausaLab."""

from typing import Final

from grader.shape import Variant

_RULE: Final = (
    "½ task accuracy (the prediction within the stated tolerance of the reactor's frequency) "
    "+ ½ F1 of the directed edges over the pairs that experiments can decide."
)


def _causalab(name: str) -> Variant:
    return Variant(
        "causalab", "laboratory", name, 2, "f1", "accuracy_edge_f1", "laboratory_jsonl",
        "prediction", False, "prompt", _RULE,
    )  # fmt: skip


CAUSALAB: Final[tuple[Variant, ...]] = (_causalab("linear"), _causalab("quadratic"))
