"""Letters for names: a scene about nothing in particular, so that no knowledge of a field helps."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from builder.seeds import pick, shuffled
from builder.texts import Texts
from builder.words.fictional import furnish, theme
from builder.words.types import Kind, Setting, Variable

_SINGLE: Final = "DGHJLQTV"
LETTERS: Final = (*_SINGLE, *(2 * letter for letter in _SINGLE))
"""Names: letters that are no English word, look like no digit, are no role of a motif and stand
for nothing else in a prompt (r, s, X, P, a member k); doubled ones where single ones run out."""

_TEXTS: Final = Texts(__file__)
_UNITS: Final = _TEXTS.lines("units")
THEME: Final = theme("letters", _TEXTS["theme"])


def letter_scene(
    rng: np.random.Generator, kinds: Mapping[str, Kind]
) -> tuple[Setting, dict[str, Variable]]:
    """A bare setting and a letter for every node. Raises ``ValueError`` for too many nodes."""
    if len(kinds) > len(LETTERS):
        raise ValueError(f"{len(kinds)} variables, but there are {len(LETTERS)} letters")
    names = shuffled(rng, LETTERS[: max(len(kinds), len(_SINGLE))])
    variables = {}
    for node, name in zip(kinds, names, strict=False):
        unit = pick(rng, _UNITS)
        variables[node] = (
            Variable(name, "continuous", unit=unit, article=False)
            if kinds[node] == "continuous"
            else Variable(name, "binary", states=("is off", "is on"), article=False)
        )
    return furnish(rng, THEME), variables
