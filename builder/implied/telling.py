"""Tells statements in the words of a setting.

The variables come first, each by its name; then the statements, in a seeded order that says nothing
of the graph, one or two to a sentence. A variable is often spoken of by a second name, the last
word of its name ("the pressure"), where nothing else in the story could be meant by it; a pronoun
stands only where a single variable has been named before it in the sentence.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from builder.implied import patterns
from builder.implied.patterns import Binding, Row
from builder.implied.second_names import second_names
from builder.implied.statements import Statement
from builder.implied.verify import verify_implied
from builder.seeds import pick, shuffled
from builder.words.draft import Draft, fill, tell_variables
from builder.words.story import UnfaithfulStoryError
from builder.words.types import Facts, Setting, Telling, Variable

_JOIN_RATE = 0.55
_OPENER_RATE = 0.2
_SECOND_NAME_RATE = 0.4
_SPLIT_FROM = 9
"""From so many sentences on, the statements fill two paragraphs."""


def tell_implied(
    rng: np.random.Generator, setting: Setting, facts: Facts, statements: Sequence[Statement]
) -> Telling:
    """Tells ``statements``, by the names of ``facts``, in ``setting``.

    Returns the story, the noun for one record, and the sentence that attests each statement and
    variable. Raises :class:`UnfaithfulStoryError` when the verifier finds the text to tell anything
    else.
    """
    draft = Draft(rng, setting, facts)
    variables = tell_variables(draft)
    last = [draft.sentence(draft.deal(patterns.NO_DIRECTION))]
    ends = [
        draft.sentence(draft.deal(lines))
        for lines in (patterns.AS_IT_HAPPENED, patterns.AFTER_TRIALS)
    ]
    if facts.unmeasured:
        last.insert(0, draft.sentence(draft.deal(patterns.ROOTS)))
    opening = [setting.opening, setting.colour]
    remarks = [draft.sentence(draft.deal(patterns.INTROS))]
    fixed = [*opening, *last, *ends, *remarks, *variables[:1]]
    second = second_names(facts.variables.values(), fixed)
    closed: list[str] = []
    for group, row in _grouped(rng, statements):
        sentence = _told(draft, row, group, second)
        draft.attest(sentence, *(statement.what for statement in group))
        (closed if group[0].kind == "closure" else remarks).append(sentence)
    last.append(ends[any(map(patterns.tells_trial, remarks))])
    middle = (len(remarks) + 1) // 2 if len(remarks) >= _SPLIT_FROM else len(remarks)
    paragraphs = [opening, variables, remarks[:middle], remarks[middle:], closed + last]
    story = "\n\n".join(" ".join(sentences) for sentences in paragraphs if sentences)
    telling = Telling(story, setting.theme.record, tuple(draft.attestations))
    problems = verify_implied(telling.story, telling.attestations, facts, statements)
    if problems:
        raise UnfaithfulStoryError("; ".join(problems))
    return telling


def _grouped(
    rng: np.random.Generator, statements: Sequence[Statement]
) -> Iterable[tuple[list[Statement], Row]]:
    """The statements in a seeded order, two in one where a row of patterns says both."""
    left = shuffled(rng, statements)
    while left:
        first = left.pop(0)
        partners = [
            (group, row)
            for other in left
            for group in ([first, other], [other, first])
            for row in patterns.ROWS
            if patterns.bindings(row, group) is not None
        ]
        if partners and rng.random() < _JOIN_RATE:
            group, row = pick(rng, partners)
            left.remove(group[1] if group[0] is first else group[0])
        else:
            group = [first]
            row = next(r for r in patterns.ROWS if patterns.bindings(r, group) is not None)
        yield group, row


def _told(draft: Draft, row: Row, group: Sequence[Statement], second: Mapping[str, str]) -> str:
    """The sentence for one statement or two."""
    binding = patterns.bindings(row, group)
    assert binding is not None
    text = draft.deal(row.texts)
    if text.startswith("{a}") and draft.chance(_OPENER_RATE):
        text = draft.deal(patterns.OPENERS) + text
    return draft.sentence(_filled(draft, text, binding, second))


def _filled(draft: Draft, text: str, binding: Binding, second: Mapping[str, str]) -> str:
    """A pattern with its slots filled; in each sentence some name stands in full."""
    variables = {variable.name: variable for variable in draft.facts.variables.values()}
    slots: dict[str, Variable] = {}
    mentions: dict[str, str] = {}
    in_full = [slot for slot, value in binding.items() if patterns.things(slot, value)]
    kept = "u" if "u" in binding else pick(draft.rng, in_full) if in_full else ""
    for slot, value in binding.items():
        names = patterns.things(slot, value)
        if not names:
            number = int(value or 0)
            slots[slot] = Variable(slot, "continuous", plural=number > 1)
            mentions[slot] = patterns.number_words(number)
        elif len(names) > 1:
            slots[slot] = Variable(slot, "continuous", plural=True)
            listed = [variables[name].mention for name in shuffled(draft.rng, names)]
            mentions[slot] = f"{', '.join(listed[:-1])} and {listed[-1]}"
        else:
            slots[slot] = variables[names[0]]
            mentions[slot] = variables[names[0]].mention
            if names[0] in second and slot != kept and draft.chance(_SECOND_NAME_RATE):
                mentions[slot] = f"the {second[names[0]]}"
    plural = {slot: variable.plural for slot, variable in slots.items()}
    return fill(patterns.agreeing(text, plural), slots, mentions)
