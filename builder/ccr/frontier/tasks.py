"""The one task of a frontier instance, and the world row's record of it."""

from collections.abc import Callable, Mapping
from typing import Final

from builder.ccr.ask.tasks import ContextTask, answer_bits, packed
from builder.ccr.ask.text import context_text
from builder.ccr.frontier.cases import ASKED
from builder.ccr.frontier.draw import ASKERS, Drawn, draw
from builder.ccr.frontier.effects import Enumeration
from builder.ccr.frontier.prompts import cases_prompt, estimands_prompt
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


MAKERS: Final[Mapping[str, Make]] = dict.fromkeys(ASKERS, _boolean)
"""What makes the instance of each variant."""
