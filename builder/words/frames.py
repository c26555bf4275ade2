"""Sentence frames: how a direct effect is said in plain English.

A frame says one effect in one sentence that names both variables exactly. Two effects are never
merged into one sentence: the number of sentences would then tell the shape of the graph. No frame
tells the sign or the strength of an effect. Slots are ``{cause}`` and ``{effect}``; a slot listed
in ``clauses`` may also hold "whether the Corsin valve is open" when its variable is binary. The
narrator fills these frames; the verifier reads the finished text back through the same frames,
sentence by sentence.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with slots, without its final full stop.

    ``graded`` frames read well only where the effect is a matter of degree, not of two states.
    """

    text: str
    clauses: frozenset[str] = frozenset()
    graded: bool = False


def _frame(text: str, *clauses: str, graded: bool = False) -> Frame:
    return Frame(text, frozenset(clauses), graded)


EFFECTS: Final[tuple[Frame, ...]] = (
    _frame("{cause} directly affects {effect}", "cause", "effect"),
    _frame("{cause} has a direct effect on {effect}", "cause", "effect"),
    _frame("{cause} acts directly on {effect}", "cause"),
    _frame("{cause} directly influences {effect}", "cause", "effect"),
    _frame("{cause} directly shapes {effect}", graded=True),
    _frame("{cause} has a direct influence on {effect}", "cause", "effect"),
    _frame("{cause} affects {effect} directly, with nothing in between"),
    _frame("{cause} directly helps to determine {effect}", "cause", "effect"),
    _frame("any change in {cause} directly affects {effect}", "effect"),
    _frame("{effect} depends directly on {cause}", "cause", "effect"),
    _frame("{effect} responds directly to {cause}", "cause", graded=True),
    _frame("{effect} is directly affected by {cause}", "cause"),
    _frame("{effect} is directly influenced by {cause}", "cause"),
    _frame("{effect} is shaped directly by {cause}", "cause", graded=True),
    _frame("{effect} is partly determined by {cause}, with nothing in between", "cause"),
    _frame("{effect} depends on {cause} directly, without any detour"),
)

OPENERS: Final[tuple[str, ...]] = (
    "as {people} see it, ",
    "{people} are agreed that ",
    "it is well known here that ",
    "anyone who has kept the {book} will say that ",
    "it has long been understood that ",
    "there is no doubt that ",
    "nobody would deny that ",
    "every newcomer soon learns that ",
)
"""How an effect sentence may begin. An opener names no variable."""

LATER_OPENERS: Final[tuple[str, ...]] = (
    "besides, ",
    "on top of that, ",
    "it is just as certain that ",
    "it is also known that ",
)
"""Openers that need an effect sentence before them."""

ASIDES: Final[tuple[str, ...]] = (
    "That much is taught in the first week.",
    "Nobody has found reason to doubt it.",
    "It was noticed early and has held ever since.",
    "The older hands like to repeat this to visitors.",
    "There is a saying about it, which does not translate well.",
    "This has been checked more often than anyone admits.",
    "On this point even {people} do not argue.",
)
"""Sentences without a fact, between effect sentences; they name no variable."""

EFFECT_INTROS: Final[tuple[str, ...]] = (
    "How these things hang together is no mystery at {town}.",
    "Over the years {people} have worked out what acts on what.",
    "There is little dispute about how one thing leads to another.",
    "Ask what acts on what, and {people} give the same answer every time.",
    "{People} know their trade well enough to say what does what.",
)

COUNT_INTROS: Final[tuple[str, ...]] = (
    "{Count} things come up whenever {people} talk about a {record}.",
    "For any one {record}, {people} have {count} things in mind.",
    "{Count} things are of interest here.",
    "In {town} one learns to tell {count} things apart before touching anything.",
    "When a {record} is discussed, {count} things are mentioned sooner or later.",
    "{People} speak of {count} things when they compare one {record} with the next.",
)

ONE_MEASURED: Final[tuple[str, ...]] = (
    "the {a} is recorded in {unit_a}",
    "the {a} is measured in {unit_a}",
    "for the {a}, the {book} has a figure in {unit_a}",
    "the {a} is noted in {unit_a}",
)

TWO_MEASURED: Final[tuple[str, ...]] = (
    "the {a} is recorded in {unit_a} and the {b} in {unit_b}",
    "one column of the {book} holds the {a} in {unit_a}, another the {b} in {unit_b}",
    "the {a} is measured in {unit_a}, the {b} in {unit_b}",
    "there is the {a}, noted in {unit_a}, and there is the {b}, noted in {unit_b}",
)

TWO_MEASURED_ALIKE: Final[tuple[str, ...]] = (
    "the {a} and the {b} are both recorded in {unit_a}",
    "the {a} is measured in {unit_a}, and so is the {b}",
)

TWO_STATES: Final[tuple[str, ...]] = (
    "the {a} is entered as 1 when it {one} and as 0 when it {zero}",
    "for the {a}, the {book} has a 1 if it {one} and a 0 if it {zero}",
    "the {a} counts as 1 whenever it {one} and as 0 whenever it {zero}",
)

NEVER_MEASURED: Final[tuple[str, ...]] = (
    "the {a} is real enough, but it has never been measured",
    "nobody has ever measured the {a}, and the {book} is silent about it",
    "people also speak of the {a}, which has never been measured",
    "as for the {a}, it has never been measured by anyone",
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
