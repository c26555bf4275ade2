"""General English cues of cause and effect: which way a phrase between two names points.

The lists name common words of causal English in general; they were not written from, and share
nothing with, the phrases of any story generator. :func:`relation` reads what stands between two
variables; the other functions answer small questions about a phrase. All phrases are lower-case
words separated by single spaces.
"""

from typing import Final

from builder.reader.english import DIRECTIONS, PATTERNS, WORDS, Direction, find

_FILLER: Final = frozenset(WORDS["filler"])
_NOT_VERBS: Final = frozenset(WORDS["not_verbs"])
_FUNCTION_WORDS: Final = _NOT_VERBS | _FILLER | frozenset(WORDS["other_function_words"])


def strip_tail(span: str) -> str:
    """``span`` without the words that belong to the next name: articles, 'changes in' …"""
    if find("lower_as_verb", span):
        return span
    while True:
        shorter = span
        match = find("prefix", shorter)
        if match and not find("results_in", shorter):
            shorter = shorter[: match.start()].rstrip()
        last = shorter.rsplit(" ", 1)
        if last[-1] in _FILLER:
            shorter = last[0] if len(last) == 2 else ""
        if shorter == span:
            return span
        span = shorter


def is_negated(span: str) -> bool:
    """Whether the phrase denies what it says."""
    return bool(find("negation", PATTERNS["harmless_negation"].sub(" ", span)))


def is_copula(span: str) -> bool:
    """Whether the phrase only equates: 'is', 'are', a colon."""
    return bool(find("copula", span.strip()))


def asks_for_causes(before: str) -> bool:
    """Whether a noun phrase before a name makes what follows its causes ('the causes of')."""
    return bool(find("causes_of", strip_tail(before)))


def is_verbal(span: str) -> bool:
    """Whether the phrase holds something like a verb."""
    bare = PATTERNS["there_is"].sub("", strip_tail(span))
    return any(word not in _NOT_VERBS for word in PATTERNS["verb"].findall(bare))


def relation(span: str) -> Direction:
    """Which way the phrase between two names points.

    English puts the cause first unless a closed set of words says otherwise (passives, 'depends
    on', 'responds to', 'because of', 'a function of' …), so a verb phrase that is not on any list
    points forward, and a phrase without a verb says nothing.
    """
    span = span.strip()
    if not span or is_negated(span):
        return 0
    if find("has_causes", span) and not span.endswith(" of"):
        return -1
    bare = PATTERNS["there_is"].sub("", strip_tail(span)).rstrip()
    verbal = is_verbal(bare)
    if verbal and find("subordinate_end", bare):
        return -1
    for pattern, direction in DIRECTIONS:
        if find(pattern, bare):
            return direction
    return 1 if verbal or any(_content(word) for word in bare.split()) else 0


def _content(word: str) -> bool:
    """Whether a word is neither a function word nor punctuation, so perhaps an unlisted verb."""
    return len(word) > 2 and word.isalpha() and word not in _FUNCTION_WORDS
