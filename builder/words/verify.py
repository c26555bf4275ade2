"""Re-reads a finished story and says where it does not tell exactly its facts.

The verifier trusts nothing but the text: it cuts the story into sentences, reads every sentence
that names a variable back through the frames, and compares what it read with the facts. The
attestations that the narrator recorded are then checked against the same text. A story passes when
both agree with the facts and no sentence gives away an internal id or a technical term.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from builder.words import frames
from builder.words.types import Attestation, Facts, Variable

_TECHNICAL = re.compile(
    r"\b(confound\w*|collider\w*|mediat\w*|instrument\w*|latent\w*|unobserved|nodes?|edges?|graphs?|"
    r"dag|back-?door|front-?door|identif\w*|treatments?|outcomes?|exogenous|endogenous|causal\w*|"
    r"covariates?|randomi[sz]\w*|adjust\w*)\b",
    re.IGNORECASE,
)
_ENGLISH_IDS = frozenset({"A", "I"})


def verify(story: str, attestations: Iterable[Attestation], facts: Facts) -> list[str]:
    """The problems of a story, one line each; empty when it is faithful.

    Found are: a variable, unit, state or edge that is not told, an edge told twice, the wrong way
    round or invented, a variable told as unmeasured that is measured (or the reverse), a sentence
    about variables that fits no frame, an internal id, a technical term, and attestations that do
    not match the text.
    """
    sentences = split_sentences(story)
    told, problems = _read(sentences, facts)
    problems += _compare(told, facts)
    problems += _check_attestations(attestations, told, sentences)
    problems += _check_words(story, facts)
    return problems


def split_sentences(story: str) -> list[str]:
    """The sentences of a story, each with its final full stop."""
    return [part for part in re.split(r"(?<=[.?!])\s+", story.strip()) if part]


def read_edges(story: str, facts: Facts) -> frozenset[tuple[str, str]]:
    """The edges that the text tells, by story names, as the frames read it."""
    told, _ = _read(split_sentences(story), facts)
    return frozenset((what[1], what[2]) for _, what in told if what[0] == "edge")


_Told = list[tuple[str, tuple[str, ...]]]
"""Facts with the sentences they were read in."""


def _read(sentences: Sequence[str], facts: Facts) -> tuple[_Told, list[str]]:
    """Every fact with its sentence, and the sentences about variables that cannot be read."""
    variables = list(facts.variables.values())
    told: _Told = []
    problems: list[str] = []
    for sentence in sentences:
        masked = _mask(sentence, variables)
        if "«" not in masked:
            continue
        readings = {
            reading
            for pattern, kind in _patterns()
            if (match := pattern.fullmatch(masked)) is not None
            and (reading := _reading(match, kind, variables))
        }
        if len(readings) != 1:
            problems.append(f"{len(readings)} readings of the sentence {sentence!r}")
            continue
        told.extend((sentence, what) for what in readings.pop())
    return told, problems


def _mask(sentence: str, variables: Sequence[Variable]) -> str:
    """The sentence with the i-th variable's name replaced by «i», longer names first."""
    order = sorted(range(len(variables)), key=lambda i: -len(variables[i].name))
    for i in order:
        sentence = sentence.replace(variables[i].name, f"«{i}»")
    return sentence


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """One regular expression per frame, over masked sentences, with the kind of fact it tells."""
    openers = "|".join(_regex(text) for text in (*frames.OPENERS, *frames.LATER_OPENERS))
    patterns = [
        (re.compile(rf"(?:{openers})?{_regex(frame.text, frame.clauses)}\."), "edge")
        for frame in frames.EFFECTS
    ]
    for kind, lines in (
        ("node", (*frames.ONE_MEASURED, *frames.TWO_MEASURED, *frames.TWO_MEASURED_ALIKE)),
        ("states", frames.TWO_STATES),
        ("unmeasured", frames.NEVER_MEASURED),
    ):
        patterns += [(re.compile(rf"{_regex(line)}\."), kind) for line in lines]
    return tuple(patterns)


def _regex(template: str, clauses: frozenset[str] = frozenset()) -> str:
    """A frame as a regular expression; slots about people and books match any plain words."""
    slots = {slot: rf"[Tt]he «(?P<{slot}>\d+)»" for slot in ("cause", "effect")}
    for slot in clauses:
        state = rf"[Ww]hether the «(?P<{slot}_of>\d+)» (?P<{slot}_state>is [a-z ]+?)"
        slots[slot] = rf"(?:{slots[slot]}|{state})"
    slots |= {slot: rf"«(?P<{slot}>\d+)»" for slot in ("a", "b")}
    slots |= {slot: rf"(?P<{slot}>[a-z ]+?)" for slot in ("unit_a", "unit_b", "zero", "one")}
    return "".join(
        slots.get(piece, r"[\w' -]+?") if position % 2 else f"(?i:{re.escape(piece)})"
        for position, piece in enumerate(re.split(r"\{(\w+)\}", template))
    )


def _reading(
    match: re.Match[str], kind: str, variables: Sequence[Variable]
) -> tuple[tuple[str, ...], ...]:
    """What one sentence says, as facts; empty when a state is not one of its variable's."""
    groups = match.groupdict()

    def name(slot: str) -> str:
        index = groups.get(slot) or groups.get(f"{slot}_of")
        return "" if index is None else variables[int(index)].name

    for slot in ("cause", "effect"):
        if (state := groups.get(f"{slot}_state")) is not None:
            states = variables[int(groups[f"{slot}_of"])].states
            if states is None or state != states[1]:
                return ()
    if kind == "edge":
        return (("edge", name("cause"), name("effect")),)
    if kind == "states":
        return (("states", name("a"), groups["zero"], groups["one"]),)
    if kind == "unmeasured":
        return (("unmeasured", name("a")),)
    first = ("node", name("a"), groups["unit_a"])
    if not name("b"):
        return (first,)
    return (first, ("node", name("b"), groups.get("unit_b") or groups["unit_a"]))


def _compare(told: _Told, facts: Facts) -> list[str]:
    """Differences between what the text tells and what it should tell."""
    counts = Counter(what for _, what in told)
    wanted: set[tuple[str, ...]] = {("edge", *edge) for edge in facts.named_edges()}
    for node, variable in facts.variables.items():
        if node in facts.unmeasured:
            wanted.add(("unmeasured", variable.name))
        elif variable.states is not None:
            wanted.add(("states", variable.name, *variable.states))
        else:
            wanted.add(("node", variable.name, str(variable.unit)))
    problems = [f"not told: {' / '.join(what)}" for what in sorted(wanted - counts.keys())]
    problems += [f"told but not so: {' / '.join(what)}" for what in sorted(counts.keys() - wanted)]
    problems += [f"told twice: {' / '.join(what)}" for what, n in sorted(counts.items()) if n > 1]
    return problems


def _check_attestations(
    attestations: Iterable[Attestation], told: _Told, sentences: Sequence[str]
) -> list[str]:
    """Attestations whose sentence is missing or says something else, and facts without one."""
    read = {
        (("node", what[1]) if what[0] == "states" else what[:2], sentence)
        if what[0] != "edge"
        else (what, sentence)
        for sentence, what in told
    }
    recorded = {(attestation.what, attestation.sentence) for attestation in attestations}
    problems = [
        f"attested by a sentence that is not in the story: {' / '.join(what)}"
        for what, sentence in sorted(recorded)
        if sentence not in sentences
    ]
    problems += [
        f"attested but not read: {' / '.join(what)}" for what, _ in sorted(recorded - read)
    ]
    problems += [
        f"read but not attested: {' / '.join(what)}" for what, _ in sorted(read - recorded)
    ]
    return problems


def _check_words(story: str, facts: Facts) -> list[str]:
    """Internal ids and technical terms in the text."""
    ids = [
        node
        for node in facts.variables
        if node not in _ENGLISH_IDS and re.search(rf"\b{re.escape(node)}\b", story)
    ]
    problems = [f"internal id in the text: {node}" for node in ids]
    names = [variable.name for variable in facts.variables.values()]
    for name in sorted(names, key=len, reverse=True):
        story = story.replace(name, "")
    problems += [f"technical term in the text: {word}" for word in _TECHNICAL.findall(story)]
    return problems
