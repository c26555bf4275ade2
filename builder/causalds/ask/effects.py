"""The average treatment effect (rung 2) and the effect on the treated (rung 3): paper A.9, A.16.2.

Effects without a directed path are asked about, too: their value is 0, their sign "0".
"""

from collections.abc import Iterator

import numpy as np

from builder.causal.motifs import Motif
from builder.causalds.ask.association import correlation, margin_of
from builder.causalds.ask.effect_forms import (
    AskedEffect,
    abstain,
    asks_effects,
    effect_inputs,
    effect_margin,
    rules,
)
from builder.causalds.ask.eligible import ate, directed_path, effect_numbers, effect_signs, ett
from builder.causalds.ask.identification import treated
from builder.causalds.ask.registry import LEVELS, Question, Truth, asks
from builder.causalds.ask.wording import (
    RIGHT_OR_WRONG,
    TRUTH_VALUE,
    bold,
    fields,
    levels,
    number,
    rely,
)
from builder.causalds.make.scene import Scene
from builder.causalds.scene_plan import ScenePlan
from builder.scm.margins import clear_effect_sign, clear_sign


def _ate(scene: Scene, rng: np.random.Generator) -> Iterator[AskedEffect]:
    yield AskedEffect("ATE", average(scene), scene.truths.ate, "ate")


def _ett(scene: Scene, rng: np.random.Generator) -> Iterator[AskedEffect]:
    yield AskedEffect("ETT", treated(scene), scene.truths.ett)


asks_effects(
    _ate,
    [f"effect_estimate.{name}" for name in ("ate_point", "ate_uq_95", "ate_sign_only")],
    (1, 2, 0),
    LEVELS,
    (effect_numbers(ate), effect_signs(ate)),
)
asks_effects(
    _ett,
    [f"counterfactual_effect.{name}" for name in ("effect_point", "effect_uq_95", "sign_only")],
    (1, 2, 0),
    LEVELS,
    (effect_numbers(ett), effect_signs(ett)),
)


def _match_classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
    if not ate(motif, plan):
        return ("None",)
    return ("True", "False") if directed_path(motif, plan) else ("False",)


@asks(
    "effect_estimate.ate_vs_assoc_sign_match",
    rank=3,
    inputs=LEVELS,
    classes=_match_classes,
)
def ate_vs_assoc_sign_match(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether the association points the way the effect does."""
    effect = scene.truths.ate
    margin = margin_of(scene)
    associated = clear_sign(scene.truths.association, margin)
    caused = None if effect is None else clear_effect_sign(effect, scene.truths.outcome_sd)
    if associated is None:
        return
    right = None if effect is None else caused == associated != "0"
    yield Question(
        question=(
            f"{average(scene)}\n\n{correlation(scene)}\n\nDo the ATE and r have the same sign, "
            "both positive or both negative? If either of them is exactly 0, they do not.\n\n"
            f"{rules(scene, 'ATE')}\n\n{rely(('r', number(margin)))} "
            f"{effect_margin('ATE')}"
        ),
        answer=(
            f"{fields({'matches': TRUTH_VALUE})}\n\n{abstain('ATE', 'true or false')} "
            f"{RIGHT_OR_WRONG}"
        ),
        inputs=effect_inputs(scene),
        truth=Truth(target={"accepted": [right]}, should_abstain=effect is None),
    )


def average(scene: Scene) -> str:
    """The average treatment effect in symbols."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the average treatment effect (ATE) of {x} on {y} in the population,\n\n"
        "ATE = E[Y | do(X = x1)] - E[Y | do(X = x0)]\n\n"
        f"with X = {x}, Y = {y}, {levels(scene)}."
    )
