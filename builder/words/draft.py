"""What every telling is written with: sentences with the facts they attest, and the variables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from builder.seeds import shuffled
from builder.words import frames
from builder.words.types import Attestation, Facts, Setting, Variable

_VOWEL = re.compile(r"[aeio]|u(?!ni)|hour")
"""How a word starts that takes "an"."""

T = TypeVar("T")


@dataclass
class Draft:
    """What has been written so far: sentences with the facts each of them attests."""

    rng: np.random.Generator
    setting: Setting
    facts: Facts
    attestations: list[Attestation] = field(default_factory=list)
    left: dict[Sequence[Any], list[Any]] = field(default_factory=dict)
    """What has not been dealt yet, by the list it is dealt from."""

    def deal(self, items: tuple[T, ...]) -> T:
        """The next item of a list, in seeded order; reshuffled only once all have been dealt."""
        left: list[T] = self.left.setdefault(items, [])
        if not left:
            left += shuffled(self.rng, items)
        return left.pop()

    def sentence(self, text: str) -> str:
        """``text`` with its scenery filled in, capitalised and closed with a full stop."""
        theme = self.setting.theme
        count = frames.COUNT_WORDS[len(self.facts.variables)]
        if _VOWEL.match(theme.record):
            text = re.sub(r"\b([Aa]) (?=\{record\})", r"\1n ", text)
        for slot, value in (
            ("people", theme.people),
            ("People", theme.people[0].upper() + theme.people[1:]),
            ("book", theme.book),
            ("records", theme.records),
            ("record", theme.record),
            ("count", count),
            ("Count", count.capitalize()),
        ):
            text = text.replace(f"{{{slot}}}", value)
        text = text[0].upper() + text[1:]
        return text if text.endswith(".") else text + "."

    def chance(self, rate: float) -> bool:
        """True at this rate."""
        return bool(self.rng.random() < rate)

    def attest(self, sentence: str, *whats: tuple[str, ...]) -> str:
        """The sentence, recorded as the evidence of these facts."""
        self.attestations.extend(Attestation(what, sentence) for what in whats)
        return sentence


def tell_variables(draft: Draft) -> list[str]:
    """The variables paragraph: how many there are, then each of them in a seeded order."""
    rng, facts = draft.rng, draft.facts
    nodes = list(facts.variables)
    order = shuffled(rng, nodes)
    sentences = [draft.sentence(draft.deal(frames.COUNT_INTROS))]
    while order:
        node = order.pop(0)
        first = facts.variables[node]
        told = {"a": first}
        hidden = node in facts.unmeasured
        if hidden:
            lines = frames.NEVER_MEASURED
        elif first.states is not None:
            lines = frames.TWO_STATES
        elif order and _plain(facts, order[0]) and draft.chance(0.6):
            told["b"] = facts.variables[order.pop(0)]
            alike = first.unit == told["b"].unit
            lines = frames.TWO_MEASURED_ALIKE if alike else frames.TWO_MEASURED
        else:
            lines = frames.ONE_MEASURED
        text = fill(draft.deal(lines), told)
        for slot, variable in told.items():
            zero, one = variable.states or ("", "")
            for place, value in ((f"unit_{slot}", variable.unit), ("zero", zero), ("one", one)):
                text = text.replace(f"{{{place}}}", str(value))
        kind = "unmeasured" if hidden else "node"
        whats = [(kind, variable.name) for variable in told.values()]
        sentences.append(draft.attest(draft.sentence(text), *whats))
    return sentences


def _plain(facts: Facts, node: str) -> bool:
    """Whether a node is measured and continuous."""
    return node not in facts.unmeasured and facts.variables[node].kind == "continuous"


def fill(
    template: str,
    variables: dict[str, Variable],
    mentions: dict[str, str] | None = None,
    singular: frozenset[str] = frozenset(),
) -> str:
    """A frame with its variables named and its bracketed words agreeing with the slot before.

    Slots in ``singular`` hold a clause ("whether …"), which takes a singular verb.
    """
    parts: list[str] = []
    plural = False
    for piece in re.split(r"(\{\w+\}|\[[\w/]+\])", template):
        slot = piece[1:-1]
        if piece.startswith("{") and slot in variables:
            plural = variables[slot].plural and slot not in singular
            parts.append((mentions or {}).get(slot, variables[slot].mention))
        elif piece.startswith("["):
            parts.append(frames.number_forms(slot)[plural])
        else:
            parts.append(piece)
    return "".join(parts)
