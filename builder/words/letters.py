"""Letters for names: a scene about nothing in particular, so that no knowledge of a field helps."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from builder.seeds import pick
from builder.texts import Texts
from builder.words.fictional import furnish, theme
from builder.words.types import Kind, Setting, Variable

LETTERS: Final = "BCDEFGHJKLNPQRSTV"
"""Letters that are no English word, look like no digit and are no role of a motif."""

_TEXTS: Final = Texts(__file__)
_UNITS: Final = _TEXTS.lines("units")
THEME: Final = theme("letters", _TEXTS["theme"])


def letter_scene(
    rng: np.random.Generator, kinds: Mapping[str, Kind]
) -> tuple[Setting, dict[str, Variable]]:
    """A bare setting and a letter for every node. Raises ``ValueError`` for too many nodes."""
    if len(kinds) > len(LETTERS):
        raise ValueError(f"{len(kinds)} variables, but there are {len(LETTERS)} letters")
    order = rng.permutation(len(LETTERS))[: len(kinds)]
    variables = {}
    for node, turn in zip(kinds, order, strict=True):
        unit = pick(rng, _UNITS)
        name = LETTERS[int(turn)]
        variables[node] = (
            Variable(name, "continuous", unit=unit, article=False)
            if kinds[node] == "continuous"
            else Variable(name, "binary", states=("is off", "is on"), article=False)
        )
    return furnish(rng, THEME), variables
