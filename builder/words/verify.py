"""Says where a finished story does not tell its facts, by the sentences that are said to tell them.

No text is parsed here; much can be checked without understanding it: that every fact, and nothing
else, has its sentence, that this sentence stands in the story once and names what it is about, with
units, states and no mechanism of another effect; that no sentence names variables beside these;
that no id and no technical term slipped in, and that the story says that it tells no direction.
What the sentences mean is read by :mod:`builder.reader`, which knows none of the frames.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from builder.words import frames
from builder.words.terms import TECHNICAL, replace_words, says
from builder.words.types import Attestation, Facts, Variable

_ENGLISH_IDS = frozenset({"A", "I"})


def verify(story: str, attestations: Iterable[Attestation], facts: Facts) -> list[str]:
    """Return the problems of a story, one line each; empty when it passes every check."""
    attested, sentences = list(attestations), split_sentences(story)
    return [
        *_coverage(attested, facts),
        *_sentences(attested, sentences, facts),
        *_unaccounted(attested, sentences, facts),
        *_words(story, facts),
        *check_no_direction(story),
    ]


def wanted(facts: Facts) -> set[tuple[str, ...]]:
    """Return what must be attested: every variable, measured or not, and every effect."""
    nodes = {
        ("unmeasured" if node in facts.unmeasured else "node", variable.name)
        for node, variable in facts.variables.items()
    }
    return nodes | {("edge", *edge) for edge in facts.named_edges()}


def names_in(sentence: str, variables: Iterable[Variable]) -> set[str]:
    """Return the names that a sentence mentions, letter by letter and as whole words."""
    return {variable.name for variable in variables if says(sentence, variable.name)}


def check_no_direction(story: str) -> list[str]:
    """Return a problem for a story that does not leave directions and sizes of effects open."""
    if any(text in story for text in frames.NO_DIRECTION):
        return []
    return ["it is not said that directions and sizes are for the data to tell"]


def split_sentences(story: str) -> list[str]:
    """Return the sentences of a story, each with its final full stop."""
    return [part for part in re.split(r"(?<=[.?!])\s+", story.strip()) if part]


def _coverage(attested: Sequence[Attestation], facts: Facts) -> Iterator[str]:
    needed, told = wanted(facts), {one.what for one in attested}
    yield from (f"no sentence is given for: {' / '.join(w)}" for w in sorted(needed - told))
    yield from (f"a sentence is given, but not so: {' / '.join(w)}" for w in sorted(told - needed))


def _sentences(
    attested: Sequence[Attestation], sentences: Sequence[str], facts: Facts
) -> Iterator[str]:
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


def _unaccounted(
    attested: Sequence[Attestation], sentences: Sequence[str], facts: Facts
) -> Iterator[str]:
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


def _words(story: str, facts: Facts) -> list[str]:
    """Internal ids and technical terms in the text, what the facts themselves say aside."""
    names = {variable.name for variable in facts.variables.values()}
    ids = [
        node
        for node in facts.variables
        if node not in _ENGLISH_IDS | names and re.search(rf"\b{re.escape(node)}\b", story)
    ]
    problems = [f"internal id in the text: {node}" for node in ids]
    given = [*names, *(text for variable in facts.variables.values() for text in variable.values)]
    for how in facts.mechanism_clauses.values():
        given += [how, how[0].upper() + how[1:]]
    story = replace_words(story, dict.fromkeys(given, ""))
    problems += [f"technical term in the text: {word}" for word in TECHNICAL.findall(story)]
    return problems
