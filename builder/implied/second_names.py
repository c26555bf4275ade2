"""Second names: "the pressure" for the one variable of a story whose name ends in that word.

``second_names.toml`` lists the words that name nothing without the word before them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from builder.implied.patterns import ROWS
from builder.texts import Texts
from builder.words.types import Variable

_TEXTS: Final = Texts(__file__)
_NEVER_ALONE: Final = frozenset(_TEXTS["never_alone"].split())
_ENDINGS: Final = re.compile(rf".*(?:{'|'.join(_TEXTS.lines('endings'))})")
_PREPOSITIONS = frozenset({"of", "per", "in", "at", "on", "to", "from", "for", "with", "by"})


def second_names(variables: Iterable[Variable], beside: Iterable[str]) -> Mapping[str, str]:
    """By name of a variable, the word that may stand for it after "the".

    A name of several words without a preposition has one: its last word, in small letters, if that
    is a whole word and a plain noun. No other name, unit or state of the story may hold that word,
    nor any pattern, nor any of the sentences ``beside``, which name no variable.
    """
    found = list(variables)
    heard = Counter(word for v in found for word in {_stem(w) for w in _words(v.name)})
    taken = {_stem(word) for v in found for text in v.values for word in _words(text)}
    taken |= {_stem(word) for sentence in beside for word in _words(sentence)} | _of_patterns()
    second: dict[str, str] = {}
    for variable in found:
        words = variable.name.lower().split()
        if len(words) < 2 or _PREPOSITIONS & set(words) or not _stands_alone(words[-1]):
            continue
        last = words[-1]
        if heard[_stem(last)] == 1 and _stem(last) not in taken:
            second[variable.name] = last
    return second


def _stands_alone(word: str) -> bool:
    """Whether "the" and this word are enough to name a thing."""
    listed = {word, _stem(word)} & _NEVER_ALONE
    return len(word) > 2 and word.isalpha() and not listed and not _ENDINGS.fullmatch(word)


@cache
def _of_patterns() -> frozenset[str]:
    return frozenset(_stem(word) for row in ROWS for text in row.texts for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.lower())


def _stem(word: str) -> str:
    """A word without the ending of its plural."""
    return word.removesuffix("s") if len(word) > 3 else word
