"""The plain faithful story: a scene told in two to four paragraphs of English.

Every variable is stated by its exact name (with its unit, its two states, or the remark that it was
never measured) and every edge once, as a direct effect, mostly with its mechanism. The sign and the
strength of an effect are not told, and the story says so: a mechanism may sound like a sign, and
does not follow the world's. The sentences are frames (``story.toml``). An effect is a *core*
("{cause} [acts] directly on {effect}"), alone or with its mechanism ("{core}, because {how}"), or
two effects share a sentence, joined by what they share. The plain reader knows none of the frames.

What a story may disclose besides its facts is how many there are: variables, effects and unmeasured
variables, and which kinds the variables have. So sentences, pairs and paragraphs are planned from
these counts alone, before any effect is looked at; variables and effects then come in seeded orders
of their own. Frames of one place have as many words and commas for every relation. A binary
variable is spoken of by its state once, and a variable that nobody measured is called so once where
it acts, however many effects it has.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

import numpy as np

from builder.splits.seeds import pick, random_order
from builder.stories.texts import Texts
from builder.stories.types import Attestation, Facts, StorySetting, Telling, Variable

T = TypeVar("T")
Edge = tuple[str, str]
Relation = Literal["chain", "fork", "join", "apart"]
"""What two effects share: the middle of a chain, their cause, their effect, or nothing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A core clause, ``text`` with the slots ``{cause}`` and ``{effect}``. The slots named in
    ``clauses`` may also hold a clause ("whether …"). A ``graded`` frame is used only where the
    effect is continuous, an ``alone`` frame only where the sentence tells no other effect."""

    text: str
    clauses: frozenset[str]
    graded: bool = False
    alone: bool = False


FRAMES: Final = Texts(__file__)
EFFECTS: Final = tuple(
    Frame(**row | {"clauses": frozenset(row.get("clauses", ()))}) for row in FRAMES["effects"]
)
PAIRS: Final = {relation: tuple(texts) for relation, texts in FRAMES["pairs"].items()}
NO_DIRECTION: Final = FRAMES.lines("no_direction")
"""Sentences of which every story has one: that it tells neither sign nor strength."""


@dataclass
class Draft:
    """A story in writing: facts, attestations, and by list the items not yet dealt.

    ``by_state`` maps an edge to the binary nodes named by their state in it, ``unmeasured`` holds
    the edges whose cause is called unmeasured.
    """

    rng: np.random.Generator
    setting: StorySetting
    facts: Facts
    attestations: list[Attestation] = field(default_factory=list)
    undealt: dict[Sequence[Any], list[Any]] = field(default_factory=dict)
    by_state: dict[Edge, set[str]] = field(default_factory=dict)
    unmeasured: set[Edge] = field(default_factory=set)

    def deal(self, items: tuple[T, ...]) -> T:
        """Return the next item of a list in seeded order; none again before all have been dealt."""
        undealt: list[T] = self.undealt.setdefault(items, [])
        if not undealt:
            undealt += random_order(self.rng, items)
        return undealt.pop()

    def sentence(self, text: str) -> str:
        """Return ``text`` with a capital, a full stop, and its slots filled."""
        scenery = self.setting.scenery
        count = FRAMES["count_words"][len(self.facts.variables)]
        if re.match(r"[aeio]|u(?!ni)|hour", scenery.record):
            text = re.sub(r"\b([Aa]) (?=\{record\})", r"\1n ", text)
        for slot, value in (
            ("people", scenery.people),
            ("People", scenery.people[0].upper() + scenery.people[1:]),
            ("book", scenery.book),
            ("records", scenery.records),
            ("record", scenery.record),
            ("count", count),
            ("Count", count.capitalize()),
        ):
            text = text.replace(f"{{{slot}}}", value)
        text = text[0].upper() + text[1:]
        return text if text.endswith(".") else text + "."

    def chance(self, rate: float) -> bool:
        """Draw a truth value that is true with probability ``rate``."""
        return bool(self.rng.random() < rate)

    def attest(self, sentence: str, *whats: tuple[str, ...]) -> str:
        """Record ``sentence`` as the evidence of the facts ``whats``, and return it unchanged."""
        self.attestations.extend(Attestation(what, sentence) for what in whats)
        return sentence


def tell_variables(draft: Draft) -> list[str]:
    """Return the sentences on number and names of variables; attest them in ``draft``."""
    rng, facts = draft.rng, draft.facts
    nodes = list(facts.variables)
    order = random_order(rng, nodes)
    measured = (node for node in nodes if node not in facts.unmeasured)
    continuous = {node for node in measured if facts.variables[node].kind == "continuous"}
    sentences = [draft.sentence(draft.deal(FRAMES.lines("count_intros")))]
    while order:
        node = order.pop(0)
        first = facts.variables[node]
        slots = {"a": first}
        hidden = node in facts.unmeasured
        if hidden:
            lines = "never_measured"
        elif first.states is not None:
            lines = "two_states"
        elif order and order[0] in continuous and draft.chance(0.6):
            slots["b"] = facts.variables[order.pop(0)]
            alike = first.unit == slots["b"].unit
            lines = "two_measured_alike" if alike else "two_measured"
        else:
            lines = "one_measured"
        text = fill(draft.deal(FRAMES.lines(lines)), slots)
        for slot, variable in slots.items():
            zero, one = variable.states or ("", "")
            for place, value in ((f"unit_{slot}", variable.unit), ("zero", zero), ("one", one)):
                text = text.replace(f"{{{place}}}", str(value))
        kind = "unmeasured" if hidden else "node"
        whats = [(kind, variable.name) for variable in slots.values()]
        sentences.append(draft.attest(draft.sentence(text), *whats))
    return sentences


def fill(
    template: str,
    variables: dict[str, Variable],
    mentions: dict[str, str] | None = None,
    singular: frozenset[str] = frozenset(),
) -> str:
    """Return a frame with its variables named, and its bracketed verbs ("[has/have]", "[acts]") in
    the number of the last slot before them. ``mentions`` maps slots to the text that stands for
    a variable (default: its ``mention``). Slots in ``singular`` hold a clause. Others stay."""
    parts: list[str] = []
    plural = False
    for piece in re.split(r"(\{\w+\}|\[[\w/]+\])", template):
        slot = piece[1:-1]
        if piece.startswith("{") and slot in variables:
            plural = variables[slot].plural and slot not in singular
            parts.append((mentions or {}).get(slot, variables[slot].mention))
        elif piece.startswith("["):
            parts.append(number_forms(slot)[plural])
        else:
            parts.append(piece)
    return "".join(parts)


def number_forms(word: str) -> tuple[str, str]:
    """Return (singular, plural): both from "has/have"; else ``word`` is the singular, and the
    plural is looked up or formed by dropping a final "s" ("acts", "act")."""
    singular, _, plural = word.partition("/")
    return singular, plural or FRAMES["plurals"].get(word, word.removesuffix("s"))


_PAIR_RATE = 0.35
_REASON_RATE = 0.85
_PAIR_REASON_RATE = 0.6
_REASON_FIRST_RATE = 0.3
_SPLIT_FROM = 7
"""From so many effects on, they fill two paragraphs."""


def tell(rng: np.random.Generator, setting: StorySetting, facts: Facts) -> Telling:
    """Return a story of two to four paragraphs that tells ``facts``, with its attestations."""
    draft = Draft(rng, setting, facts)
    opening, variables, effects = [setting.opening], tell_variables(draft), _tell_effects(draft)
    closed, no_direction, as_it_happened = (
        draft.sentence(draft.deal(FRAMES.lines(lines)))
        for lines in ("no_more_effects", "no_direction", "as_it_happened")
    )
    effects[-1] += [closed, no_direction]
    last = [as_it_happened]
    (opening if draft.chance(0.5) else last).append(setting.colour)
    layout = int(rng.integers(4))
    if layout == 0:
        paragraphs = [opening, *effects, variables + last]
    elif layout == 1 or len(effects) > 1:
        paragraphs = [opening + variables, *effects[:-1], effects[-1] + last]
    elif layout == 2:
        paragraphs = [opening, variables, effects[0], last]
    else:
        paragraphs = [opening, variables, effects[0] + last]
    story = "\n\n".join(" ".join(sentences) for sentences in paragraphs)
    return Telling(story, setting.scenery.record, tuple(draft.attestations))


def _tell_effects(draft: Draft) -> list[list[str]]:
    """Return one or two paragraphs, as sentences, that tell every edge once, and attest them."""
    facts, left = draft.facts, len(draft.facts.edges)
    # A sentence's number of effects (1, 2), and whether it has mechanisms, by chance alone.
    plans: list[tuple[int, bool]] = []
    while left:
        size = 2 if left > 1 and draft.chance(_PAIR_RATE) else 1
        plans.append((size, draft.chance(_REASON_RATE if size == 1 else _PAIR_REASON_RATE)))
        left -= size
    edges = random_order(draft.rng, facts.edges)
    groups = [[edges.pop() for _ in range(size)] for size, _ in plans]
    _choose_mentions(draft, plans, groups)
    sentences = [draft.sentence(draft.deal(FRAMES.lines("effect_intros")))]
    for (_, reason), group in zip(plans, groups, strict=True):
        one = len(group) == 1
        text = _tell_one(draft, group[0], reason) if one else _tell_two(draft, group, reason)
        whats = (("edge", *(facts.variables[node].name for node in edge)) for edge in group)
        sentences.append(draft.attest(draft.sentence(text), *whats))
    if len(facts.edges) < _SPLIT_FROM:
        return [sentences]
    middle = (len(sentences) + 1) // 2
    return [sentences[:middle], sentences[middle:]]


def _choose_mentions(
    draft: Draft, plans: Sequence[tuple[int, bool]], groups: Sequence[Sequence[Edge]]
) -> None:
    """Choose effects in which ``draft`` names variables by state, or calls them unmeasured: each
    in one of its edges in sentences of core clauses, if any. ``groups`` are each plan's edges."""
    open_edges = [
        edge
        for (size, reason), group in zip(plans, groups, strict=True)
        for edge in group
        if size == 1 or reason
    ]
    for node, variable in draft.facts.variables.items():
        hidden = node in draft.facts.unmeasured
        if variable.states is None and not hidden:
            continue
        fitting = [edge for edge in open_edges if node == edge[0] or (node in edge and not hidden)]
        if fitting:
            chosen = pick(draft.rng, fitting)
            if hidden:
                draft.unmeasured.add(chosen)
            else:
                draft.by_state.setdefault(chosen, set()).add(node)


def _tell_one(draft: Draft, edge: Edge, reason: bool) -> str:
    """Return the text for one effect, with its mechanism if a ``reason`` is planned and known."""
    core, how = _core(draft, edge, alone=True), _clause(draft.facts, edge)
    first = draft.chance(_REASON_FIRST_RATE)
    if not reason or how is None:
        return core
    frame = draft.deal(FRAMES.lines("reasons_first" if first else "reasons"))
    return frame.format(core=core, how=how)


def _tell_two(draft: Draft, group: Sequence[Edge], reason: bool) -> str:
    """Return two effects in one clause that fits what they share, or with reasons in two cores."""
    (first, second), relation = order_pair(group)
    if not reason:
        pairs, variables = PAIRS[relation], draft.facts.variables
        slots = ("cause", "effect", "second_cause", "second_effect")
        named = dict(zip(slots, (variables[node] for node in first + second), strict=True))
        return fill(pairs[draft.deal(tuple(range(len(pairs))))], named)
    how, other_how = _clause(draft.facts, first), _clause(draft.facts, second)
    link = draft.deal(FRAMES.lines("links"))
    core, other = _core(draft, first, alone=False), _core(draft, second, alone=False)
    are_known = how is not None and other_how is not None
    frame = draft.deal(FRAMES.lines("pairs_with_reasons" if are_known else "pairs_of_cores"))
    return frame.format(core=core, second=other, link=link, how=how, other_how=other_how)


def _core(draft: Draft, edge: Edge, *, alone: bool) -> str:
    """Return the clause of one direct effect; ``alone`` admits frames for whole sentences."""
    ends = dict(zip(("cause", "effect"), edge, strict=True))
    named = {slot: draft.facts.variables[node] for slot, node in ends.items()}
    chosen = draft.by_state.get(edge, set())
    stated = {slot for slot, node in ends.items() if node in chosen}
    frame = draft.deal(EFFECTS)
    while (
        not stated <= frame.clauses
        or (frame.graded and named["effect"].kind == "binary")
        or (frame.alone and not alone)
    ):
        frame = draft.deal(EFFECTS)
    mentions = {slot: f"whether {named[slot].mention} {named[slot].values[1]}" for slot in stated}
    if edge in draft.unmeasured:
        mentions["cause"] = f"the unmeasured {named['cause'].name}"
    return fill(frame.text, named, mentions, frozenset(stated))


def _clause(facts: Facts, edge: Edge) -> str | None:
    cause, effect = (facts.variables[node].name for node in edge)
    return facts.mechanism_clauses.get((cause, effect))


def order_pair(group: Sequence[Edge]) -> tuple[tuple[Edge, Edge], Relation]:
    """Return two edges and what they share; those of a chain come in its causal order."""
    first, second = group
    if first[1] == second[0]:
        return (first, second), "chain"
    if second[1] == first[0]:
        return (second, first), "chain"
    if first[0] == second[0]:
        return (first, second), "fork"
    return (first, second), "join" if first[1] == second[1] else "apart"
