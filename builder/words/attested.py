"""What a language model's story must hold besides: no rule wrote its sentences.

None of them may tell a sign or deny an effect, and what was never measured must be called so in
these words. Whether the sentences mean what they are said to mean was judged when the story was
written.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from builder.words.terms import DENIED, SIGNED, replace_words
from builder.words.types import Attestation, Facts, Variable
from builder.words.verify import names_in, verify

PARAGRAPHS: Final = (2, 4)
MOST_WORDS: Final = 1200

_NAME: Final = "«»"
_REASON: Final = re.compile(rf", (?:because|since|for|as) [^{_NAME}]*$")
"""A reason that ends a sentence and names no variable: "…, for the path has no lamps" denies no
effect."""

_UNMEASURED: Final = re.compile(r"\bnever (?:been )?measured\b", re.IGNORECASE)


def verify_attested(story: str, attestations: Iterable[Attestation], facts: Facts) -> list[str]:
    """Return the problems of an attested story, one line each; empty when it passes every check."""
    attested = list(attestations)
    return [*_size(story), *verify(story, attested, facts), *_sentences(attested, facts)]


def _size(story: str) -> Iterator[str]:
    count = len([part for part in story.split("\n\n") if part.strip()])
    if not PARAGRAPHS[0] <= count <= PARAGRAPHS[1]:
        yield f"the story has {count} paragraphs, should be {PARAGRAPHS[0]} to {PARAGRAPHS[1]}"
    odd = sorted({c for c in story if (not c.isprintable() and c != "\n") or c in "#`<>{}|"})
    if odd:
        yield f"the story has characters that are no plain text: {', '.join(map(repr, odd[:5]))}"
    if len(story.split()) > MOST_WORDS:
        yield f"the story has more than {MOST_WORDS} words"


def _sentences(attested: Iterable[Attestation], facts: Facts) -> Iterator[str]:
    variables = list(facts.variables.values())
    hidden = {facts.variables[node].name for node in facts.unmeasured}
    for one in attested:
        beside_hidden = bool(names_in(one.sentence, variables) & hidden)
        never = _UNMEASURED.search(one.sentence) is not None
        told = f"the sentence given for {' / '.join(one.what)}"
        if one.what[0] == "edge":
            for problem in _effect(one.sentence, variables, beside_hidden):
                yield f"{told} {problem}"
        elif one.what[0] == "unmeasured" and not never:
            yield f'{told} does not say "never measured"'
        elif one.what[0] == "node" and never and not beside_hidden:
            yield f"{told} says that it was never measured, but it was"


def _effect(sentence: str, variables: Iterable[Variable], beside_hidden: bool) -> Iterator[str]:
    """Signs and denials in a sentence that tells an effect, names and states aside."""
    rest = _UNMEASURED.sub("", sentence) if beside_hidden else sentence
    told = [variable.name for variable in variables]
    values = [text for variable in variables for text in variable.values]
    rest = replace_words(rest, dict.fromkeys(values, "") | dict.fromkeys(told, _NAME))
    if match := SIGNED.search(rest):
        yield f"tells a direction or strength: {match[0]!r}"
    if match := DENIED.search(_REASON.sub("", rest)):
        yield f"denies something: {match[0]!r}"
