"""Re-reads a finished story and says where it does not tell exactly its facts.

The verifier trusts nothing but the text: it cuts the story into sentences, reads every sentence
that names a variable back through the frames, and compares what it read with the facts. The
attestations that the narrator recorded are then checked against the same text. A story passes when
both agree with the facts and no sentence gives away an internal id or a technical term.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from builder.words import frames
from builder.words.terms import TECHNICAL, replace_words
from builder.words.types import Attestation, Facts, Variable

_ENGLISH_IDS = frozenset({"A", "I"})


def verify(story: str, attestations: Iterable[Attestation], facts: Facts) -> list[str]:
    """The problems of a story, one line each; empty when it is faithful.

    Found are: a variable, unit, state or edge that is not told, an edge told twice, the wrong way
    round, invented, or with a mechanism that is not its own, a variable told as unmeasured that is
    measured (or the reverse), a sentence about variables that fits no frame, an internal id, a
    technical term, no word on directions, and attestations that do not match the text.
    """
    sentences = split_sentences(story)
    told, problems = _read(sentences, facts)
    edges: set[What] = {("edge", *edge) for edge in facts.named_edges()}
    problems += compare(told, variables_told(facts) | edges)
    problems += check_attestations(attestations, told, sentences)
    problems += [*check_words(story, facts), *check_no_direction(story)]
    return problems


def check_no_direction(story: str) -> list[str]:
    """A story that does not say that it tells neither direction nor size of an effect."""
    if any(text in story for text in frames.NO_DIRECTION):
        return []
    return ["it is not said that directions and sizes are for the data to tell"]


def split_sentences(story: str) -> list[str]:
    """The sentences of a story, each with its final full stop."""
    return [part for part in re.split(r"(?<=[.?!])\s+", story.strip()) if part]


What = tuple[str, ...]
Told = list[tuple[str, What]]
"""Facts with the sentences they were read in."""
Clauses = Sequence[tuple[tuple[str, str], str]]
"""Mechanisms with the names of the cause and effect that they belong to."""


def _read(sentences: Sequence[str], facts: Facts) -> tuple[Told, list[str]]:
    """Every fact with its sentence, and the sentences about variables that cannot be read."""
    variables, clauses = list(facts.variables.values()), sorted(facts.mechanism_clauses.items())
    told: Told = []
    problems: list[str] = []
    for sentence in sentences:
        masked = mask(sentence, variables, clauses)
        if "«" not in masked:
            continue
        found = set(_parses(masked.removesuffix("."), variables, clauses))
        if len(found) != 1:
            problems.append(f"{len(found)} ways to read the sentence {sentence!r}")
            continue
        told.extend((sentence, what) for what in found.pop())
    return told, problems


def mask(sentence: str, variables: Sequence[Variable], clauses: Clauses) -> str:
    """The sentence with the i-th variable's name as «i» and the k-th mechanism as ‹k›."""
    for k in sorted(range(len(clauses)), key=lambda k: -len(clauses[k][1])):
        how = clauses[k][1]
        sentence = sentence.replace(how, f"‹{k}›").replace(how[0].upper() + how[1:], f"‹{k}›")
    for i in sorted(range(len(variables)), key=lambda i: -len(variables[i].name)):
        name = variables[i].name
        if len(name) > 1:
            sentence = sentence.replace(name, f"«{i}»")
        else:
            sentence = re.sub(rf"(?<![\w«‹]){re.escape(name)}(?![\w»›])", f"«{i}»", sentence)
    return sentence


# --- frames as regular expressions ---------------------------------------------------------------


@cache
def _roster() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The frames about one variable or two, with the kind of fact each tells."""
    return tuple(
        (re.compile(_regex(line)), kind)
        for kind, lines in (
            ("node", (*frames.ONE_MEASURED, *frames.TWO_MEASURED, *frames.TWO_MEASURED_ALIKE)),
            ("states", frames.TWO_STATES),
            ("unmeasured", frames.NEVER_MEASURED),
        )
        for line in lines
    )


@cache
def _cores() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_regex(frame.text, frame.clauses)) for frame in frames.EFFECTS)


@cache
def _wholes() -> tuple[re.Pattern[str], ...]:
    """How one core or two stand in a sentence, mechanisms and all."""
    links = "|".join(map(re.escape, frames.LINKS))
    return tuple(
        re.compile(_regex(text).replace("LINK", f"(?:{links})"))
        for text in (
            "{core}",
            *frames.REASONS,
            *frames.REASONS_FIRST,
            *(
                text.replace("{link}", "LINK")
                for text in (*frames.PAIRS_WITH_REASONS, *frames.PAIRS_OF_CORES)
            ),
        )
    )


@cache
def _short_pairs() -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(_regex(text))
        for text in dict.fromkeys(t for p in frames.PAIRS.values() for t in p)
    )


@cache
def _openers() -> re.Pattern[str]:
    texts = (*frames.OPENERS, *frames.LATER_OPENERS)
    return re.compile("|".join(_regex(text) for text in texts))


def _regex(template: str, clauses: frozenset[str] = frozenset()) -> str:
    """A frame as a regular expression; slots about people and books match any plain words."""
    called = "|".join(frames.UNMEASURED)
    slots: dict[str, str] = {}
    for slot in ("cause", "effect", "second_cause", "second_effect", "a", "b"):
        slots[slot] = rf"(?:[Tt]he (?:(?:{called}) )?)?«(?P<{slot}>\d+)»"
    for slot in clauses:
        state = rf"[Ww]hether (?:the )?«(?P<{slot}_of>\d+)» (?P<{slot}_state>[^«»]+?)"
        slots[slot] = rf"(?:{slots[slot]}|{state})"
    slots |= {slot: rf"(?P<{slot}>[^«»]+?)" for slot in ("unit_a", "unit_b", "zero", "one")}
    slots |= {slot: rf"‹(?P<{slot}>\d+)›" for slot in ("how", "other_how")}
    slots |= {slot: rf"(?P<{slot}>[^«»‹›]*«[^‹›]*»[^«»‹›]*?)" for slot in ("core", "second")}
    parts = []
    for piece in re.split(r"(\{\w+\}|\[[\w/]+\])", template):
        inside = piece[1:-1]
        if piece.startswith("["):
            parts.append(f"(?:{'|'.join(frames.number_forms(inside))})")
        elif piece.startswith("{"):
            parts.append(slots.get(inside, r"[\w' -]+?"))
        else:
            parts.append(f"(?i:{re.escape(piece)})")
    return "".join(parts)


# --- parsing -------------------------------------------------------------------------------------


def _parses(
    masked: str, variables: Sequence[Variable], clauses: Clauses
) -> Iterator[tuple[What, ...]]:
    """Every way to read a sentence."""
    yield from roster_readings(masked, variables)
    starts = {0, *(m.end() for m in [_openers().match(masked)] if m is not None)}
    for start in sorted(starts):
        rest = masked[start:]
        for pattern in _short_pairs():
            if (match := pattern.fullmatch(rest)) is not None:
                yield _pair_parse(match, variables)
        for pattern in _wholes():
            if (match := pattern.fullmatch(rest)) is not None:
                yield from _whole_parses(match.groupdict(), variables, clauses)


def roster_readings(masked: str, variables: Sequence[Variable]) -> Iterator[tuple[What, ...]]:
    """Every way to read a sentence as one about variables alone: units, states, unmeasured."""
    for pattern, kind in _roster():
        if (match := pattern.fullmatch(masked)) is not None:
            yield _roster_parse(match, kind, variables)


def _roster_parse(
    match: re.Match[str], kind: str, variables: Sequence[Variable]
) -> tuple[What, ...]:
    groups = match.groupdict()
    name = variables[int(groups["a"])].name
    if kind == "states":
        return (("states", name, groups["zero"], groups["one"]),)
    if kind == "unmeasured":
        return (("unmeasured", name),)
    first = ("node", name, groups["unit_a"])
    if not groups.get("b"):
        return (first,)
    other = variables[int(groups["b"])].name
    return (first, ("node", other, groups.get("unit_b") or groups["unit_a"]))


def _pair_parse(match: re.Match[str], variables: Sequence[Variable]) -> tuple[What, ...]:
    """Two effects told in one breath: what the second leaves out it shares with the first."""
    groups = match.groupdict()
    a, b = int(groups["cause"]), int(groups["effect"])
    told_cause, told_effect = groups.get("second_cause"), groups.get("second_effect")
    # Without a cause of its own the second effect is the first cause's, or ("A affects B, which
    # affects C") comes from the first effect; without an effect of its own it is on the first's.
    chained = "which" in match.re.pattern
    c = int(told_cause) if told_cause else b if chained else a
    d = int(told_effect) if told_effect else b
    names = [variables[i].name for i in (a, b, c, d)]
    return (("edge", names[0], names[1]), ("edge", names[2], names[3]))


def _whole_parses(
    groups: Mapping[str, str | None], variables: Sequence[Variable], clauses: Clauses
) -> Iterator[tuple[What, ...]]:
    """One core or two, each with the mechanism told for it, if that is its own."""
    told = [groups.get("how"), groups.get("other_how")]
    found = []
    for text, how in zip((groups["core"], groups.get("second")), told, strict=True):
        if text is not None:
            own = None if how is None else ("edge", *clauses[int(how)][0])
            found.append([edge for edge in _core_parses(text, variables) if own in (None, edge)])
    yield from product(*found)


def _core_parses(text: str, variables: Sequence[Variable]) -> set[What]:
    found: set[What] = set()
    for pattern in _cores():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        groups = match.groupdict()
        names: list[str] = []
        for slot in ("cause", "effect"):
            variable = variables[int(groups[slot] or str(groups.get(f"{slot}_of")))]
            stated = groups.get(f"{slot}_state")
            if stated is None or (variable.states and stated == variable.states[1]):
                names.append(variable.name)
        if len(names) == 2:
            found.add(("edge", *names))
    return found


def variables_told(facts: Facts) -> set[What]:
    """What must be told of the variables: unit or states, or that they were never measured."""
    wanted: set[What] = set()
    for node, variable in facts.variables.items():
        if node in facts.unmeasured:
            wanted.add(("unmeasured", variable.name))
        elif variable.states is not None:
            wanted.add(("states", variable.name, *variable.states))
        else:
            wanted.add(("node", variable.name, str(variable.unit)))
    return wanted


def compare(told: Told, wanted: set[What]) -> list[str]:
    """Differences between what the text tells and what it should tell."""
    counts = Counter(what for _, what in told)
    problems = [f"not told: {' / '.join(what)}" for what in sorted(wanted - counts.keys())]
    problems += [f"told but not so: {' / '.join(what)}" for what in sorted(counts.keys() - wanted)]
    problems += [f"told twice: {' / '.join(what)}" for what, n in sorted(counts.items()) if n > 1]
    return problems


def check_attestations(
    attestations: Iterable[Attestation], told: Told, sentences: Sequence[str]
) -> list[str]:
    """Attestations whose sentence is missing or says something else, and facts without one."""
    read = {
        (("node", what[1]) if what[0] == "states" else what[:2], sentence)
        if what[0] in ("node", "states", "unmeasured")
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


def check_words(story: str, facts: Facts) -> list[str]:
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
