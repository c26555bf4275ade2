"""Prompts of the frontier exam, in the words of all themes."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from builder.ccr.ask.text import (
    ANSWER,
    CASES,
    NUMBERED,
    QUESTIONS,
    case_lines,
    decimal,
    direct_prompt,
    meaning,
)
from builder.ccr.ask.themes import Words
from builder.ccr.frontier.bounds import SHARES, Margins
from builder.ccr.frontier.cases import Cases
from builder.ccr.frontier.chains import Question
from builder.ccr.frontier.effects import Estimand
from builder.ccr.make.model import BooleanContext
from builder.texts import Texts

_TEXTS: Final = Texts(__file__)

_LEVELS: Final = {True: "to hold", False: "not to hold"}


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


def bounds_prompt(
    words: Words,
    strata: Sequence[Margins],
    asked: Sequence[str],
    answer_file: str,
    rng: np.random.Generator,
) -> str:
    """The margins of cause, effect and, with strata, a third variable (the first three names), and
    the quantities to bound; ``asked`` are measures."""
    cause, effect, *others = words.names
    stratum = others[0] if len(strata) > 1 else ""
    shares = list(_shares(words, strata))
    ends = ", ".join(f'"Q{number}": [<number>, <number>]' for number in range(1, len(asked) + 1))
    meanings = [_TEXTS["meaning.do"] if name == "do" else meaning(name) for name in asked]
    names = {"cause": cause, "effect": effect, "stratum": stratum}
    listed = [f"- Q{number}: {bounded(name, words)}" for number, name in enumerate(asked, start=1)]
    return _TEXTS(
        "bounds",
        effect=effect,
        untouched=_TEXTS("share.untouched", **names) if stratum else "",
        example=_example(words, cause),
        experimented=_TEXTS("share.experimented", cause=cause) if strata[0].done else "",
        shares="\n".join(shares[k] for k in rng.permutation(len(shares))),
        cause=cause,
        meanings="\n".join(meanings),
        quantities="\n".join(listed),
        answer_file=answer_file,
        form=ends,
    )


def deduction_prompt(words: Words, question: Question, answer_file: str) -> str:
    """The graph, the givens, and what is asked; never functions or probabilities."""
    measures = dict.fromkeys(known.measure for known in (*question.givens, question.target))
    edges = [_TEXTS("edge", cause=cause, effect=effect) for cause, effect in question.edges]
    return _TEXTS(
        "deduction",
        example=_example(words, question.edges[0][0]),
        edges="\n".join(edges),
        meanings="\n".join(meaning(name) for name in measures),
        givens="\n".join(f"- {known.text} = {decimal(known.value)}" for known in question.givens),
        asked=question.target.text,
        answer_file=answer_file,
    )


def _example(words: Words, name: str) -> str:
    state = words.states[words.names.index(name)]
    return f"{state[0].upper()}{state[1:]}: {name}"


def bounded(measure: str, words: Words) -> str:
    """Such as ``PNS(A, B)``."""
    return f"{measure.upper()}({words.names[0]}, {words.names[1]})"


def _shares(words: Words, strata: Sequence[Margins]) -> Iterator[str]:
    """All margins, one line each: of the two variables, and of the third one where it counts."""

    def told(levels: Sequence[tuple[int, bool]]) -> str:
        return " and ".join((words.states if so else words.negations)[v] for v, so in levels)

    for holds, margins in zip((True, False), strata, strict=False):
        apart = [(2, holds)] if len(strata) > 1 else []
        for (x, y), share in margins.seen.items():
            clauses = told([*apart, (0, x), (1, y)])
            yield _TEXTS("share.seen", clauses=clauses, share=_thousandths(share))
        for level, share in zip((True, False), margins.done or (), strict=False):
            yield _TEXTS(
                "share.done",
                cause=words.names[0],
                level=_LEVELS[level],
                clauses=told([*apart, (1, True)]),
                share=_thousandths(share),
            )


def _thousandths(share: Fraction) -> str:
    return f"0.{int(share * SHARES):03d}"
