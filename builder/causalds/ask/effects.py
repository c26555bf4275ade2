"""The average treatment effect (rung 2) and the effect on the treated (rung 3): paper A.9, A.16.2.

Effects without a directed path are asked about, too: their value is 0, their sign "0".
"""

from collections.abc import Iterator

import numpy as np

from builder.causalds.ask.association import correlation, margin_of
from builder.causalds.ask.effect_forms import (
    RULES,
    effect_inputs,
    effect_margin,
    interval,
    point,
    sign,
)
from builder.causalds.ask.identification import treated
from builder.causalds.ask.registry import Question, Truth, asks
from builder.causalds.ask.wording import (
    RIGHT_OR_WRONG,
    bold,
    example,
    levels,
    number,
    rely,
)
from builder.causalds.make.scene import Scene
from builder.scm import clear_effect_sign, clear_sign


@asks("effect_estimate.ate_point")
def ate_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The average treatment effect."""
    yield point(scene, "ATE", average(scene), "ate", scene.truths.ate)


@asks("effect_estimate.ate_uq_95")
def ate_uq_95(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The average treatment effect with a central 95% interval."""
    yield interval(scene, "ATE", average(scene), "ate", scene.truths.ate)


@asks("effect_estimate.ate_sign_only")
def ate_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the average treatment effect."""
    yield from sign(scene, "ATE", average(scene), scene.truths.ate)


@asks("effect_estimate.ate_vs_assoc_sign_match")
def ate_vs_assoc_sign_match(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether the association points the way the effect does."""
    ate = scene.truths.ate
    margin = margin_of(scene)
    associated = clear_sign(scene.truths.association, margin)
    caused = None if ate is None else clear_effect_sign(ate, scene.truths.outcome_sd)
    if associated is None or (ate is not None and caused is None):
        return
    right = None if ate is None else caused == associated != "0"
    yield Question(
        question=(
            f"{average(scene)}\n\n{correlation(scene)}\n\nDo the ATE and r have the same sign, "
            "both positive or both negative? If either of them is exactly 0, they do not.\n\n"
            f"{RULES.format(estimand='ATE')}\n\n{rely('r', number(margin))} "
            f"{effect_margin('ATE')}"
        ),
        answer=(
            "A JSON object with the field `matches`, true or false:\n\n"
            f"{example({'matches': True})}\n\nIf the ATE is not identifiable, and only then, "
            f"answer\n\n{example({'matches': None})}\n\n{RIGHT_OR_WRONG}"
        ),
        inputs=effect_inputs(scene),
        truth=Truth(target={"accepted": [right]}, should_abstain=ate is None),
    )


@asks("counterfactual_effect.effect_point")
def ett_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The effect of treatment on the treated."""
    yield point(scene, "ETT", treated(scene), "value", scene.truths.ett)


@asks("counterfactual_effect.effect_uq_95")
def ett_uq_95(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The effect of treatment on the treated with a central 95% interval."""
    yield interval(scene, "ETT", treated(scene), "value", scene.truths.ett)


@asks("counterfactual_effect.sign_only")
def ett_sign(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the effect of treatment on the treated."""
    yield from sign(scene, "ETT", treated(scene), scene.truths.ett)


def average(scene: Scene) -> str:
    """The average treatment effect in symbols."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the average treatment effect (ATE) of {x} on {y} in the population,\n\n"
        "ATE = E[Y | do(X = x1)] - E[Y | do(X = x0)]\n\n"
        f"with X = {x}, Y = {y}, {levels(scene)}."
    )
