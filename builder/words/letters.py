"""Letters for names: a scene about nothing in particular, so that no knowledge of a field helps."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from builder.seeds import pick
from builder.words.fictional import furnish
from builder.words.types import Kind, Setting, Theme, Variable

LETTERS: Final = "BCDEFGHJKLNPQRSTV"
"""Letters that are no English word, look like no digit and are no role of a motif."""

THEME: Final = Theme(
    "letters",
    "case",
    "cases",
    "list",
    "those who keep the list",
    (
        "Nothing is known of where these data come from, and it does not matter. Letters stand "
        "for what was looked at in each case, and a list was kept.",
        "This account gives letters instead of names. There is a list with one line for every "
        "case.",
        "What follows is told in letters, so that nobody is led astray by a word. Every case has "
        "one line in a list.",
    ),
    (
        "What the letters stand for has been forgotten.",
        "The letters were drawn from a hat.",
        "No letter stands for the word that it might begin.",
    ),
)
_UNITS: Final = ("points", "marks", "units", "degrees", "counts")


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
