"""Natural direct and indirect effects (rung 3; paper A.9, A.16.2).

The NDE is asked about where the treatment affects the outcome directly, the NIE where something
lies between; neither is then zero by the graph.
"""

from collections.abc import Iterator

import numpy as np

from builder.causalds.ask.effect_forms import RULES, effect_inputs, interval, point, sign
from builder.causalds.ask.identification import mediators, natural
from builder.causalds.ask.registry import (
    Question,
    Truth,
    asks,
    mediated,
    mediated_and_direct,
)
from builder.causalds.ask.wording import RIGHT_OR_WRONG, either, example, listed, number, percent
from builder.causalds.make.scene import Scene
from builder.scm import EFFECT_MARGIN, TIE_BAND, Quantity, clear_dominance


@asks("mediation_effect.effect_point", hosts=mediated)
def effect_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """A natural effect as a number."""
    between = mediators(scene, rng)
    for name, effect in _effects(scene):
        yield point(scene, name, _text(scene, between, name), "value", effect,
                    _inputs(between, name), name)  # fmt: skip


@asks("mediation_effect.effect_uq_95", hosts=mediated)
def effect_uq_95(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """A natural effect with a central 95% interval."""
    between = mediators(scene, rng)
    for name, effect in _effects(scene):
        yield interval(scene, name, _text(scene, between, name), "value", effect,
                       _inputs(between, name), name)  # fmt: skip


@asks("mediation_effect.sign_only", hosts=mediated)
def sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of a natural effect."""
    between = mediators(scene, rng)
    for name, effect in _effects(scene):
        yield from sign(scene, name, _text(scene, between, name), effect, _inputs(between, name),
                        name, zero=False)  # fmt: skip


@asks("mediation_effect.direct_vs_indirect_dominance", hosts=mediated_and_direct)
def direct_vs_indirect_dominance(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Which of the two natural effects is larger in absolute value."""
    between = mediators(scene, rng)
    nde, nie = scene.truths.nde, scene.truths.nie
    label = None
    if nde is not None and nie is not None:
        label = clear_dominance(nde, nie, scene.truths.outcome_sd)
        if label is None:
            return
    labels = {
        "direct": "if |NDE| is the larger one",
        "indirect": "if |NIE| is the larger one",
        "tie": f"if they differ by at most {percent(TIE_BAND)} of the larger one",
    }
    yield Question(
        question=(
            f"{natural(scene, between, ('NDE', 'NIE'))}\n\nWhich of the two is larger in absolute "
            f"value?\n\n{listed(labels)}\n\n{RULES.format(estimand='NDE or NIE')}\n\n"
            "Where both are identifiable, you may rely on this: the difference of |NDE| and |NIE| "
            f"is at least {number(EFFECT_MARGIN)} standard deviations of Y away from the edge of "
            "the tie."
        ),
        answer=(
            f"A JSON object with the field `dominant`:\n\n{example({'dominant': 'direct'})}\n\n"
            f"The labels are {either(labels)}. If the NDE or the NIE is not identifiable, and only "
            f"then, answer\n\n{example({'dominant': None})}\n\n{RIGHT_OR_WRONG}"
        ),
        inputs={**effect_inputs(scene), "mediators": between},
        truth=Truth(target={"accepted": [label]}, should_abstain=nde is None or nie is None),
    )


def _effects(scene: Scene) -> list[tuple[str, Quantity | None]]:
    """The natural effects that this scene is asked about."""
    direct = scene.motif.treatment in scene.motif.graph.parents(scene.motif.outcome)
    return [*([("NDE", scene.truths.nde)] if direct else []), ("NIE", scene.truths.nie)]


def _text(scene: Scene, between: list[str], name: str) -> str:
    return natural(scene, between, (name,))


def _inputs(between: list[str], name: str) -> dict[str, object]:
    return {"mediators": between, "estimand": name}
