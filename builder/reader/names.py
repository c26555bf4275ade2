"""Finding variable names in a story, and putting placeholders where they stand.

Known names come from the test taker's table or question. Names that are in no list (unmeasured
variables; every variable of a story-only task) are found as capitalised or quoted phrases that the
text repeats.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from builder.reader.cues import is_verbal
from builder.reader.english import PATTERNS, WORDS, find

MARK: Final = re.compile(r"<(\d+)>")
"""A placeholder: the index of a name between angle brackets."""

_STOP: Final = frozenset(WORDS["stop"])
_NEVER_IN_NAMES: Final = _STOP - frozenset(WORDS["stop_inside_names"])
_LEADING: Final = frozenset(WORDS["leading"])


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, Markdown headings and blank lines dropped."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    parts = PATTERNS["sentence"].split("\n".join(lines))
    return [" ".join(part.split()) for part in parts if part and part.strip()]


def mask(text: str, names: Sequence[str]) -> str:
    """``text`` with every mention of ``names[i]`` replaced by ``<i>``, longest names first.

    Case is ignored, except for one-letter names; a possessive ``'s`` stays behind the mark.
    """
    order = sorted(range(len(names)), key=lambda i: (-len(names[i]), names[i]))
    for i in order:
        body = r"[\s_-]+".join(re.escape(part) for part in re.split(r"[\s_-]+", names[i]) if part)
        if len(names[i].strip()) == 1:
            follows = r"(?! (?:rise|change|shift|fall|drop|higher|lower|larger|small|large|unit)\b)"
            pattern = re.compile(rf"(?<![\w<]){body}(?![\w>]){follows if names[i] == 'A' else ''}")
        else:
            pattern = re.compile(rf"(?<![\w<]){body}(?![\w>])", re.IGNORECASE)
        text = pattern.sub(f"<{i}>", text)
    return text


def tells_unmeasured(sentence: str) -> bool:
    """Whether the sentence says of something that it was not measured."""
    return bool(find("unmeasured", sentence))


def told_unmeasured(text: str, names: Sequence[str], values: Sequence[str]) -> frozenset[str]:
    """Those of ``names`` of which some sentence, that names no other, says that nobody measured
    them. ``values`` are units and states, which may use such words too ("percent hidden")."""
    found = set()
    told = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
    for sentence in sentences(mask(text, names)):
        named = {int(index) for index in MARK.findall(sentence)}
        bare = re.sub(rf"(?<!\w)(?:{told})(?!\w)", "", sentence) if told else sentence
        if len(named) == 1 and tells_unmeasured(bare):
            found |= named
    return frozenset(names[index] for index in found)


def discover(text: str, known: Sequence[str], count: int | None = None) -> tuple[str, ...]:
    """Phrases in ``text`` that look like names and are not ``known``, best first.

    With ``count``, the number of variables in all, every phrase worth considering (more than are
    lacking). Without, those that the text repeats and some sentence calls unmeasured; there may
    be none.
    """
    parts = sentences(mask(text, known))
    found = _distinct(_marked(parts))
    if count is not None:
        return tuple(found[: 2 * count + 6])
    told = "\n".join(part for part in parts if tells_unmeasured(part)).casefold()
    return tuple(name for name in found if re.search(rf"\b{re.escape(name.casefold())}\b", told))


def _marked(parts: Sequence[str]) -> list[str]:
    """Quoted and capitalised phrases that occur at least twice, most frequent first.

    A capitalised phrase takes in the common words that go with it: 'the Orrin' that is always
    followed by 'wind speed' is the Orrin wind speed.
    """
    seen: Counter[str] = Counter()
    openings: Counter[str] = Counter()
    for part in parts:
        for match in PATTERNS["quoted"].finditer(part):
            seen[match.group(1).strip()] += 2
        for match in PATTERNS["title_run"].finditer(part):
            run = match.group().split()
            opening = match.start() == 0
            while run and (run[0] in _LEADING or run[0].casefold() in _STOP):
                run = run[1:]
                opening = False
            if opening and len(run) == 1:
                openings[run[0]] += 1  # a capital that any first word would have
            elif run:
                seen[" ".join(run)] += 1
    for name in seen:
        seen[name] += openings[name]
    merged: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for name, times in seen.items():
        spelling.setdefault(name.casefold(), name)
        merged[name.casefold()] += times
    ranked = sorted(merged.items(), key=lambda item: (-item[1], -len(item[0]), item[0]))
    return [_extended(spelling[name], parts) for name, times in ranked if times >= 2]


def _extended(name: str, parts: Sequence[str]) -> str:
    """``name`` with the words that follow it in three of four mentions, and in two at least."""
    while True:
        follows: Counter[str] = Counter()
        pattern = re.compile(
            rf"\b{re.escape(name)}\b(?: ([^\W\d_][\w'’-]*))?",
            re.IGNORECASE if name == name.casefold() else 0,
        )
        mentions = [match.group(1) for part in parts for match in pattern.finditer(part)]
        follows.update(word for word in mentions if word and word.casefold() not in _NEVER_IN_NAMES)
        (word, times), *_ = follows.most_common(1) or [("", 0)]
        if times < 2 or times < 0.75 * len(mentions) or word.endswith("ly"):
            return name
        name = f"{name} {word}"


def _distinct(names: Sequence[str]) -> list[str]:
    """The names without those that stand inside an earlier one or are a lone verb."""
    kept: list[str] = []
    for name in names:
        folded = name.casefold()
        if any(folded in other.casefold() or other.casefold() in folded for other in kept):
            continue
        if " " not in name and is_verbal(folded) and name == folded:
            continue
        kept.append(name)
    return kept
