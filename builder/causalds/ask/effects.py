"""Effects as numbers: the ATE (rung 2) and the effect on the treated (rung 3)."""

import numpy as np

from builder.causalds.ask.registry import Question, Truth, asks
from builder.causalds.ask.wording import (
    IDENTIFIABLE,
    READING,
    bold,
    example,
    levels,
    number,
    percent,
)
from builder.causalds.scene import Scene
from builder.scm import Quantity
from grader.spec import EFFECT_ALPHA


@asks("effect_estimate.ate_point")
def ate_point(scene: Scene, rng: np.random.Generator) -> Question:
    """The average treatment effect."""
    return Question(
        question=f"{_ate(scene)}\n\nEstimate it.\n\n{_rules('ATE')}",
        answer=(
            f"A JSON object with the field `ate`:\n\n{example({'ate': 1.23})}\n\n"
            f"{_abstain({'ate': None})}\n\nScored by |your value - ATE|, relative to 1 + |ATE|."
        ),
        inputs=_inputs(scene),
        truth=_truth(scene.truths.ate),
    )


@asks("effect_estimate.ate_uq_95")
def ate_uq_95(scene: Scene, rng: np.random.Generator) -> Question:
    """The average treatment effect with a central 95% interval."""
    level = percent(1 - EFFECT_ALPHA)
    form = {"ate": 1.23, "ci_lower": 0.98, "ci_upper": 1.48}
    return Question(
        question=(
            f"{_ate(scene)}\n\nEstimate it, and give a **central {level} confidence interval** "
            f"for it.\n\n{_rules('ATE')}"
        ),
        answer=(
            "A JSON object with the fields `ate`, `ci_lower` and `ci_upper`:\n\n"
            f"{example(form)}\n\n{_abstain({'ate': None, 'ci_lower': None, 'ci_upper': None})}\n\n"
            f"Scored by the interval score, (ci_upper - ci_lower) plus {number(2 / EFFECT_ALPHA)} "
            "times the distance by which the ATE misses the interval, relative to 1 + |ATE|. "
            "`ci_lower` must not exceed `ci_upper`."
        ),
        inputs={**_inputs(scene), "alpha": EFFECT_ALPHA},
        truth=_truth(scene.truths.ate),
    )


@asks("counterfactual_effect.effect_point")
def ett_point(scene: Scene, rng: np.random.Generator) -> Question:
    """The effect of treatment on the treated."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    record = scene.narration.setting.theme.record
    question = (
        f"Consider the effect of treatment on the treated (ETT) of {x} on {y},\n\n"
        "ETT = E[Y(x1) - Y(x0) | X = x1]\n\n"
        f"with X = {x}, Y = {y}, {levels(scene)}. It is the average difference, over those of "
        f"the population for which {x} in fact equals x1, between {y} as it is and as it would "
        f"have been for the same {record} had {x} been set to x0."
    )
    return Question(
        question=f"{question}\n\nEstimate it.\n\n{_rules('ETT')}",
        answer=(
            f"A JSON object with the field `value`:\n\n{example({'value': 1.23})}\n\n"
            f"{_abstain({'value': None})}\n\nScored by |your value - ETT|, relative to 1 + |ETT|."
        ),
        inputs=_inputs(scene),
        truth=_truth(scene.truths.ett),
    )


def _ate(scene: Scene) -> str:
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the average treatment effect (ATE) of {x} on {y} in the population,\n\n"
        "ATE = E[Y | do(X = x1)] - E[Y | do(X = x0)]\n\n"
        f"with X = {x}, Y = {y}, {levels(scene)}."
    )


def _rules(estimand: str) -> str:
    return (
        f"{READING}\n\n{IDENTIFIABLE} Whether the {estimand} is identifiable is a matter of the "
        "background alone; once it is, any assumption that helps you estimate it well is yours to "
        f"make. An {estimand} that must be 0 because no chain of effects leads from X to Y is "
        "identifiable: its value is 0."
    )


def _abstain(form: dict[str, None]) -> str:
    return f"If the effect is not identifiable, and only then, answer\n\n{example(form)}"


def _inputs(scene: Scene) -> dict[str, object]:
    x0, x1 = scene.truths.levels
    return {
        "treatment": scene.treatment.name,
        "outcome": scene.outcome.name,
        "x0": x0,
        "x1": x1,
    }


def _truth(quantity: Quantity | None) -> Truth:
    return Truth(target={}, quantity=quantity, should_abstain=quantity is None)
