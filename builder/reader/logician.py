"""A reader that works out what a story does not say: it reads remarks, then solves them.

Where :func:`builder.reader.story.read_story` takes every phrase between two names for an edge, the
logician takes a sentence for what it claims and asks which graph all claims leave.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from builder.reader.deduce import deduce
from builder.reader.english import PATTERNS, WORDS
from builder.reader.names import discover, mask, sentences, tells_unmeasured, told_unmeasured
from builder.reader.remarks import Claim, claims_of
from builder.reader.story import Reading

_LONGEST_NAME: Final = 4
_NO_NAME: Final = frozenset(WORDS["stop"]) - {*WORDS["stop_inside_names"], "near"}
"""Words that are in no name of an unmeasured variable; "near misses" are one."""
_NO_START: Final = frozenset(word.casefold() for word in WORDS["leading"]) | _NO_NAME


def reason(story: str, known: Sequence[str] = (), count: int | None = None) -> Reading | None:
    """The graph that a story implies, or None where it is no such story.

    Arguments as of ``read_story``; what is ``known`` has been measured. Edges that the claims leave
    open are left out.
    """
    names = list(known)
    if count is not None:
        found = (name for name in discover(story, known, count) if name != name.casefold())
        names += [name for name in found if not any(name in other for other in names)]
    names += [name for name in _hidden(story, known) if name not in names]
    names = names[: max(count or len(names), len(known))]
    hidden = told_unmeasured(story, names, ()) - set(known)
    claims = claims_of(story, names)
    if not any(claim[0] == "closure" for claim in claims):
        return None
    measured = [name for name in names if name not in hidden]
    edges = deduce(measured, [claim for claim in claims if _fits(claim, measured)]).edges
    return Reading(tuple(names), tuple(sorted(edges)), frozenset(names) & hidden)


def _hidden(story: str, known: Sequence[str]) -> list[str]:
    """Names of unmeasured variables: what two sentences say that nobody measured."""
    parts = sentences(mask(story, known))
    told = Counter(run for part in parts if tells_unmeasured(part) for run in set(_runs(part)))
    everywhere = Counter(run for part in parts for run in set(_runs(part)))
    twice = sorted((run for run, n in told.items() if n > 1), key=lambda run: (-len(run), run))
    kept: list[str] = []
    for run in twice:
        # A name is told whole: "Flu" never stands alone where "about town" belongs to it.
        whole = everywhere[run] == everywhere[tuple(takewhile(_may_name, run))]
        if whole and not any(" ".join(run) in longer for longer in kept):
            kept.append(" ".join(run))
    return kept


def _runs(part: str) -> Iterator[tuple[str, ...]]:
    """Runs of words, the first with a capital, that could be a name."""
    for phrase in re.split(r"[^\w'’ -]", part):
        words = PATTERNS["word"].findall(phrase)
        for start, first in enumerate(words):
            if first == first.casefold() or first.casefold() in _NO_START:
                continue
            for end in range(start + 1, min(start + _LONGEST_NAME, len(words)) + 1):
                yield tuple(words[start:end])


def _may_name(word: str) -> bool:
    return word.casefold() not in _NO_NAME


def _fits(claim: Claim, measured: Sequence[str]) -> bool:
    """Whether a claim is about measured variables where it has to be, and counts no more than there
    are: of misread names it may."""
    kind, *about = claim
    most = {"causes": len(measured) - 1, "effects": len(measured) - 1,
            "total": len(measured) * (len(measured) - 1) // 2}  # fmt: skip
    if kind == "reach" and about[0] in measured:
        return False  # the name of what was never measured was not found
    if kind in most and int(about[-1]) > most[kind]:
        return False
    names = about[1:] if kind == "reach" else [word for word in about if not word.isdecimal()]
    return all(name in measured for name in names)
