"""Sentence frames: how variables and direct effects are said in plain English.

An effect is a *core* ("{cause} [acts] directly on {effect}"), alone or with its mechanism attached
("{core}, because {how}"), or two effects share a sentence. Which effects meet in one sentence is
decided without looking at them; how they are joined then follows from what they share. Frames of
one place have as many words and commas for every relation, so that the size of a story tells
nothing about the shape of its graph. No frame tells the sign or the strength of an effect.

A slot listed in ``clauses`` may also hold "whether the Corsin valve is open". A word in brackets
agrees with the slot before it ("[it/them]" gives both forms). The narrator fills these frames; the
verifier reads the finished text back through the same frames, sentence by sentence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Relation = Literal["chain", "fork", "join", "apart"]
"""What two effects share: the middle of a chain, their cause, their effect, or nothing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A core clause with the slots ``cause`` and ``effect``.

    ``graded`` frames read well only where the effect is a matter of degree, not of two states;
    ``alone`` frames only where the sentence tells no other effect.
    """

    text: str
    clauses: frozenset[str] = frozenset()
    graded: bool = False
    alone: bool = False


def _frame(text: str, *clauses: str, graded: bool = False, alone: bool = False) -> Frame:
    return Frame(text, frozenset(clauses), graded, alone)


EFFECTS: Final[tuple[Frame, ...]] = (
    _frame("{cause} directly [affects] {effect}", "cause", "effect"),
    _frame("{cause} [has] a direct effect on {effect}", "cause", "effect"),
    _frame("{cause} [acts] directly on {effect}", "cause"),
    _frame("{cause} directly [influences] {effect}", "cause", "effect"),
    _frame("{cause} directly [shapes] {effect}", graded=True),
    _frame("{cause} [has] a direct influence on {effect}", "cause", "effect"),
    _frame("{cause} directly [helps] to determine {effect}", "cause", "effect"),
    _frame("{cause} [bears] directly on {effect}", "cause", "effect"),
    _frame("{cause} [matters] directly for {effect}", "cause", "effect"),
    _frame("{cause} [leaves] [its] mark directly on {effect}", graded=True),
    _frame("{effect} [depends] directly on {cause}", "cause", "effect"),
    _frame("{effect} [responds] directly to {cause}", "cause", graded=True),
    _frame("{effect} [is] directly affected by {cause}", "cause"),
    _frame("{effect} [is] directly influenced by {cause}", "cause"),
    _frame("{effect} [is] shaped directly by {cause}", "cause", graded=True),
    _frame("{effect} [is] in part a direct result of {cause}", graded=True),
    _frame("a direct effect runs from {cause} to {effect}", alone=True),
    _frame("one thing that directly affects {effect} is {cause}", "effect", alone=True),
)

REASONS: Final[tuple[str, ...]] = (
    "{core}, because {how}",
    "{core}, since {how}",
    "{core}, for {how}",
    "{core}: {how}",
    "{core}; the reason is that {how}",
    "{core}; after all, {how}",
    "{core}, seeing that {how}",
)
"""A core with its mechanism after it."""

REASONS_FIRST: Final[tuple[str, ...]] = (
    "because {how}, {core}",
    "since {how}, {core}",
    "seeing that {how}, {core}",
    "{how}, which is why {core}",
    "{how}, and for that reason {core}",
    "{how}; that is why {core}",
)
"""A mechanism with its core after it."""

PAIRS_WITH_REASONS: Final[tuple[str, ...]] = (
    "{core}, because {how}; {link}, {second}, because {other_how}",
    "{core}, since {how}; {link}, {second}, for {other_how}",
    "{core}, for {how}, and {link}, {second}, since {other_how}",
)

PAIRS_OF_CORES: Final[tuple[str, ...]] = (
    "{core}; {link}, {second}",
    "{core}, and {link} {second}",
)

LINKS: Final[Mapping[Relation, tuple[str, ...]]] = {
    "chain": ("in turn", "from there"),
    "fork": ("in addition", "beyond that"),
    "join": ("in addition", "alongside that"),
    "apart": ("in addition", "quite separately"),
}
"""How the second effect of a pair is tied to the first; two words each."""

PAIRS: Final[Mapping[Relation, tuple[str, ...]]] = {
    "chain": (
        "{cause} [acts] directly on {effect}, and {second_cause} directly on {second_effect}",
        "{cause} directly [affects] {effect}, which then in turn directly [affects] "
        "{second_effect}",
        "{cause} directly [influences] {effect}, and {second_cause} in turn directly "
        "[influences] {second_effect}",
    ),
    "fork": (
        "{cause} [acts] directly on {effect}, and also on {second_effect}",
        "{cause} directly [affects] {effect}, and besides that {second_cause} also directly "
        "[affects] {second_effect}",
        "{cause} directly [influences] {effect}, and {second_cause} directly [influences] "
        "{second_effect} as well",
    ),
    "join": (
        "{effect} [depends] directly on {cause}, and also on {second_cause}",
        "{effect} [depends] directly on {cause}, and just as directly on {second_cause}",
        "{cause} directly [influences] {effect}, and {second_cause} directly [influences] "
        "{second_effect} as well",
    ),
    "apart": (
        "{cause} [acts] directly on {effect}, and {second_cause} directly on {second_effect}",
        "{cause} directly [affects] {effect}, and in another matter {second_cause} directly "
        "[affects] {second_effect}",
        "{cause} directly [influences] {effect}, while quite separately {second_cause} directly "
        "[influences] {second_effect}",
    ),
}
"""Two effects in one sentence, without their mechanisms; the i-th frames are of equal size."""

UNMEASURED: Final[tuple[str, ...]] = ("unmeasured", "unrecorded", "unseen")
"""What a never measured variable may be called, once in a story, where it acts."""

OPENERS: Final[tuple[str, ...]] = (
    "as {people} see it, ",
    "{people} are agreed that ",
    "it is well known here that ",
    "anyone who has kept the {book} will say that ",
    "it has long been understood that ",
    "there is no doubt that ",
    "nobody would deny that ",
    "every newcomer soon learns that ",
    "one of the first things to be learned is that ",
)
"""How an effect sentence may begin. An opener names no variable."""

LATER_OPENERS: Final[tuple[str, ...]] = (
    "besides, ",
    "on top of that, ",
    "it is just as certain that ",
    "it is also known that ",
    "then again, ",
    "it is equally plain that ",
)
"""Openers that need an effect sentence before them."""

ASIDES: Final[tuple[str, ...]] = (
    "That much is taught in the first week.",
    "Nobody has found reason to doubt it.",
    "It was noticed early and has held ever since.",
    "The older hands like to repeat this to visitors.",
    "Nobody here would argue the point.",
    "This has been checked more often than anyone admits.",
    "The subject comes up at every farewell party.",
    "So much for the easy part.",
    "It sounds obvious once it has been said.",
    "Newcomers nod at this and write it down.",
)
"""Sentences without a fact, between effect sentences; they name no variable."""

EFFECT_INTROS: Final[tuple[str, ...]] = (
    "How these things hang together is no mystery here.",
    "Over the years {people} have worked out what acts on what.",
    "There is little dispute about how one thing leads to another.",
    "Ask what acts on what, and {people} give the same answer every time.",
    "{People} know their trade well enough to say what does what.",
    "What acts on what has been talked over many times, and the answer no longer changes.",
)

COUNT_INTROS: Final[tuple[str, ...]] = (
    "{Count} things come up whenever {people} talk about a {record}.",
    "For any one {record}, {people} have {count} things in mind.",
    "{Count} things are of interest here.",
    "One soon learns to keep {count} things apart.",
    "When a {record} is discussed, {count} things are mentioned sooner or later.",
    "{People} speak of {count} things when they compare one {record} with the next.",
    "A {record} can be looked at in many ways, but {count} things will do for this account.",
)

ONE_MEASURED: Final[tuple[str, ...]] = (
    "{a} [is] recorded in {unit_a}",
    "{a} [is] measured in {unit_a}",
    "for {a}, the {book} has a figure in {unit_a}",
    "{a} [is] noted in {unit_a}",
    "the {book} gives {a} in {unit_a}",
)

TWO_MEASURED: Final[tuple[str, ...]] = (
    "{a} [is] recorded in {unit_a} and {b} in {unit_b}",
    "one column of the {book} holds {a} in {unit_a}, another {b} in {unit_b}",
    "{a} [is] measured in {unit_a}, {b} in {unit_b}",
    "there is {a}, noted in {unit_a}, and there is {b}, noted in {unit_b}",
    "the {book} gives {a} in {unit_a} and {b} in {unit_b}",
)

TWO_MEASURED_ALIKE: Final[tuple[str, ...]] = (
    "{a} and {b} are both recorded in {unit_a}",
    "both {a} and {b} are measured in {unit_a}",
    "{a} and {b} share a unit in the {book}, {unit_a}",
)

TWO_STATES: Final[tuple[str, ...]] = (
    "{a} [is] entered as 1 when [it] {one} and as 0 when [it] {zero}",
    "for {a}, the {book} has a 1 if [it] {one} and a 0 if [it] {zero}",
    "{a} [counts] as 1 whenever [it] {one} and as 0 whenever [it] {zero}",
    "in the column for {a}, 1 means that [it] {one} and 0 that [it] {zero}",
)

NEVER_MEASURED: Final[tuple[str, ...]] = (
    "{a} [is] real enough, but [has] never been measured",
    "nobody has ever measured {a}, and the {book} is silent about [it/them]",
    "people speak of {a}, too, which [has] never been measured",
    "as for {a}, nobody has ever measured [it/them]",
    "{a} [has] no column in the {book} and [has] never been measured",
)

NO_MORE_EFFECTS: Final[tuple[str, ...]] = (
    "There the list of direct effects ends: no other holds among these {count} things, and "
    "whatever has not been named here affects at most one of them.",
    "Among these {count} things there are no other direct effects, and nothing left unnamed "
    "affects more than one of them.",
    "That is the whole list of direct effects, and no unnamed influence reaches two of the "
    "{count} things at once.",
    "Beyond what has been said, none of the {count} things acts directly on another, and "
    "nothing unmentioned acts on more than one of them.",
)
"""Closes the world: without it, nothing about the told effects would follow from the story."""

AS_IT_HAPPENED: Final[tuple[str, ...]] = (
    "None of it is arranged for the sake of the {book}: each {record} is written down as it "
    "happened.",
    "The {book} was never meant as a trial of anything; it simply has every {record} as it came.",
    "No {record} was ever staged to find something out, and none has been left out.",
    "All the {book} offers is a faithful list of {records}, entered as they came.",
    "The {book} does not experiment; it only remembers, one {record} after another.",
)
"""Says that the data are observations, not an experiment, and that no record was selected."""

COUNT_WORDS: Final = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip

PLURALS: Final[Mapping[str, str]] = {
    "is": "are",
    "has": "have",
    "does": "do",
    "it": "they",
    "its": "their",
}
"""Words in brackets whose plural is not the word without its final s."""


def number_forms(word: str) -> tuple[str, str]:
    """Singular and plural of a bracketed word: "acts" and "act", or the two sides of a slash."""
    if "/" in word:
        singular, plural = word.split("/")
        return singular, plural
    return word, PLURALS.get(word, word.removesuffix("s"))
