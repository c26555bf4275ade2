"""Re-reads a finished implied story and says where it does not tell exactly its statements.

As :mod:`builder.words.verify` does for plain stories, it trusts nothing but the text: every
sentence that names a variable is read back through the patterns, second names and pronouns
resolved, and what was read is compared with the statements and the variables.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from builder.implied import patterns
from builder.implied.second_names import second_names
from builder.implied.statements import KINDS, Statement
from builder.words import verify as words
from builder.words.types import Attestation, Facts, Variable


def verify_implied(
    story: str,
    attestations: Iterable[Attestation],
    facts: Facts,
    statements: Sequence[Statement],
) -> list[str]:
    """The problems of a story, one line each; empty when it is faithful.

    Found are: a variable, unit, state or statement that is not told, told twice or invented, a
    sentence about variables that can be read in no way or in several, an internal id, a technical
    term, a closing remark that is missing or does not fit, and attestations that do not match
    the text.
    """
    sentences = words.split_sentences(story)
    told, problems = _read(sentences, facts)
    wanted = words.variables_told(facts) | {statement.what for statement in statements}
    problems += words.compare(told, wanted)
    problems += words.check_attestations(attestations, told, sentences)
    problems += words.check_words(story, facts)
    remarks = [sentence for sentence, what in told if what[0] in KINDS]
    problems += _missing(sentences, remarks, facts)
    return problems


def _read(sentences: Sequence[str], facts: Facts) -> tuple[words.Told, list[str]]:
    """Every fact with its sentence, and the sentences about variables that cannot be read."""
    variables = list(facts.variables.values())
    masked = [words.mask(sentence, variables, ()) for sentence in sentences]
    beside = [text for text in masked if "«" not in text]
    second = second_names(variables, beside)
    told: words.Told = []
    problems: list[str] = []
    for sentence, text in zip(sentences, masked, strict=True):
        names = "«" in text
        bare = (_mask_second(text, variables, second) if names else text).removesuffix(".")
        found = {*words.roster_readings(bare, variables)}
        found |= {tuple(s.what for s in said) for said in patterns.readings(bare, variables)}
        if len(found) == 1:
            told.extend((sentence, what) for what in found.pop())
        elif names or found:
            problems.append(f"{len(found)} ways to read the sentence {sentence!r}")
    return told, problems


def _mask_second(text: str, variables: Sequence[Variable], second: Mapping[str, str]) -> str:
    for i, variable in enumerate(variables):
        if variable.name in second:
            text = re.sub(rf"\b[Tt]he {re.escape(second[variable.name])}\b", f"«{i}»", text)
    return text


def _missing(sentences: Sequence[str], remarks: Sequence[str], facts: Facts) -> Iterator[str]:
    """What every story has to say once, and this one does not."""
    trials = any(map(patterns.tells_trial, remarks))
    wanted = [
        (patterns.NO_DIRECTION, "whether effects raise or lower is for the data to tell"),
        (patterns.AFTER_TRIALS, "the trials are not in the records")
        if trials
        else (patterns.AS_IT_HAPPENED, "the records stand as they came"),
    ]
    if facts.unmeasured:
        wanted.append((patterns.ROOTS, "nothing acts on what was never measured"))
    for lines, what in wanted:
        if sum(patterns.is_one_of(sentence, lines) for sentence in sentences) != 1:
            yield f"it is not said once that {what}"
