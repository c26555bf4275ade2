"""Every phrase of the frames that joins effects, before names without an article, as the reader
that knows no frame reads it."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Final

from builder.reader import read_story
from builder.stories.story import FRAMES, PAIRS

LETTERS: Final = ("G", "L", "V", "H")
TWO: Final = {
    "chain": ("GL", "LH"),
    "fork": ("GL", "GH"),
    "join": ("GL", "VL"),
    "apart": ("GL", "VH"),
}
"""Two effects by what they share, each as cause and effect."""
FORWARDS: Final = "{cause} directly affects {effect}"
BACKWARDS: Final = "{effect} responds directly to {cause}"


def sentences() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Frames filled with letters, and their effects."""
    for relation, effects in TWO.items():
        (a, b), (c, d) = effects
        ends = {"cause": a, "effect": b, "second_cause": c, "second_effect": d}
        for frame in PAIRS[relation]:
            yield filled(frame, ends), effects
        whole = (*FRAMES["pairs_of_cores"], *FRAMES["pairs_with_reasons"])
        for frame, link, verb in product(whole, FRAMES["links"], (FORWARDS, BACKWARDS)):
            second = filled(verb, {"cause": c, "effect": d})
            core = {"core": FORWARDS, "second": second, "link": link}
            yield filled(filled(frame, core), ends), effects
    for frame in (*FRAMES["reasons"], *FRAMES["reasons_first"]):
        yield filled(filled(frame, {"core": FORWARDS}), {"cause": "G", "effect": "L"}), ("GL",)


def filled(text: str, slots: dict[str, str]) -> str:
    """A frame about single things."""
    scene = {"book": "list", "people": "all", "how": "so it is", "other_how": "so it is"}
    for slot, content in {**scene, **slots}.items():
        text = text.replace(f"{{{slot}}}", content)
    return re.sub(r"\[([^/\]]+)[^\]]*\]", r"\1", text)


def test_a_connecting_phrase_before_a_letter_belongs_to_no_effect() -> None:
    """ "…, and beyond that V" speaks of V, which what was said before has nothing to do with."""
    told = list(sentences())
    read = [read_story(f"{text[0].upper()}{text[1:]}.", LETTERS).edges for text, _ in told]
    wrong = [
        (text, edges)
        for (text, effects), edges in zip(told, read, strict=True)
        if {*edges} != {(a, b) for a, b in effects}
    ]
    assert len(told) > 140 and not wrong
