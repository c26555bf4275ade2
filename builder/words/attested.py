"""Checks a story that no frame can read: by the sentences that are said to tell its facts.

A free text cannot be parsed with certainty, but much can be checked without understanding it: that
every fact, and nothing else, has its sentence, that this sentence stands in the story and names
what it is about, with units and states; that none of them tells a sign or denies an effect; that no
id and no technical term slipped in, and that the story says that it tells no direction. Whether the
sentences mean what they are said to mean was judged when the story was written.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from builder.words.terms import DENIED, SIGNED, replace_words, says
from builder.words.types import Attestation, Facts, Variable
from builder.words.verify import check_no_direction, check_words, split_sentences

PARAGRAPHS: Final = (2, 4)
MOST_WORDS: Final = 1200

_NAME: Final = "«»"
_REASON: Final = re.compile(rf", (?:because|since|for|as) [^{_NAME}]*$")
"""A reason that ends a sentence and names no variable: "…, for the path has no lamps" denies no
effect."""

_UNMEASURED: Final = re.compile(r"\bnever (?:been )?measured\b", re.IGNORECASE)


def verify_attested(story: str, attestations: Iterable[Attestation], facts: Facts) -> list[str]:
    """The problems of an attested story, one line each; empty when it passes every check."""
    attested = list(attestations)
    return [
        *_size(story),
        *_coverage(attested, facts),
        *_sentences(attested, split_sentences(story), facts),
        *_unaccounted(attested, split_sentences(story), facts),
        *check_words(story, facts),
        *check_no_direction(story),
    ]


def names_in(sentence: str, variables: Iterable[Variable]) -> set[str]:
    """The names that a sentence mentions, letter by letter and as whole words."""
    return {variable.name for variable in variables if says(sentence, variable.name)}


def wanted(facts: Facts) -> set[tuple[str, ...]]:
    """What must be attested: every variable, measured or not, and every effect."""
    nodes = {
        ("unmeasured" if node in facts.unmeasured else "node", variable.name)
        for node, variable in facts.variables.items()
    }
    return nodes | {("edge", *edge) for edge in facts.named_edges()}


def _size(story: str) -> Iterator[str]:
    count = len([part for part in story.split("\n\n") if part.strip()])
    if not PARAGRAPHS[0] <= count <= PARAGRAPHS[1]:
        yield f"the story has {count} paragraphs, should be {PARAGRAPHS[0]} to {PARAGRAPHS[1]}"
    odd = sorted({c for c in story if (not c.isprintable() and c != "\n") or c in "#`<>{}|"})
    if odd:
        yield f"the story has characters that are no plain text: {', '.join(map(repr, odd[:5]))}"
    if len(story.split()) > MOST_WORDS:
        yield f"the story has more than {MOST_WORDS} words"


def _coverage(attested: list[Attestation], facts: Facts) -> Iterator[str]:
    needed, told = wanted(facts), {one.what for one in attested}
    yield from (f"no sentence is given for: {' / '.join(w)}" for w in sorted(needed - told))
    yield from (f"a sentence is given, but not so: {' / '.join(w)}" for w in sorted(told - needed))


def _sentences(attested: list[Attestation], sentences: list[str], facts: Facts) -> Iterator[str]:
    variables = {variable.name: variable for variable in facts.variables.values()}
    hidden = {facts.variables[node].name for node in facts.unmeasured}
    for one in attested:
        what = " / ".join(one.what)
        if one.sentence not in sentences:
            yield f"given for {what}, but no sentence of the story: {one.sentence[:120]!r}"
            continue
        named = names_in(one.sentence, variables.values())
        absent = [name for name in one.what[1:] if name not in named]
        if absent:
            yield f"the sentence given for {what} does not name {', '.join(absent)}"
        elif one.what[0] == "edge":
            for problem in _effect(one.sentence, variables.values(), bool(named & hidden)):
                yield f"the sentence given for {what} {problem}"
        elif one.what[1] in variables:
            for problem in _variable(one, variables[one.what[1]], bool(named & hidden)):
                yield f"the sentence given for {what} {problem}"


def _unaccounted(attested: list[Attestation], sentences: list[str], facts: Facts) -> Iterator[str]:
    """Sentences that name a variable beside others without a fact to tell about it: whatever they
    say may be read as an effect."""
    accounted: dict[str, set[str]] = {}
    for one in attested:
        accounted.setdefault(one.sentence, set()).update(one.what[1:])
    for sentence in dict.fromkeys(sentences):
        named = names_in(sentence, facts.variables.values())
        spare = named - accounted.get(sentence, set())
        if len(named) > 1 and spare:
            yield (
                f"a sentence names {', '.join(sorted(spare))} beside other variables, but is given "
                f"for no fact about it: {sentence[:120]!r}"
            )


def _variable(one: Attestation, variable: Variable, beside_hidden: bool) -> Iterator[str]:
    never = _UNMEASURED.search(one.sentence) is not None
    if one.what[0] == "unmeasured":
        if not never:
            yield 'does not say "never measured"'
        return
    if never and not beside_hidden:
        yield "says that it was never measured, but it was"
    for text in variable.values:
        if not says(one.sentence, text):
            yield f"does not say {text!r}"


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
