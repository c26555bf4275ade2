"""Prompts of the frontier exam, in the words of all themes."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from builder.ccr.ask.text import ANSWER, CASES, NUMBERED, QUESTIONS, case_lines, direct_prompt
from builder.ccr.ask.themes import Words
from builder.ccr.frontier.cases import Cases
from builder.ccr.frontier.effects import Estimand
from builder.ccr.make.model import BooleanContext
from builder.texts import Texts

_TEXTS: Final = Texts(__file__)


def estimands_prompt(
    context: BooleanContext, words: Words, story: str, asked: Sequence[Estimand], answer_file: str,
    rng: np.random.Generator,
) -> str:  # fmt: skip
    """The full model with its probabilities, and the quantities to state."""
    known = any(estimand.evidence for estimand in asked)
    note = "\n".join([_TEXTS["made"].strip(), *([_TEXTS["bar"].strip()] if known else [])])
    return direct_prompt(context, words, story, asked, answer_file, rng, note)


def cases_prompt(
    words: Words, story: str, cases: Cases, answer_file: str, rng: np.random.Generator
) -> str:
    """The cases, three suppositions about each, and how to answer."""
    place = {name: node for node, name in enumerate(words.names)}
    cause, effect, other = (place[name] for name in (*cases.pair, cases.other))
    question = words.questions[effect]
    later = question[0].lower() + question[1:]
    besides = (words.states if cases.level else words.negations)[other]
    states = words.states[cause], words.negations[cause], f"{words.states[cause]} and {besides}"
    first, second, third = (_TEXTS("supposition", state=state, question=later) for state in states)
    lines = case_lines(words, cases.bits, rng)
    return _TEXTS(
        "simulation",
        story=story,
        CASES=CASES,
        case_note=words.case_note,
        NUMBERED=NUMBERED,
        cases="\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1)),
        QUESTIONS=QUESTIONS,
        made=_TEXTS["made"].strip(),
        do_true=first,
        do_false=second,
        joint=third,
        ANSWER=ANSWER,
        answer_file=answer_file,
        count=len(lines),
    )
