"""Natural direct and indirect effects (rung 3; paper A.9, A.16.2).

The NDE is asked about where the treatment affects the outcome directly, the NIE where something
lies between; neither is then zero by the graph.
"""

from collections.abc import Iterator

import numpy as np

from builder.causal.motifs import Motif
from builder.causalds.ask.effect_forms import (
    AskedEffect,
    abstain,
    asks_effects,
    effect_inputs,
    rules,
)
from builder.causalds.ask.eligible import mediated, mediated_and_direct, natural_verdicts
from builder.causalds.ask.identification import natural
from builder.causalds.ask.registry import LEVELS, Question, Truth, asks
from builder.causalds.ask.wording import (
    LABEL,
    RIGHT_OR_WRONG,
    either,
    fields,
    listed,
    number,
    percent,
)
from builder.causalds.make.scene import Scene
from builder.causalds.scene_plan import ScenePlan
from builder.scm.margins import EFFECT_MARGIN, TIE_BAND, clear_dominance


def _number_classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
    return tuple(sorted({"value" if one else "abstain" for one in natural_verdicts(motif)}))


def _sign_classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
    found = natural_verdicts(motif)
    return (*(("+", "-") if any(found) else ()), *(() if all(found) else ("unknown",)))


def _effects(scene: Scene, rng: np.random.Generator) -> Iterator[AskedEffect]:
    """The natural effects that this scene is asked about."""
    direct = scene.motif.treatment in scene.motif.graph.parents(scene.motif.outcome)
    for name, value in (("NDE", scene.truths.nde), ("NIE", scene.truths.nie)):
        if direct or name == "NIE":
            inputs, text = {"estimand": name}, natural(scene, name)
            yield AskedEffect(name, text, value, inputs=inputs, detail=name, zero=False)


asks_effects(
    _effects,
    [f"mediation_effect.{name}" for name in ("effect_point", "effect_uq_95", "sign_only")],
    (2, 3, 0),
    LEVELS | {"estimand"},
    (_number_classes, _sign_classes),
    mediated,
)


@asks(
    "mediation_effect.direct_vs_indirect_dominance",
    rank=1,
    inputs=LEVELS,
    classes=lambda motif, plan: (
        ("direct", "indirect") if all(natural_verdicts(motif)) else ("None",)
    ),
    hosts=mediated_and_direct,
)
def direct_vs_indirect_dominance(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Which of the two natural effects is larger in absolute value."""
    nde, nie = scene.truths.nde, scene.truths.nie
    label = None
    if nde is not None and nie is not None:
        label = clear_dominance(nde, nie, scene.truths.outcome_sd)
        if label is None:
            return
    labels = {
        "direct": "if |NDE| is the larger one, and it is no tie",
        "indirect": "if |NIE| is the larger one, and it is no tie",
        "tie": f"if |NDE| and |NIE| differ by at most {percent(TIE_BAND)} of the larger one",
    }
    yield Question(
        question=(
            f"{natural(scene, 'NDE', 'NIE')}\n\nWhich of the two is larger in absolute "
            f"value?\n\n{listed(labels)}\n\n{rules(scene, 'NDE', 'NIE', zero=False)}\n\n"
            "Where both are identifiable, you may rely on this: the difference of |NDE| and |NIE| "
            f"is at least {number(EFFECT_MARGIN)} standard deviations of Y away from the edge of "
            "the tie."
        ),
        answer=(
            f"{fields({'dominant': LABEL})}\n\nThe labels are {either(labels)}. "
            f"{abstain('NDE or the NIE', 'a label')} {RIGHT_OR_WRONG}"
        ),
        inputs=effect_inputs(scene),
        truth=Truth(target={"accepted": [label]}, should_abstain=nde is None or nie is None),
    )
