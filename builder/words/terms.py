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
MORE_DERIVED: Final = _any_of("more_derived")
RESTRICTIVE: Final = _any_of("restrictive")
SIGNED: Final = _any_of("signed")
NO_UNIT: Final = re.compile(rf"(?:{'|'.join(_TEXTS.lines('no_unit'))})\b", re.IGNORECASE)
"""Matches units that would not fit "recorded in ..."."""

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


def yellow_flags(texts: Mapping[str, str]) -> list[str]:
    """One line for every suspicious variable; ``texts`` maps its id to name and meaning.

    A broad construct that is told as the direct cause of an artefact of record keeping, or a
    meaning that denies every other influence, passes an auditor easily (paper A.4); whether such a
    variable may stay is for the auditor to say.
    """
    found = []
    for node, text in texts.items():
        for what, patterns in (
            ("sounds derived", (DERIVED, MORE_DERIVED)),
            ("denies other influences", (RESTRICTIVE,)),
        ):
            hits = sorted({m[0].lower() for p in patterns for m in p.finditer(text)})
            if hits:
                found.append(f"{node} {what}: {', '.join(repr(hit) for hit in hits)}")
    return found
