"""Checks of a finished story against its facts, and of words that it may not use (``verify.toml``).

Much can be checked without understanding a text: that every fact, and nothing else, has its
sentence, that this sentence stands in the story once and names what it is about, with units, states
and no mechanism of another effect; that no sentence names variables beside these; that no id and no
technical term slipped in. What the sentences mean is read by :mod:`builder.reader`.

Of a language model's story no rule wrote the sentences: none may tell a sign or deny an effect, and
what was never measured must be called so. What they mean was judged when the story was written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from builder.stories.story import NO_DIRECTION
from builder.stories.texts import Texts
from builder.stories.types import Attestation, Facts, Variable

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
    """Tell whether ``words`` stand in ``text`` exactly (case counts), as whole words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def replace_words(text: str, by: Mapping[str, str]) -> str:
    """Return the text with whole words replaced by value, the longest key first."""
    for words in sorted(by, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", by[words], text)
    return text


def yellow_flags(texts: Mapping[str, str]) -> list[str]:
    """Return a line for every suspicion about a variable (paper A.4): a name that sounds derived,
    or a meaning that denies other influences. ``texts`` maps an id to name and meaning."""
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


def verify(story: str, attested: Sequence[Attestation], facts: Facts) -> list[str]:
    """Return the problems of a story, one line each; empty when it passes every check."""
    sentences = split_sentences(story)
    problems = [
        *_coverage(attested, facts),
        *_sentences(attested, sentences, facts),
        *_unattested_mentions(attested, sentences, facts),
        *_words(story, facts),
    ]
    if not any(text in story for text in NO_DIRECTION):
        problems.append("it is not said that signs and sizes are for data to tell")
    return problems


def names_in(sentence: str, variables: Iterable[Variable]) -> set[str]:
    """Return the variable names that a sentence mentions exactly, as whole words."""
    return {variable.name for variable in variables if says(sentence, variable.name)}


def split_sentences(story: str) -> list[str]:
    """Return the sentences of a story in order, each with its final mark (full stop, ? or !)."""
    return [part for part in re.split(r"(?<=[.?!])\s+", story.strip()) if part]


def _coverage(attested: Sequence[Attestation], facts: Facts) -> Iterator[str]:
    """Yield the facts without an attestation, and the attestations of what is no fact."""
    needed = {("edge", *edge) for edge in facts.named_edges()} | {
        ("unmeasured" if node in facts.unmeasured else "node", variable.name)
        for node, variable in facts.variables.items()
    }
    told = {one.what for one in attested}
    yield from (f"no sentence is given for: {' / '.join(w)}" for w in sorted(needed - told))
    yield from (f"a sentence is given, but not so: {' / '.join(w)}" for w in sorted(told - needed))


def _sentences(
    attested: Sequence[Attestation], sentences: Sequence[str], facts: Facts
) -> Iterator[str]:
    """Yield what is wrong with the place, names, values and mechanisms of attested sentences."""
    variables = {variable.name: variable for variable in facts.variables.values()}
    edges: dict[str, set[tuple[str, ...]]] = {}
    for one in attested:
        edges.setdefault(one.sentence, set()).add(one.what[1:])
    for one in attested:
        what = " / ".join(one.what)
        if (count := sentences.count(one.sentence)) != 1:
            told = f"stands {count} times in the story" if count else "but no sentence of the story"
            yield f"given for {what}, {told}: {one.sentence[:120]!r}"
            continue
        named = names_in(one.sentence, variables.values())
        if absent := [name for name in one.what[1:] if name not in named]:
            yield f"the sentence given for {what} does not name {', '.join(absent)}"
        elif one.what[0] == "node" and one.what[1] in variables:
            for text in variables[one.what[1]].values:
                if not says(one.sentence, text):
                    yield f"the sentence given for {what} does not say {text!r}"
        for edge, how in facts.mechanism_clauses.items():
            if edge not in edges[one.sentence] and how.lower() in one.sentence.lower():
                yield f"the sentence given for {what} tells the mechanism of {' / '.join(edge)}"


def _unattested_mentions(
    attested: Sequence[Attestation], sentences: Sequence[str], facts: Facts
) -> Iterator[str]:
    """Yield sentences that name a variable beside others, attested for no fact."""
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


def _words(story: str, facts: Facts) -> list[str]:
    """Return node ids and technical terms in the text, but not inside the facts' own words."""
    names = {variable.name for variable in facts.variables.values()}
    ids = [
        node
        for node in facts.variables
        if node not in {"A", "I", *names} and re.search(rf"\b{re.escape(node)}\b", story)
    ]
    problems = [f"internal id in the text: {node}" for node in ids]
    given = [*names, *(text for variable in facts.variables.values() for text in variable.values)]
    for how in facts.mechanism_clauses.values():
        given += [how, how[0].upper() + how[1:]]
    story = replace_words(story, dict.fromkeys(given, ""))
    problems += [f"technical term in the text: {word}" for word in TECHNICAL.findall(story)]
    return problems


PARAGRAPHS: Final = (2, 4)
MOST_WORDS: Final = 1200

_NAME: Final = "«»"
_REASON: Final = re.compile(rf", (?:because|since|for|as) [^{_NAME}]*$")
"""A reason that ends a sentence and names no variable: "…, for the path has no lamps" denies no
effect."""

_UNMEASURED: Final = re.compile(r"\bnever (?:been )?measured\b", re.IGNORECASE)


def verify_attested(story: str, attested: Sequence[Attestation], facts: Facts) -> list[str]:
    """Return problems, one a line, of a model's story: :func:`verify`, sizes, claims."""
    return [*_size(story), *verify(story, attested, facts), *_attested_sentences(attested, facts)]


def _size(story: str) -> Iterator[str]:
    """Yield what is wrong with the number of paragraphs and words, and with characters."""
    count = len([part for part in story.split("\n\n") if part.strip()])
    if not PARAGRAPHS[0] <= count <= PARAGRAPHS[1]:
        yield f"the story has {count} paragraphs, should be {PARAGRAPHS[0]} to {PARAGRAPHS[1]}"
    odd = sorted({c for c in story if (not c.isprintable() and c != "\n") or c in "#`<>{}|"})
    if odd:
        yield f"the story has characters that are no plain text: {', '.join(map(repr, odd[:5]))}"
    if len(story.split()) > MOST_WORDS:
        yield f"the story has more than {MOST_WORDS} words"


def _attested_sentences(attested: Iterable[Attestation], facts: Facts) -> Iterator[str]:
    """Yield where a model's sentence tells a sign, denies an effect or errs on being measured."""
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
    """Yield signs and denials in a sentence that tells an effect, besides names and states."""
    rest = _UNMEASURED.sub("", sentence) if beside_hidden else sentence
    told = [variable.name for variable in variables]
    values = [text for variable in variables for text in variable.values]
    rest = replace_words(rest, dict.fromkeys(values, "") | dict.fromkeys(told, _NAME))
    if match := SIGNED.search(rest):
        yield f"tells a direction or strength: {match[0]!r}"
    if match := DENIED.search(_REASON.sub("", rest)):
        yield f"denies something: {match[0]!r}"
