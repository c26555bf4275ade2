"""How an effect is asked for, whichever effect it is: as a number, an interval or a sign."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial

import numpy as np

from builder.causalds.ask.association import ends
from builder.causalds.ask.registry import Classes, Hosts, Question, Truth, any_scene, asks
from builder.causalds.ask.wording import (
    LABEL,
    NUMBER,
    RIGHT_OR_WRONG,
    either,
    fields,
    identifiable,
    listed,
    number,
    percent,
    reading,
    zero_effect,
)
from builder.causalds.make.scene import Scene
from builder.scm.margins import EFFECT_MARGIN, clear_effect_sign
from builder.scm.quantities import Quantity
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


def asks_effects(
    effects: Effects,
    names: Sequence[str],
    ranks: Sequence[int],
    inputs: frozenset[str],
    classes: tuple[Classes, Classes],
    hosts: Hosts = any_scene,
) -> None:
    """Registers three askers of a family of effects, in this order: number, interval and sign.

    ``names`` are their variants' keys, ``ranks`` their ranks; ``classes`` are those of numbers and
    of signs.
    """
    numbers, signs = classes
    forms: Sequence[tuple[_Form, frozenset[str], Classes]] = (
        (_point, inputs, numbers),
        (_interval, inputs | {"alpha"}, numbers),
        (_sign, inputs, signs),
    )
    for key, rank, (form, members, known) in zip(names, ranks, forms, strict=True):
        register = asks(key, rank=rank, inputs=members, classes=known, hosts=hosts)
        register(partial(_ask, effects, form))


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
