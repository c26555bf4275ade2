"""The variants of ReplaySCM."""

from functools import partial
from typing import Final

from grader.shape import Variant
from grader.tracks.replayscm import shapes

_REPLAYED: Final = (
    "Right when the program replays every training world and every held-out world exactly"
)
_SEPARATED: Final = (
    "Right when the program fits every training world, differs from the reference in some "
    "mechanism's function, and the intervention with the witness shows a difference."
)

_variant = partial(Variant, "replayscm")

REPLAYSCM: Final[tuple[Variant, ...]] = (
    _variant("induction", "ordered", 2, shapes.MECHANISMS, f"{_REPLAYED}."),
    _variant("induction", "block", 2, shapes.MECHANISMS, f"{_REPLAYED}."),
    _variant("induction", "hidden", 2, shapes.MECHANISMS, f"{_REPLAYED}."),
    _variant(
        "induction", "hidden_roots", 2, shapes.ROOTS_MECHANISMS,
        f"{_REPLAYED}, and the declared roots are the roots.",
    ),
    _variant("alternative", "alternative_ordered", 2, shapes.ALTERNATIVE_SCM, _SEPARATED),
    _variant("alternative", "alternative_hidden", 2, shapes.ALTERNATIVE_SCM, _SEPARATED),
)  # fmt: skip
