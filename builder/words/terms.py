"""Words that names, mechanisms and stories may not use (``terms.toml``); whole words in a text."""

import re
from collections.abc import Mapping
from typing import Final

from builder.texts import Texts

_TEXTS: Final = Texts(__file__)


def _any_of(key: str, besides: str = "") -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(_TEXTS.lines(key))})\b{besides}", re.IGNORECASE)


TECHNICAL: Final = _any_of("technical")
DERIVED: Final = _any_of("derived")
SIGNED: Final = _any_of("signed")
DENIED: Final = _any_of("denied", besides=r"|n't\b")
NO_MECHANISM: Final = frozenset(_TEXTS.lines("mechanism"))


def says(text: str, words: str) -> bool:
    """Whether ``words`` stand in a text, letter by letter and as whole words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def replace_words(text: str, by: Mapping[str, str]) -> str:
    """The text with each key of ``by`` replaced where it stands as whole words, longest first."""
    for words in sorted(by, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", by[words], text)
    return text
