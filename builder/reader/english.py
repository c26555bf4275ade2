"""Know words of causal English, and find names of variables in a text.

The lists and patterns of ``english.toml`` hold common words of causal English in general, and share
nothing with the phrases of any story generator. Names that no table or question gives are found as
capitalised phrases that the text repeats.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

Direction = Literal[-1, 0, 1]
"""+1: left causes right. -1: right causes left. 0: no direct effect is stated."""

_ENGLISH: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("english.toml").read_text("utf-8")
)
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(word.replace("_", " ") for word in text.split())
    for name, text in _ENGLISH["words"].items()
}


def _compile_pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern of ``english.toml``; each ``{list}`` is any word of that list."""
    pattern = "".join(line.strip() for line in text.splitlines())
    return re.compile(
        re.sub(r"\{([a-z_]+)\}", lambda name: f"(?:{'|'.join(WORDS[name[1]])})", pattern)
    )


PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    name: _compile_pattern(text) for name, text in _ENGLISH["patterns"].items()
}
MARK: Final = re.compile(r"<(\d+)>")
"""A placeholder: the index of a name between angle brackets."""

_NOT_VERBS: Final = frozenset(WORDS["not_verbs"])
_FUNCTION_WORDS: Final = _NOT_VERBS.union(WORDS["filler"], WORDS["other_function_words"])
_STOP: Final = frozenset(WORDS["stop"])
_NEVER_IN_NAMES: Final = _STOP.difference(WORDS["stop_inside_names"])


def find(pattern: str, text: str) -> re.Match[str] | None:
    """Return the first match of this pattern of ``english.toml`` anywhere in ``text``, or None."""
    return PATTERNS[pattern].search(text)


def strip_tail(span: str) -> str:
    """Return ``span`` without trailing words of the next name: articles, adjectives …"""
    words = span.split(" ")
    while words and words[-1] in WORDS["filler"]:
        words.pop()
    return " ".join(words)


def is_negated(span: str) -> bool:
    """Tell whether the phrase denies an effect. 'not only' and 'no doubt' do not."""
    return bool(find("negation", PATTERNS["harmless_negation"].sub(" ", span)))


def is_verbal(span: str) -> bool:
    """Tell whether the phrase holds something like a verb, the words of the next name aside."""
    return any(word not in _NOT_VERBS for word in PATTERNS["verb"].findall(strip_tail(span)))


def relation(span: str) -> Direction:
    """Return 1 where the left name causes the right one, -1 for the reverse, 0 for no effect.
    English puts the cause first but in a closed set of words (passives, 'depends on' …), so that
    unlisted verbs point forward. An empty, negated or verbless phrase gives 0."""
    span = span.strip()
    if not span or is_negated(span):
        return 0
    bare = strip_tail(span)
    directions: list[tuple[str, Direction]] = _ENGLISH["relation"]["directions"]
    for pattern, direction in directions:
        if find(pattern, bare):
            return direction
    # A word that is neither a function word nor punctuation may be a verb that no list has.
    content = (w for w in bare.split() if len(w) > 2 and w.isalpha() and w not in _FUNCTION_WORDS)
    return 1 if is_verbal(bare) or any(content) else 0


def sentences(text: str) -> list[str]:
    """Return the sentences in order, each blank single, without Markdown headings."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    parts = PATTERNS["sentence"].split("\n".join(lines))
    return [" ".join(part.split()) for part in parts if part and part.strip()]


def mask(text: str, names: Sequence[str]) -> str:
    """Return ``text`` with every mention of ``names[i]`` replaced by ``<i>``, longest names first.
    Blanks, ``_`` and ``-`` inside a name are the same, and case is ignored, except for one-letter
    names. A possessive ``'s`` stays behind the mark."""
    for i in sorted(range(len(names)), key=lambda i: (-len(names[i]), names[i])):
        body = r"[\s_-]+".join(re.escape(part) for part in re.split(r"[\s_-]+", names[i]) if part)
        case = 0 if len(names[i].strip()) == 1 else re.IGNORECASE
        text = re.sub(rf"(?<![\w<]){body}(?![\w>])", f"<{i}>", text, flags=case)
    return text


def told_unmeasured(text: str, names: Sequence[str], values: Sequence[str]) -> frozenset[str]:
    """Return the ``names`` that a sentence without another name calls unmeasured. ``values`` (units
    and states) are taken out first, since they may use such words ("percent hidden")."""
    found = set()
    told = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
    for sentence in sentences(mask(text, names)):
        named = {int(index) for index in MARK.findall(sentence)}
        bare = re.sub(rf"(?<!\w)(?:{told})(?!\w)", "", sentence) if told else sentence
        if len(named) == 1 and find("unmeasured", bare):
            found |= named
    return frozenset(names[index] for index in found)


def discover(text: str, known: Sequence[str], count: int | None = None) -> tuple[str, ...]:
    """Return phrases in ``text`` that look like names and are not ``known``, most frequent first,
    none that contains a more frequent one or is part of it: with ``count``, the number of variables
    in all, up to ``2 * count + 6``; without it those that some sentence calls unmeasured."""
    parts = sentences(mask(text, known))
    found: list[str] = []
    for name in _capitalised_phrases(parts):
        folded = name.casefold()
        if not any(folded in other.casefold() or other.casefold() in folded for other in found):
            found.append(name)
    if count is not None:
        return tuple(found[: 2 * count + 6])
    told = "\n".join(part for part in parts if find("unmeasured", part)).casefold()
    return tuple(name for name in found if re.search(rf"\b{re.escape(name.casefold())}\b", told))


def _capitalised_phrases(parts: Sequence[str]) -> list[str]:
    """Return capitalised phrases that occur at least twice in masked sentences, most frequent
    first, with the common words that go with them: 'Orrin wind speed'."""
    seen: Counter[str] = Counter()
    openings: Counter[str] = Counter()
    for part in parts:
        for match in PATTERNS["title_run"].finditer(part):
            run, opening = match.group().split(), match.start() == 0
            while run and (run[0] in WORDS["leading"] or run[0].casefold() in _STOP):
                run, opening = run[1:], False
            if opening and len(run) == 1:
                openings[run[0]] += 1  # a capital that any first word would have
            elif run:
                seen[" ".join(run)] += 1
    merged: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for name, times in seen.items():
        spelling.setdefault(name.casefold(), name)
        merged[name.casefold()] += times + openings[name]
    ranked = sorted(merged.items(), key=lambda item: (-item[1], -len(item[0]), item[0]))
    return [_extend_name(spelling[name], parts) for name, times in ranked if times >= 2]


def _extend_name(name: str, parts: Sequence[str]) -> str:
    """Return ``name`` with each word that follows three of four mentions, and two at least."""
    while True:
        pattern = re.compile(rf"\b{re.escape(name)}\b(?: ([^\W\d_][\w'’-]*))?")
        mentions = [match.group(1) for part in parts for match in pattern.finditer(part)]
        follows = Counter(w for w in mentions if w and w.casefold() not in _NEVER_IN_NAMES)
        (word, times), *_ = follows.most_common(1) or [("", 0)]
        if times < 2 or times < 0.75 * len(mentions) or word.endswith("ly"):
            return name
        name = f"{name} {word}"
