"""The frontier tasks of the ccr track, read from their prompts and enumerated.

Nothing of the builder's truths is used: every pattern of conditions is gone through, one at a time,
with the reader's own evaluation of the rules.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, Final

from baselines.ccr.solver import model
from baselines.ccr.story import ToldModel, read_context, read_question
from baselines.writing import Answer
from grader.shape import Task

LISTS: Final = ("do_true", "do_false", "joint")

_LISTED: Final = re.compile(r"^- (Q\d+): (\w+)\((\w+), (\w+)(?: \| (.*?))?\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One listed quantity of a pair; ``known`` are the variables behind the bar."""

    measure: str
    cause: str
    effect: str
    known: tuple[tuple[str, bool], ...]


def wanted(prompt: str) -> dict[str, Wanted]:
    """The listed quantities by name."""
    return {
        name: Wanted(measure.lower(), cause, effect, tuple(_known(bar)))
        for name, measure, cause, effect, bar in _LISTED.findall(prompt)
    }


def _known(bar: str) -> Iterator[tuple[str, bool]]:
    for clause in filter(None, bar.split(", ")):
        yield clause.removeprefix("not "), not clause.startswith("not ")


@dataclass(frozen=True)
class Patterns:
    """Every pattern of a told model's conditions, with its probability."""

    story: ToldModel
    cases: tuple[tuple[dict[str, bool], Fraction], ...]

    @classmethod
    def of(cls, prompt: str) -> "Patterns":
        """The patterns of the model that a prompt tells with its probabilities."""
        story = read_context(prompt)
        context = model(story, prompt)
        odds = [Fraction(tenth, 10) for tenth in context.tenths]
        cases = []
        for bits in product((False, True), repeat=len(odds)):
            mass = Fraction(1)
            for bit, chance in zip(bits, odds, strict=True):
                mass *= chance if bit else 1 - chance
            cases.append((dict(zip(context.dag.nodes, bits, strict=True)), mass))
        return cls(story, tuple(cases))

    def joint(self, asked: Wanted) -> Mapping[tuple[bool, bool, bool, bool], Fraction]:
        """The probability of (cause, effect, effect if made to hold, if made not to hold) together
        with what is known."""
        found: dict[tuple[bool, bool, bool, bool], Fraction] = {}
        look = self.story.value
        for bits, mass in self.cases:
            if all(look(name, bits, {}) == holds for name, holds in asked.known):
                key = (
                    look(asked.cause, bits, {}),
                    look(asked.effect, bits, {}),
                    look(asked.effect, bits, {asked.cause: True}),
                    look(asked.effect, bits, {asked.cause: False}),
                )
                found[key] = found.get(key, Fraction(0)) + mass
        return found


def defined(measure: str, joint: Mapping[tuple[bool, bool, bool, bool], Fraction]) -> Fraction:
    """A measure by its definition."""

    def mass(fits: Any) -> Fraction:
        return sum((p for key, p in joint.items() if fits(*key)), Fraction(0))

    total = mass(lambda *_: True)
    match measure:
        case "pns":
            return mass(lambda x, y, high, low: high and not low) / total
        case "ate":
            return (
                mass(lambda x, y, high, low: high) / total
                - mass(lambda x, y, high, low: low) / total
            )
        case "pn":
            return mass(lambda x, y, high, low: x and y and not low) / mass(
                lambda x, y, high, low: x and y
            )
        case "ps":
            return mass(lambda x, y, high, low: not x and not y and high) / mass(
                lambda x, y, high, low: not x and not y
            )
        case other:
            raise ValueError(f"no such measure: {other}")


def seen(joint: Mapping[tuple[bool, bool, bool, bool], Fraction]) -> Fraction:
    """``P(effect | cause) - P(effect | not cause)``: what the patterns show without doing."""
    rates = []
    for level in (True, False):
        here = {key: p for key, p in joint.items() if key[0] == level}
        rates.append(sum(p for key, p in here.items() if key[1]) / sum(here.values()))
    return Fraction(rates[0] - rates[1])


def simulated(prompt: str) -> dict[str, list[bool]]:
    """The three lists of a simulation, case by case."""
    story, cases, asked = _simulation(prompt)
    return {
        name: [story.value(effect, case, done) for case in cases]
        for name, (done, effect) in asked.items()
    }


def copied(prompt: str) -> dict[str, list[bool]]:
    """The facts in place of every supposition."""
    story, cases, asked = _simulation(prompt)
    return {
        name: [story.value(effect, case, {}) for case in cases]
        for name, (_, effect) in asked.items()
    }


def _simulation(
    prompt: str,
) -> tuple[ToldModel, list[dict[str, bool]], dict[str, tuple[dict[str, bool], str]]]:
    context, _, rest = prompt.partition("\n## Cases\n")
    cases, _, questions = rest.partition("\n## Questions\n")
    story = read_context(context)
    lines = [line.partition(". ")[2] for line in cases.splitlines() if re.match(r"\d+\. ", line)]
    asked = {
        name: read_question(story, question)
        for name, question in re.findall(r"^- (\w+): (Suppose .*)$", questions, re.MULTILINE)
    }
    return story, [story.bits(line) for line in lines], asked


def enumerator(task: Task) -> Answer:
    """Every frontier task from its prompt, by going through all patterns."""
    return _SOLVERS[task.variant](task.prompt)


def _quantities(prompt: str) -> Answer:
    patterns = Patterns.of(prompt)
    joint = cache(patterns.joint)
    return {
        "quantities": {
            name: float(defined(asked.measure, joint(_same(asked))))
            for name, asked in wanted(prompt).items()
        }
    }


def _same(asked: Wanted) -> Wanted:
    """What one joint table is needed for: all measures of a pair share it."""
    return Wanted("", asked.cause, asked.effect, asked.known)


def paper_formulas(task: Task) -> Answer:
    """The paper's formulas, as if every function were monotone and nothing confounded.

    ``PNS = ATE = P(y_x) - P(y_x')``, ``PN = PNS / P(y_x)``, ``PS = PNS / P(y'_x')`` (CCR Eq. B.7,
    B.8); what they do not speak of is left as the facts have it.
    """
    if task.variant == "simulation":
        return copied(task.prompt)
    patterns = Patterns.of(task.prompt)
    found = {}
    for name, asked in wanted(task.prompt).items():
        joint = patterns.joint(asked)
        total = sum(joint.values())
        high, low = (sum(p for key, p in joint.items() if key[k]) / total for k in (2, 3))
        scale = {"pn": high, "ps": 1 - low}.get(asked.measure, Fraction(1))
        found[name] = float((high - low) / scale) if scale else 0.0
    return {"quantities": found}


_SOLVERS: Final = {
    "direct": _quantities,
    "evidence": _quantities,
    "simulation": simulated,
}
