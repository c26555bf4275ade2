"""The plain faithful story: a scene told in two to four paragraphs of English.

The planner states every variable by its exact name (with its unit, its two states, or the remark
that it was never measured) and every edge once, as a direct effect. Variables come in one seeded
order, effects in another, and every choice of wording depends only on the kinds of the variables in
the sentence at hand, never on the graph as a whole: nothing but the told effects carries the graph.
The sign and the strength of an effect are not told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from builder.words import frames
from builder.words.fictional import Setting
from builder.words.types import Attestation, Facts, Telling, Variable
from builder.words.verify import verify

_OPENER_RATE = 0.35
_ASIDE_RATE = 0.3
_CLAUSE_RATE = 0.5


class UnfaithfulStoryError(Exception):
    """A story that does not tell exactly the facts it was given: a bug, never data."""


T = TypeVar("T")


class _Deck(Generic[T]):
    """Deals the items of a list in seeded order, reshuffling only once all have been dealt."""

    def __init__(self, rng: np.random.Generator, items: Sequence[T]) -> None:
        self._rng = rng
        self._items = items
        self._left: list[T] = []

    def deal(self) -> T:
        if not self._left:
            self._left = [self._items[int(i)] for i in self._rng.permutation(len(self._items))]
        return self._left.pop()


@dataclass
class _Draft:
    """What has been written so far: sentences with the facts each of them attests."""

    rng: np.random.Generator
    setting: Setting
    facts: Facts
    attestations: list[Attestation] = field(default_factory=list)

    def word(self, template: str, **slots: str) -> str:
        """``template`` with its slots filled, capitalised and closed with a full stop."""
        theme = self.setting.theme
        count = frames.COUNT_WORDS[len(self.facts.variables)]
        text = template.format(
            people=theme.people,
            People=theme.people.capitalize(),
            book=theme.book,
            record=theme.record,
            records=theme.records,
            town=self.setting.town,
            count=count,
            Count=count.capitalize(),
            **slots,
        )
        text = text[0].upper() + text[1:]
        return text if text.endswith(".") else text + "."

    def chance(self, rate: float) -> bool:
        return bool(self.rng.random() < rate)

    def attest(self, sentence: str, *whats: tuple[str, ...]) -> str:
        self.attestations.extend(Attestation(what, sentence) for what in whats)
        return sentence


def tell(rng: np.random.Generator, setting: Setting, facts: Facts) -> Telling:
    """Tells ``facts`` in ``setting``.

    Returns the story, the noun for one record ("firing"), and the sentence that attests each
    fact. Raises :class:`UnfaithfulStoryError` when the verifier finds the text to tell anything
    else than the facts.
    """
    draft = _Draft(rng, setting, facts)
    variables = _tell_variables(draft)
    effects = _tell_effects(draft)
    closing = [
        draft.word(_Deck(rng, lines).deal())
        for lines in (frames.NO_MORE_EFFECTS, frames.AS_IT_HAPPENED)
    ]
    opening, colour = [setting.opening], [_Deck(rng, setting.theme.colour).deal()]
    if draft.chance(0.5):
        opening += colour
    else:
        closing += colour
    layout = int(rng.integers(4))
    paragraphs = (
        [opening, variables, effects, closing],
        [opening, variables, effects + closing],
        [opening + variables, effects, closing],
        [opening + variables, effects + closing],
    )[layout]
    story = "\n\n".join(" ".join(sentences) for sentences in paragraphs)
    telling = Telling(story, setting.theme.record, tuple(draft.attestations))
    problems = verify(telling.story, telling.attestations, facts)
    if problems:
        raise UnfaithfulStoryError("; ".join(problems))
    return telling


def _tell_variables(draft: _Draft) -> list[str]:
    """The variables paragraph: how many there are, then each of them in a seeded order."""
    rng, facts = draft.rng, draft.facts
    nodes = list(facts.variables)
    order = [nodes[int(i)] for i in rng.permutation(len(nodes))]
    decks = {
        lines: _Deck(rng, lines)
        for lines in (
            frames.ONE_MEASURED,
            frames.TWO_MEASURED,
            frames.TWO_MEASURED_ALIKE,
            frames.TWO_STATES,
            frames.NEVER_MEASURED,
        )
    }
    sentences = [draft.word(_Deck(rng, frames.COUNT_INTROS).deal())]
    while order:
        node = order.pop(0)
        first = facts.variables[node]
        if node in facts.unmeasured:
            text = draft.word(decks[frames.NEVER_MEASURED].deal(), a=first.name)
            sentences.append(draft.attest(text, ("unmeasured", first.name)))
        elif first.states is not None:
            zero, one = first.states
            text = draft.word(decks[frames.TWO_STATES].deal(), a=first.name, zero=zero, one=one)
            sentences.append(draft.attest(text, ("node", first.name)))
        elif order and _plain(facts, order[0]) and draft.chance(0.6):
            second = facts.variables[order.pop(0)]
            alike = first.unit == second.unit
            lines = frames.TWO_MEASURED_ALIKE if alike else frames.TWO_MEASURED
            text = draft.word(
                decks[lines].deal(),
                a=first.name,
                b=second.name,
                unit_a=str(first.unit),
                unit_b=str(second.unit),
            )
            sentences.append(draft.attest(text, ("node", first.name), ("node", second.name)))
        else:
            text = draft.word(
                decks[frames.ONE_MEASURED].deal(), a=first.name, unit_a=str(first.unit)
            )
            sentences.append(draft.attest(text, ("node", first.name)))
    return sentences


def _plain(facts: Facts, node: str) -> bool:
    """Whether a node is measured and continuous."""
    return node not in facts.unmeasured and facts.variables[node].kind == "continuous"


def _tell_effects(draft: _Draft) -> list[str]:
    """The effects paragraph: every edge once, in a seeded order, with openers and asides."""
    rng, facts = draft.rng, draft.facts
    deck = _Deck(rng, frames.EFFECTS)
    openers, later = _Deck(rng, frames.OPENERS), _Deck(rng, frames.LATER_OPENERS)
    asides = _Deck(rng, frames.ASIDES)
    sentences = [draft.word(_Deck(rng, frames.EFFECT_INTROS).deal())]
    edges = [facts.edges[int(i)] for i in rng.permutation(len(facts.edges))]
    plain_so_far = True
    for position, (cause, effect) in enumerate(edges):
        frame = _fitting(deck, facts.variables[effect])
        slots = {
            "effect": _phrase(draft, frame, "effect", facts.variables[effect]),
            "cause": _phrase(draft, frame, "cause", facts.variables[cause]),
        }
        opener = ""
        if draft.chance(_OPENER_RATE) and plain_so_far:
            opener = (later if position and draft.chance(0.5) else openers).deal()
        plain_so_far = not opener
        text = draft.word(opener + frame.text, **slots)
        edge = ("edge", facts.variables[cause].name, facts.variables[effect].name)
        sentences.append(draft.attest(text, edge))
        if position < len(edges) - 1 and draft.chance(_ASIDE_RATE):
            sentences.append(draft.word(asides.deal()))
    return sentences


def _fitting(deck: _Deck[frames.Frame], effect: Variable) -> frames.Frame:
    """The next frame that suits the kind of the effect."""
    frame = deck.deal()
    while frame.graded and effect.kind == "binary":
        frame = deck.deal()
    return frame


def _phrase(draft: _Draft, frame: frames.Frame, slot: str, variable: Variable) -> str:
    """How a sentence refers to a variable: by its name, or by which of its states holds."""
    if variable.states is not None and slot in frame.clauses and draft.chance(_CLAUSE_RATE):
        return f"whether the {variable.name} {variable.states[1]}"
    return f"the {variable.name}"
