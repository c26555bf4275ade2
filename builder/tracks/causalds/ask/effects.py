"""Effects as numbers, intervals and signs: average, on the treated, natural (paper A.9, A.16.2).

The average effect (rung 2) and the effect on the treated (rung 3) are asked about without a
directed path, too: their value is 0, their sign "0". Of the natural effects (rung 3) the NDE is
asked about where the treatment affects the outcome directly, the NIE where something lies between;
neither is then zero by the graph.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial

import numpy as np

from builder.equations.margins import (
    EFFECT_MARGIN,
    TIE_BAND,
    clear_dominance,
    clear_effect_sign,
    clear_sign,
)
from builder.equations.quantities import Quantity
from builder.tracks.causalds.ask.association import correlation, ends, margin_of
from builder.tracks.causalds.ask.identification import natural, treated
from builder.tracks.causalds.ask.registry import Question, Truth, asks
from builder.tracks.causalds.ask.wording import (
    LABEL,
    NUMBER,
    RIGHT_OR_WRONG,
    TRUTH_VALUE,
    bold,
    either,
    fields,
    identifiable,
    levels,
    listed,
    number,
    percent,
    reading,
    rely,
    zero_effect,
)
from builder.tracks.causalds.design.eligibility import direct
from builder.tracks.causalds.make.scene import Scene
from grader.tracks.causalds.shapes import EFFECT_ALPHA


@dataclass(frozen=True, slots=True)
class AskedEffect:
    """One effect as it is asked about, whatever the form of the answer.

    ``name`` is its short name ("ATE"), ``text`` defines it, ``value`` is None where it is not
    identifiable; ``field`` is the answer's member for its number. ``inputs`` come on top of
    treatment, outcome and levels; ``detail`` tells the effects of one scene apart. ``zero`` says
    whether it can be exactly 0 in the scenes that are asked.
    """

    name: str
    text: str
    value: Quantity | None
    field: str = "value"
    inputs: Mapping[str, object] = dataclass_field(default_factory=dict)
    detail: str = ""
    zero: bool = True


Effects = Callable[[Scene, np.random.Generator], Iterator[AskedEffect]]
"""(scene, generator of orders) -> the effects of one family that the scene is asked about."""


def asks_effects(effects: Effects, point: str, interval: str, sign: str) -> None:
    """Register three askers of a family of effects, by their variants' keys."""
    for key, form in ((point, _point), (interval, _interval), (sign, _sign)):
        asks(key)(partial(_ask, effects, form))


_Form = Callable[[Scene, AskedEffect], Iterator[Question]]


def _ask(
    effects: Effects, form: _Form, scene: Scene, rng: np.random.Generator
) -> Iterator[Question]:
    for effect in effects(scene, rng):
        yield from form(scene, effect)


def _point(scene: Scene, effect: AskedEffect) -> Iterator[Question]:
    """The effect as a number."""
    name, field = effect.name, effect.field
    yield Question(
        question=f"{effect.text}\n\nEstimate it.\n\n{_rules(scene, effect)}",
        answer=(
            f"{fields({field: NUMBER})}\n\n"
            f"{abstain(name, 'the number')}\n\nScored by |your value - {name}|, relative to "
            f"1 + |{name}|."
        ),
        inputs={**effect_inputs(scene), **effect.inputs},
        truth=_truth(effect),
        detail=effect.detail,
    )


def _interval(scene: Scene, effect: AskedEffect) -> Iterator[Question]:
    """The effect with a central 95% interval."""
    name, field = effect.name, effect.field
    level = percent(1 - EFFECT_ALPHA)
    form = dict.fromkeys((field, "ci_lower", "ci_upper"), NUMBER)
    yield Question(
        question=(
            f"{effect.text}\n\nEstimate it, and give a **central {level} confidence interval** "
            f"for it.\n\n{_rules(scene, effect)}"
        ),
        answer=(
            f"{fields(form)}\n\n{abstain(name, 'each of the three numbers')}\n\n"
            f"Scored by the interval score, (ci_upper - ci_lower) plus {number(2 / EFFECT_ALPHA)} "
            f"times the distance by which the {name} misses the interval, relative to "
            f"1 + |{name}|. `ci_lower` must not exceed `ci_upper`."
        ),
        inputs={**effect_inputs(scene), **effect.inputs, "alpha": EFFECT_ALPHA},
        truth=_truth(effect),
        detail=effect.detail,
    )


def _sign(scene: Scene, effect: AskedEffect) -> Iterator[Question]:
    """The effect's sign: every scene's effects are zero by the graph or clear of zero."""
    name, value = effect.name, effect.value
    label = "unknown" if value is None else clear_effect_sign(value, scene.truths.outcome_sd)
    labels = {"+": f"if the {name} is positive", "-": f"if the {name} is negative"}
    if effect.zero:
        labels["0"] = f"if the {name} is exactly 0"
    labels["unknown"] = f"if the {name} is not identifiable, and only then"
    yield Question(
        question=(
            f"{effect.text}\n\nReport its sign:\n\n{listed(labels)}\n\n"
            f"{_rules(scene, effect)}\n\n{effect_margin(name, zero=effect.zero)}"
        ),
        answer=(f"{fields({'sign': LABEL})}\n\nThe labels are {either(labels)}. {RIGHT_OR_WRONG}"),
        inputs={**effect_inputs(scene), **effect.inputs},
        truth=Truth(target={"accepted": [label]}, should_abstain=value is None),
        detail=effect.detail,
    )


def effect_margin(name: str, *, zero: bool = True) -> str:
    """The promise that the sign of an effect is never borderline."""
    exact = "either exactly 0 or " if zero else ""
    return (
        f"Where the {name} is identifiable, you may rely on this: it is {exact}at least "
        f"{number(EFFECT_MARGIN)} standard deviations of Y in absolute value."
    )


def effect_inputs(scene: Scene) -> dict[str, object]:
    """Treatment, outcome and the compared levels."""
    x0, x1 = scene.truths.levels
    return {**ends(scene), "x0": x0, "x1": x1}


def abstain(name: str, what: str) -> str:
    """How to say that the effect of this name is not identifiable."""
    return f"If the {name} is not identifiable, and only then, write `null` in place of {what}."


def rules(scene: Scene, *names: str, zero: bool = True) -> str:
    """What identifiability means for estimates of the named effects; ``zero`` if they can be 0."""
    what = f"the {' and the '.join(names)} {'is' if len(names) == 1 else 'are'}"
    zeros = "".join(zero_effect(scene, name) for name in names if zero)
    return (
        f"{reading(scene)}\n\n{identifiable(names[0])} Whether {what} identifiable is a matter of "
        "the background alone; once that is settled, any assumption that helps you estimate well "
        f"is yours to make.{zeros}"
    )


def _rules(scene: Scene, effect: AskedEffect) -> str:
    return rules(scene, effect.name, zero=effect.zero)


def _truth(effect: AskedEffect) -> Truth:
    return Truth(target={}, quantity=effect.value, should_abstain=effect.value is None)


def _ate(scene: Scene, rng: np.random.Generator) -> Iterator[AskedEffect]:
    yield AskedEffect("ATE", average(scene), scene.truths.ate, "ate")


def _ett(scene: Scene, rng: np.random.Generator) -> Iterator[AskedEffect]:
    yield AskedEffect("ETT", treated(scene), scene.truths.ett)


asks_effects(
    _ate,
    "effect_estimate.ate_point",
    "effect_estimate.ate_uq_95",
    "effect_estimate.ate_sign_only",
)
asks_effects(
    _ett,
    "counterfactual_effect.effect_point",
    "counterfactual_effect.effect_uq_95",
    "counterfactual_effect.sign_only",
)


@asks("effect_estimate.ate_vs_assoc_sign_match")
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


def _natural_effects(scene: Scene, rng: np.random.Generator) -> Iterator[AskedEffect]:
    """The natural effects that this scene is asked about."""
    for name, value in (("NDE", scene.truths.nde), ("NIE", scene.truths.nie)):
        if direct(scene.plan) or name == "NIE":
            inputs, text = {"estimand": name}, natural(scene, name)
            yield AskedEffect(name, text, value, inputs=inputs, detail=name, zero=False)


asks_effects(
    _natural_effects,
    "mediation_effect.effect_point",
    "mediation_effect.effect_uq_95",
    "mediation_effect.sign_only",
)


@asks("mediation_effect.direct_vs_indirect_dominance")
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
