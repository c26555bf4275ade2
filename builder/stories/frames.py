"""Sentence frames: how variables and direct effects are said in plain English (``frames.toml``).

An effect is a *core* ("{cause} [acts] directly on {effect}"), alone or with its mechanism attached
("{core}, because {how}"), or two effects share a sentence. Which effects meet in one sentence is
decided without looking at them; how a short sentence joins them follows from what they share.
Frames of one place have as many words and commas for every relation, so that the size of a story
tells nothing about the shape of its graph. No frame tells the sign or the strength of an effect;
one of ``NO_DIRECTION`` says so in every such story, lest a mechanism be taken for a sign.

The narrator fills these frames; the plain reader, which knows none of them, reads the text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from builder.stories.texts import Texts

Relation = Literal["chain", "fork", "join", "apart"]
"""What two effects share: the middle of a chain, their cause, their effect, or nothing."""

_RELATIONS: Final[tuple[Relation, ...]] = ("chain", "fork", "join", "apart")
_TEXTS: Final = Texts(__file__)


@dataclass(frozen=True, slots=True)
class Frame:
    """A core clause, which says that one variable directly affects another.

    ``text`` has the slots ``{cause}`` and ``{effect}``. The slots named in ``clauses`` may also
    hold a clause ("whether …"). A ``graded`` frame is used only where the effect is continuous, an
    ``alone`` frame only where the sentence tells no other effect.
    """

    text: str
    clauses: frozenset[str]
    graded: bool = False
    alone: bool = False


EFFECTS: Final = tuple(
    Frame(**row | {"clauses": frozenset(row.get("clauses", ()))}) for row in _TEXTS["effects"]
)
LINKS: Final = _TEXTS.lines("links")
PAIRS: Final = {relation: _TEXTS.lines(f"pairs.{relation}") for relation in _RELATIONS}
REASONS: Final = _TEXTS.lines("reasons")
REASONS_FIRST: Final = _TEXTS.lines("reasons_first")
PAIRS_WITH_REASONS: Final = _TEXTS.lines("pairs_with_reasons")
PAIRS_OF_CORES: Final = _TEXTS.lines("pairs_of_cores")
EFFECT_INTROS: Final = _TEXTS.lines("effect_intros")
COUNT_INTROS: Final = _TEXTS.lines("count_intros")
ONE_MEASURED: Final = _TEXTS.lines("one_measured")
TWO_MEASURED: Final = _TEXTS.lines("two_measured")
TWO_MEASURED_ALIKE: Final = _TEXTS.lines("two_measured_alike")
TWO_STATES: Final = _TEXTS.lines("two_states")
NEVER_MEASURED: Final = _TEXTS.lines("never_measured")
NO_MORE_EFFECTS: Final = _TEXTS.lines("no_more_effects")
NO_DIRECTION: Final = _TEXTS.lines("no_direction")
AS_IT_HAPPENED: Final = _TEXTS.lines("as_it_happened")
COUNT_WORDS: Final = _TEXTS.lines("count_words")
_PLURALS: Final[Mapping[str, str]] = _TEXTS["plurals"]


def number_forms(word: str) -> tuple[str, str]:
    """Return (singular, plural): both from "has/have"; else ``word`` is the singular, and the
    plural is looked up or formed by dropping a final "s" ("acts", "act")."""
    if "/" in word:
        singular, plural = word.split("/")
        return singular, plural
    return word, _PLURALS.get(word, word.removesuffix("s"))
