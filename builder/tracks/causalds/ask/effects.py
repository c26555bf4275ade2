"""Effects as numbers, intervals and signs: average, on the treated, natural (paper A.9, A.16.2).

The average effect (rung 2) and the effect on the treated (rung 3) are asked about without a
directed path, too: their value is 0, their sign "0". Of the natural effects (rung 3) the NDE is
asked about where the treatment affects the outcome directly, the NIE where something lies between;
neither is then zero by the graph.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from builder.equations.margins import EFFECT_MARGIN, TIE_BAND, clear_dominance, clear_effect_sign
from builder.equations.quantities import Quantity
from builder.tracks.causalds.ask.association import clear_association, correlation
from builder.tracks.causalds.ask.graph import natural, treated
from builder.tracks.causalds.ask.wording import (
    LABEL,
    NUMBER,
    RIGHT_OR_WRONG,
    TRUTH_VALUE,
    Question,
    Truth,
    asks,
    bold,
    either,
    ends,
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
from builder.tracks.causalds.design.eligibility import has_direct_effect
from builder.tracks.causalds.make.scene import Scene
from grader.tracks.causalds.shapes import EFFECT_ALPHA


@dataclass(frozen=True, slots=True)
class _Effect:
    """One effect as it is asked about, whatever the form of the answer.

    ``name`` is its short name ("ATE"), ``text`` defines it, ``value`` is None where it is not
    identifiable; ``field`` is the answer's member for its number. A ``natural`` one is named by the
    inputs, since a scene has two, and never exactly 0 in the scenes that are asked.
    """

    name: str
    text: str
    value: Quantity | None
    field: str = "value"
    natural: bool = False


def _ate(scene: Scene) -> Iterator[_Effect]:
    yield _Effect("ATE", _average(scene), scene.truths.ate, "ate")


def _ett(scene: Scene) -> Iterator[_Effect]:
    yield _Effect("ETT", treated(scene), scene.truths.ett)


def _natural(scene: Scene) -> Iterator[_Effect]:
    for name, value in (("NDE", scene.truths.nde), ("NIE", scene.truths.nie)):
        if has_direct_effect(scene.plan) or name == "NIE":
            yield _Effect(name, natural(scene, name), value, natural=True)


def _point(scene: Scene, effect: _Effect) -> tuple[str, str]:
    """Question and answer for the effect as a number."""
    name = effect.name
    return (
        f"{effect.text}\n\nEstimate it.\n\n{_rules(scene, name, zero=not effect.natural)}",
        f"{fields({effect.field: NUMBER})}\n\n{_abstain(name, 'the number')}\n\n"
        f"Scored by |your value - {name}|, relative to 1 + |{name}|.",
    )


def _interval(scene: Scene, effect: _Effect) -> tuple[str, str]:
    """Question and answer for the effect with a central 95% interval."""
    name, form = effect.name, dict.fromkeys((effect.field, "ci_lower", "ci_upper"), NUMBER)
    return (
        f"{effect.text}\n\nEstimate it, and give a **central {percent(1 - EFFECT_ALPHA)} "
        f"confidence interval** for it.\n\n{_rules(scene, name, zero=not effect.natural)}",
        f"{fields(form)}\n\n{_abstain(name, 'each of the three numbers')}\n\n"
        f"Scored by the interval score, (ci_upper - ci_lower) plus {number(2 / EFFECT_ALPHA)} "
        f"times the distance by which the {name} misses the interval, relative to "
        f"1 + |{name}|. `ci_lower` must not exceed `ci_upper`.",
    )


def _sign(scene: Scene, effect: _Effect) -> tuple[str, str]:
    """Question and answer for the effect's sign: every scene's effects are zero by the graph or
    clear of zero."""
    name, zero = effect.name, not effect.natural
    labels = {"+": f"if the {name} is positive", "-": f"if the {name} is negative"}
    if zero:
        labels["0"] = f"if the {name} is exactly 0"
    labels["unknown"] = f"if the {name} is not identifiable, and only then"
    return (
        f"{effect.text}\n\nReport its sign:\n\n{listed(labels)}\n\n"
        f"{_rules(scene, name, zero=zero)}\n\n{_margin(name, zero=zero)}",
        f"{fields({'sign': LABEL})}\n\nThe labels are {either(labels)}. {RIGHT_OR_WRONG}",
    )


_Form = Callable[[Scene, _Effect], tuple[str, str]]
_Effects = Callable[[Scene], Iterator[_Effect]]


def _ask(
    effects: _Effects, form: _Form, scene: Scene, rng: np.random.Generator
) -> Iterator[Question]:
    for effect in effects(scene):
        question, answer = form(scene, effect)
        inputs, value = _inputs(scene), effect.value
        truth = Truth(quantity=value, should_abstain=value is None)
        if effect.natural:
            inputs["estimand"] = effect.name
        if form is _interval:
            inputs["alpha"] = EFFECT_ALPHA
        if form is _sign:
            sd = scene.truths.outcome_sd
            label = "unknown" if value is None else clear_effect_sign(value, sd)
            truth = Truth({"accepted": [label]}, should_abstain=value is None)
        yield Question(question, answer, inputs, truth, effect.name if effect.natural else "")


for _family, _effects, _names in (
    ("effect_estimate", _ate, ("ate_point", "ate_uq_95", "ate_sign_only")),
    ("counterfactual_effect", _ett, ("effect_point", "effect_uq_95", "sign_only")),
    ("mediation_effect", _natural, ("effect_point", "effect_uq_95", "sign_only")),
):
    for _name, _form in zip(_names, (_point, _interval, _sign), strict=True):
        asks(f"{_family}.{_name}")(partial(_ask, _effects, _form))


@asks("effect_estimate.ate_vs_assoc_sign_match")
def ate_vs_assoc_sign_match(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether the association points the way the effect does."""
    effect = scene.truths.ate
    associated, margin = clear_association(scene)
    caused = None if effect is None else clear_effect_sign(effect, scene.truths.outcome_sd)
    if associated is None:
        return
    right = None if effect is None else caused == associated != "0"
    yield Question(
        f"{_average(scene)}\n\n{correlation(scene)}\n\nDo the ATE and r have the same sign, "
        "both positive or both negative? If either of them is exactly 0, they do not.\n\n"
        f"{_rules(scene, 'ATE')}\n\n{rely(('r', margin))} {_margin('ATE')}",
        f"{fields({'matches': TRUTH_VALUE})}\n\n{_abstain('ATE', 'true or false')} "
        f"{RIGHT_OR_WRONG}",
        _inputs(scene),
        Truth({"accepted": [right]}, should_abstain=effect is None),
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
        f"{natural(scene, 'NDE', 'NIE')}\n\nWhich of the two is larger in absolute "
        f"value?\n\n{listed(labels)}\n\n{_rules(scene, 'NDE', 'NIE', zero=False)}\n\n"
        "Where both are identifiable, you may rely on this: the difference of |NDE| and |NIE| "
        f"is at least {number(EFFECT_MARGIN)} standard deviations of Y away from the edge of "
        "the tie.",
        f"{fields({'dominant': LABEL})}\n\nThe labels are {either(labels)}. "
        f"{_abstain('NDE or the NIE', 'a label')} {RIGHT_OR_WRONG}",
        _inputs(scene),
        Truth({"accepted": [label]}, should_abstain=nde is None or nie is None),
    )


def _average(scene: Scene) -> str:
    """The average treatment effect in symbols."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the average treatment effect (ATE) of {x} on {y} in the population,\n\n"
        "ATE = E[Y | do(X = x1)] - E[Y | do(X = x0)]\n\n"
        f"with X = {x}, Y = {y}, {levels(scene)}."
    )


def _inputs(scene: Scene) -> dict[str, object]:
    """Treatment, outcome and the compared levels."""
    x0, x1 = scene.truths.levels
    return {**ends(scene), "x0": x0, "x1": x1}


def _margin(name: str, *, zero: bool = True) -> str:
    """The promise that the sign of an effect is never borderline."""
    exact = "either exactly 0 or " if zero else ""
    return (
        f"Where the {name} is identifiable, you may rely on this: it is {exact}at least "
        f"{number(EFFECT_MARGIN)} standard deviations of Y in absolute value."
    )


def _abstain(name: str, what: str) -> str:
    """How to say that the effect of this name is not identifiable."""
    return f"If the {name} is not identifiable, and only then, write `null` in place of {what}."


def _rules(scene: Scene, *names: str, zero: bool = True) -> str:
    """What identifiability means for estimates of the named effects; ``zero`` if they can be 0."""
    what = f"the {' and the '.join(names)} {'is' if len(names) == 1 else 'are'}"
    zeros = "".join(zero_effect(scene, name) for name in names if zero)
    return (
        f"{reading(scene)}\n\n{identifiable(names[0])} Whether {what} identifiable is a matter of "
        "the background alone; once that is settled, any assumption that helps you estimate well "
        f"is yours to make.{zeros}"
    )
