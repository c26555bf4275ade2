"""Every task variant of every track, as one declarative table.

This is the shared vocabulary of the project: the builder asks what is listed here, the grader
scores what is listed here, and tests walk the table to find a variant without a scorer, an asker,
an answer schema or a table of cases. To add a variant, start with a row in its track's module of
``grader/variants`` (``docs/adding-a-variant.md``).
"""

from typing import Final

from grader.shape import (
    EFFECT_ALPHA,
    LOSS_CAP,
    NULL_EQUIVALENTS,
    POOLS,
    PREDICTION_ALPHA,
    InputMode,
    Pool,
    Variant,
)
from grader.variants.causalab import CAUSALAB
from grader.variants.causalds import CAUSALDS
from grader.variants.ccr import CCR
from grader.variants.replayscm import REPLAYSCM

__all__ = [
    "EFFECT_ALPHA",
    "LOSS_CAP",
    "NULL_EQUIVALENTS",
    "POOLS",
    "PREDICTION_ALPHA",
    "TRACKS",
    "VARIANTS",
    "InputMode",
    "Pool",
    "Variant",
    "variant",
]

VARIANTS: Final[tuple[Variant, ...]] = (*CAUSALDS, *CCR, *REPLAYSCM, *CAUSALAB)

TRACKS: Final[tuple[str, ...]] = tuple(dict.fromkeys(variant.track for variant in VARIANTS))

_BY_KEY: Final = {(variant.track, variant.key): variant for variant in VARIANTS}


def variant(track: str, key: str) -> Variant:
    """The variant of ``track`` called ``family.variant``; raises ``KeyError`` if there is none."""
    return _BY_KEY[track, key]
