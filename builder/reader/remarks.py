"""Remarks about a graph, in plain English, as claims that can be reasoned with.

The cues (``remarks.toml``) are written from the meaning of the words, as a careful reader would
take them. Second names ("the pressure") are taken for the one name that ends in that word.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from builder.reader.names import MARK, mask, sentences

Claim = tuple[str, ...]
"""A kind and what it is about: names, numbers in digits (see :mod:`builder.reader.deduce`)."""

_FILE: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("remarks.toml").read_text("utf-8")
)
_NUMBERS: Final = tuple(_FILE["words"]["numbers"].split())
_ORDINARY: Final = frozenset(_FILE["words"]["ordinary"].split())
_SYMMETRIC: Final = frozenset(_FILE["symmetric"])
_NAME: Final = r"(?:the )?<(?P<{}>\d+)>"
_NUMBER: Final = r"(?P<{}>none|exactly [\w-]+)"


def claims_of(story: str, names: Sequence[str]) -> tuple[Claim, ...]:
    """What the sentences of a story claim of the variables ``names``, in order, none twice."""
    parts = sentences(mask(story, names))
    second = _second_marks(names, parts)
    found: dict[Claim, None] = {}
    for part in parts:
        text = part.lower().rstrip(".")
        if MARK.search(text):
            for word, index in second.items():
                text = re.sub(rf"\bthe {re.escape(word)}\b", f"<{index}>", text)
        found |= dict.fromkeys(_claims(text, names))
    return tuple(found)


def _claims(text: str, names: Sequence[str]) -> Iterator[Claim]:
    """The claims of one masked sentence: those of the first cue that it fits."""
    for pattern, says in _cues():
        if (match := pattern.search(text)) is None:
            continue
        if says == ("reach",):
            marked = [names[int(i)] for i in MARK.findall(text)]
            if marked and re.search(r"\bacts? on nothing|\bdirectly\b", text):
                yield ("reach", marked[0], *sorted(marked[1:]))
            return
        for said in says:
            kind, *slots = said.split()
            values = [
                names[int(match[slot])] if slot.isupper() else str(_number(match[slot]))
                for slot in slots
            ]
            yield (kind, *(sorted(values) if kind in _SYMMETRIC else values))
        return


def _number(words: str) -> int:
    word = words.removeprefix("exactly ")
    return int(word) if word.isdecimal() else _NUMBERS.index(word)


@cache
def _cues() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    return tuple((_compiled(cue["match"]), tuple(cue["says"])) for cue in _FILE["cues"])


def _compiled(cue: str) -> re.Pattern[str]:
    """A cue with its letters as marks and its numbers as words, each by name."""
    parts, seen = [], set()
    for piece in re.split(r"(?<![\w\\])([ABCM]|number|second)(?!\w)", cue):
        if piece in seen:
            parts.append(rf"(?:the )?<(?P={piece})>" if piece.isupper() else f"(?P={piece})")
        elif re.fullmatch("[ABCM]", piece):
            parts.append(_NAME.format(piece))
            seen.add(piece)
        elif piece in ("number", "second"):
            parts.append(_NUMBER.format(piece))
            seen.add(piece)
        else:
            # After a mark there is no edge of a word.
            parts.append(re.sub(r"^\\b", "", piece))
    return re.compile("".join(parts))


def _second_marks(names: Sequence[str], parts: Sequence[str]) -> dict[str, int]:
    """By last word of a name: its index, where no other name holds that word, and no sentence
    without a name does."""
    words = [re.findall(r"[^\W\d_]+", name.lower()) for name in names]
    scenery = " ".join(part.lower() for part in parts if not MARK.search(part))
    found = {}
    for index, own in enumerate(words):
        others = [word for i, other in enumerate(words) if i != index for word in other]
        told = len(own) > 1 and own[-1] not in others and own[-1] not in _ORDINARY
        if told and not re.search(rf"\bthe {re.escape(own[-1])}\b", scenery):
            found[own[-1]] = index
    return found
