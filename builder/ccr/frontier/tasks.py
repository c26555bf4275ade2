"""The one task of a frontier instance, and the world row's record of it."""

from collections.abc import Callable, Mapping
from typing import Final

from builder.ccr.ask.questions import VERDICTS
from builder.ccr.ask.tasks import ContextTask, answer_bits, packed
from builder.ccr.ask.text import context_text, decimal
from builder.ccr.ask.themes import THEMES
from builder.ccr.frontier.bounds import (
    MEASURES,
    REGIMES,
    bounds,
    draw_margins,
    extreme,
    margins_json,
    measured,
)
from builder.ccr.frontier.cases import ASKED
from builder.ccr.frontier.chains import MOST_NAMES, draw_question
from builder.ccr.frontier.draw import ASKERS, Drawn, accepted, draw
from builder.ccr.frontier.effects import Enumeration
from builder.ccr.frontier.prompts import (
    bounded,
    bounds_prompt,
    cases_prompt,
    deduction_prompt,
    estimands_prompt,
)
from builder.ccr.make.quantities import twin_quantities
from builder.ccr.plan.contexts import ContextPlan
from builder.seeds import stream

Made = tuple[dict[str, object], ContextTask, Mapping[str, int]]
"""The world, its task, and what was rejected on the way."""

Make = Callable[[ContextPlan, str, bytes, str], Made]
"""From a plan, the answer file, the instance's key and its label; raises ``UsageError``."""


def make(plan: ContextPlan, file: str, key: bytes, where: str) -> Made:
    """The instance of a plan."""
    assert plan.variant is not None
    return MAKERS[plan.variant](plan, file, key, where)


def _boolean(plan: ContextPlan, file: str, key: bytes, where: str) -> Made:
    """Whatever asks of a Boolean context: its model is told in full."""
    assert plan.variant is not None
    drawn = draw(plan.variant, plan.theme, plan.tenths, key, where)
    story = context_text(drawn.context, drawn.words, stream(key, "story"))
    task = (_estimands if drawn.cases is None else _cases)(plan.variant, drawn, story, file, key)
    world: dict[str, object] = {"context": drawn.context.to_json(), "theme": plan.theme}
    return world, task, drawn.rejections


def _estimands(variant: str, drawn: Drawn, story: str, file: str, key: bytes) -> ContextTask:
    """Quantities by elimination of nodes; raises ``ValueError`` (our bug) where enumeration
    differs."""
    table = Enumeration(drawn.context)
    listed: dict[str, str] = {}
    target: dict[str, dict[str, object]] = {}
    for number, asked in enumerate(drawn.asked, start=1):
        exact = twin_quantities(drawn.context, asked.pair, dict(asked.evidence))
        if exact != table.quantities(asked.pair, asked.evidence):
            raise ValueError(f"{asked.text}: elimination and enumeration differ")
        listed[f"Q{number}"] = asked.text
        target[f"Q{number}"] = {
            "measure": asked.measure,
            "path": list(asked.pair),
            "exact": str(exact[asked.measure]),
            **({"evidence": [list(one) for one in asked.evidence]} if asked.evidence else {}),
        }
    order = stream(key, "order")
    prompt = estimands_prompt(drawn.context, drawn.words, story, drawn.asked, file, order)
    return ContextTask(
        variant, variant, prompt, {"quantities": listed}, None, {"quantities": target}, {}
    )


def _cases(variant: str, drawn: Drawn, story: str, file: str, key: bytes) -> ContextTask:
    cases = drawn.cases
    assert cases is not None
    ends = {"cause": cases.pair[0], "effect": cases.pair[1]}
    answers = dict(zip(ASKED, map(answer_bits, cases.answers), strict=True))
    prompt = cases_prompt(drawn.words, story, cases, file, stream(key, "cases"))
    return ContextTask(
        variant,
        variant,
        prompt,
        {**ends, "units": len(cases.factual)},
        None,
        {**ends, "answers": answers},
        {**ends, "other": cases.other, "level": cases.level, "bits": packed(cases.bits)},
    )


def _bounds(plan: ContextPlan, file: str, key: bytes, where: str) -> Made:
    """Bounds from margins; raises ``ValueError`` (our bug) where no explicit model attains them."""
    assert plan.variant is not None
    rng = stream(key, "world")
    regime = REGIMES[int(rng.integers(len(REGIMES)))]
    strata, rejections = accepted(lambda: draw_margins(regime, rng), f"{where}: no margins")
    asked = [MEASURES[regime][k] for k in rng.permutation(len(MEASURES[regime]))]
    words = THEMES[plan.theme]([5] * 3, stream(key, "words"))
    target: dict[str, dict[str, object]] = {}
    for number, measure in enumerate(asked, start=1):
        least, greatest = bounds(measure, strata)
        for end, largest in ((least, False), (greatest, True)):
            if measured(measure, [extreme(one, largest=largest) for one in strata]) != end:
                raise ValueError(f"{where}: the bounds of {measure} are not sharp")
        target[f"Q{number}"] = {
            "measure": measure,
            "path": list(words.names[:2]),
            "least": str(least),
            "greatest": str(greatest),
        }
    prompt = bounds_prompt(words, strata, asked, file, stream(key, "order"))
    listed = {f"Q{number}": bounded(name, words) for number, name in enumerate(asked, start=1)}
    task = ContextTask(
        plan.variant,
        plan.variant,
        prompt,
        {"quantities": listed},
        None,
        {"intervals": target},
        {"strata": [margins_json(one) for one in strata]},
    )
    context = {"kind": "margins", "regime": regime, "names": list(words.names)}
    return {"context": context, "theme": plan.theme}, task, rejections


def _deduction(plan: ContextPlan, file: str, key: bytes, where: str) -> Made:
    """A deduction on a graph, its right answer as planned."""
    assert plan.variant is not None
    (verdict,) = (known for known in VERDICTS if known == plan.verdict)
    words = THEMES[plan.theme]([5] * MOST_NAMES, stream(key, "words"))
    rng = stream(key, "world")
    question, rejections = accepted(
        lambda: draw_question(verdict, words.names, rng), f"{where}: no question"
    )
    target: dict[str, object] = {"verdict": verdict}
    if question.value is not None:
        target["exact"] = str(question.value)
    ends = {"cause": question.target.pair[0], "effect": question.target.pair[1]}
    givens = [[known.measure, *known.pair, decimal(known.value)] for known in question.givens]
    names = sorted({name for edge in question.edges for name in edge})
    context = {"kind": "graph", "names": names, "edges": [list(edge) for edge in question.edges]}
    task = ContextTask(
        plan.variant,
        plan.variant,
        deduction_prompt(words, question, file),
        {**ends, "measure": question.target.measure},
        question.value,
        target,
        {**ends, "measure": question.target.measure, "givens": givens},
    )
    return {"context": context, "theme": plan.theme}, task, rejections


MAKERS: Final[Mapping[str, Make]] = {
    **dict.fromkeys(ASKERS, _boolean),
    "frontier.bounds": _bounds,
    "frontier.deductive": _deduction,
}
"""What makes the instance of each variant."""
