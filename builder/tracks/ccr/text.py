"""Prompts of the ccr track. A simulation prompt is compact: the context once, one line for each
case, the three questions once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from builder.splits.seeds import random_order
from builder.stories.texts import Texts
from builder.tracks.ccr.model import Bits, BooleanContext, LinearContext
from builder.tracks.ccr.quantities import MEDIATED
from builder.tracks.ccr.themes import Words

_TEXTS: Final = Texts(__file__)


def context_text(context: BooleanContext, words: Words, rng: np.random.Generator) -> str:
    """Return the story and one rule for every variable, in an order unrelated to the graph's."""
    order = random_order(rng, range(len(words.names)))
    rules = [f"- {_rule(context, words, node, rng)}" for node in order]
    return "\n".join([words.intro, "", "The rules, in no particular order:", *rules])


def _rule(context: BooleanContext, words: Words, node: int, rng: np.random.Generator) -> str:
    """Return the sentence that states the function of a node, its causes in random order."""
    state = words.states[node][0].upper() + words.states[node][1:]
    own = words.owns[node]
    parents = random_order(rng, [words.states[p] for p in context.parents[node]])
    if not parents:
        return f"{state} exactly when {own}."
    if len(parents) == 1 or context.own[node] == context.among[node]:
        holds = random_order(rng, [own, *parents])
        return f"{state} exactly when {_join_clauses(context.own[node], holds)}."
    if context.own[node] == "and":
        return f"{state} exactly when {own} and, besides, {_join_clauses('or', parents)}."
    return f"{state} exactly when {own} and/or {_join_clauses('and', parents)}."


def _join_clauses(operator: str, clauses: Sequence[str]) -> str:
    quantity = "at least one of these holds" if operator == "or" else "all of these hold"
    return f"{quantity}: {'; '.join(clauses)}"


def case_lines(words: Words, cases: Bits, rng: np.random.Generator) -> list[str]:
    """Return a line for each of ``cases`` (nodes, cases): all items, in one random order."""
    items = [*words.items, *((options, options) for options in words.extras)]
    bits = [*cases.tolist(), *([0] * cases.shape[1] for _ in words.extras)]
    drawn = rng.integers(0, 1 << 30, (len(items), cases.shape[1])).tolist()
    columns = [
        [options[bit][draw % len(options[bit])] for bit, draw in zip(*column, strict=True)]
        for options, *column in zip(items, bits, drawn, strict=True)
    ]
    return ["; ".join(row) for row in zip(*random_order(rng, columns), strict=True)]


def simulation_prompt(
    words: Words, story: str, nodes: tuple[int, int], cases: Sequence[str], answer_file: str
) -> str:
    """Return the whole prompt. ``nodes`` are the indices of cause and effect."""
    cause, effect = nodes
    question = words.questions[effect]
    later = question[0].lower() + question[1:]
    do_true, do_false = (
        _TEXTS("supposition", state=state, question=later)
        for state in (words.states[cause], words.negations[cause])
    )
    return _TEXTS(
        "simulation",
        story=story,
        case_note=words.case_note,
        cases="\n".join(f"{number}. {case}" for number, case in enumerate(cases, start=1)),
        question=question,
        do_true=do_true,
        do_false=do_false,
        answer_file=answer_file,
        count=len(cases),
    )


@dataclass(frozen=True, slots=True)
class ListedQuantity:
    """A quantity: ``measure`` (such as "pns") of a pair, or its product over a longer tree path.
    The path of an NDE or NIE is its cause, mediator and effect."""

    measure: str
    path: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the text: ``PNS(A, B)``, ``ATE(A, B) × ATE(B, C)``, ``NDE(A, C; B)``."""
        name = self.measure.upper()
        if self.measure in MEDIATED:
            return f"{name}({self.path[0]}, {self.path[2]}; {self.path[1]})"
        return " × ".join(f"{name}({a}, {b})" for a, b in pairwise(self.path))


def direct_prompt(
    context: BooleanContext,
    words: Words,
    story: str,
    asked: Sequence[ListedQuantity],
    answer_file: str,
    rng: np.random.Generator,
) -> str:
    """Return a Boolean context's prompt: rules, probabilities, and the quantities ``asked``."""
    order = rng.permutation(len(words.owns))
    return _TEXTS(
        "direct",
        story=story,
        odds="\n".join(f"- {words.owns[v]}: {context.tenths[v] / 10:g}" for v in order),
        example=_TEXTS("example", name=words.names[0], state=words.states[0]),
        meanings=_meanings(quantity.measure for quantity in asked),
        state=state_quantities([q.text for q in asked], answer_file),
    )


def linear_prompt(
    context: LinearContext,
    asked: Sequence[ListedQuantity],
    answer_file: str,
    rng: np.random.Generator,
) -> str:
    """Return a linear model's prompt: equations in random order, and the quantities ``asked``."""
    names = context.dag.nodes
    lines = []
    for node in rng.permutation(len(names)):
        rows = list(zip(context.parents[node], context.coefficients[node], strict=True))
        terms = [f"{float(c):g} {names[p]}" for p, c in random_order(rng, rows)]
        terms.append(f"noise of {names[node]}")
        lines.append(f"- {names[node]} = {' + '.join(terms).replace('+ -', '- ')}")
    return _TEXTS(
        "linear",
        equations="\n".join(lines),
        meanings=_meanings((quantity.measure for quantity in asked), "linear"),
        state=state_quantities([q.text for q in asked], answer_file),
    )


def _meanings(measures: Iterable[str], model: str = "boolean") -> str:
    """Return a line for each distinct measure that says what it is in such a ``model``."""
    return "\n".join(_TEXTS(f"meaning.{model}.{measure}") for measure in dict.fromkeys(measures))


def state_quantities(asked: Sequence[str], answer_file: str) -> str:
    """Return the request to state quantities, called Q1 and on, and the answer's form."""
    listed = [f"- Q{number}: {quantity}" for number, quantity in enumerate(asked, start=1)]
    example = ", ".join(f'"Q{number}": <number>' for number in range(1, len(asked) + 1))
    return _TEXTS("state", quantities="\n".join(listed), answer_file=answer_file, example=example)


def deductive_prompt(
    nodes: Sequence[str],
    givens: Mapping[ListedQuantity, Fraction],
    target: ListedQuantity,
    answer_file: str,
    rng: np.random.Generator,
) -> str:
    """Return the prompt that shows the givens in random order and asks for ``target``. ``nodes`` is
    the cut tree, of natural effects X, two mediators and Y. It never shows functions or odds."""
    model = "boolean" if target.measure == "pns" else "linear"
    digits = {one.text: decimal(value) for one, value in givens.items()}
    stated = [
        # Half a unit of the last decimal, such as 0.00005 for 0.1200.
        f"- {name} = {text} ± {Decimal(1).scaleb(-len(text.partition('.')[2])) / 2:f}"
        for name, text in digits.items()
    ]
    if target.measure in ("te", *MEDIATED):
        cause, *mediators, effect = nodes
        told = {"cause": cause, "effect": effect, "mediators": " and ".join(mediators)}
        graph, measures = _TEXTS("graph.mediators", **told), ["te", *MEDIATED]
    else:
        graph, measures = _TEXTS("graph.tree", tree=", ".join(nodes)), [target.measure]
    return _TEXTS(
        "deductive",
        graph=graph,
        kind=_TEXTS(f"kind.{model}"),
        meanings=_meanings(measures, model),
        givens="\n".join(random_order(rng, stated)),
        asked=target.text,
        answer_file=answer_file,
    )


def decimal(value: Fraction) -> str:
    """Return four significant digits without exponent. None tells what was altered."""
    return format(Decimal(f"{float(value):.3e}"), "f")
