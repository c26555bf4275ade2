"""Ask about effects as numbers, intervals and signs: average, on the treated, natural (paper A.9,
A.16.2).

The average effect (rung 2) and the effect on the treated (rung 3) are asked about without a
directed path, too: their value is 0, their sign "0". The NDE (rung 3) is asked about where the
treatment affects the outcome directly, the NIE where something lies between. Neither is then zero
by the graph.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from builder.equations.margins import EFFECT_MARGIN, TIE_BAND, clear_dominance, clear_effect_sign
from builder.equations.quantities import Quantity
from builder.tracks.causalds.ask.association import clear_association
from builder.tracks.causalds.ask.wording import (
    Question,
    Truth,
    asks,
    effect_slots,
    ends,
    number,
    percent,
)
from builder.tracks.causalds.design.eligibility import has_direct_effect
from builder.tracks.causalds.make.scene import Scene
from grader.tracks.causalds.shapes import EFFECT_ALPHA


def _effects_of(family: str, scene: Scene) -> dict[str, Quantity | None]:
    """Return a family's effects by name: None if not identifiable, no "NDE" without the edge."""
    truths = scene.truths
    if family == "effect_estimate":
        return {"ATE": truths.ate}
    if family == "counterfactual_effect":
        return {"ETT": truths.ett}
    return {**({"NDE": truths.nde} if has_direct_effect(scene.plan) else {}), "NIE": truths.nie}


def _ask(form: str, family: str, scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Yield one question for each effect of a family. ``form`` is "point", "interval" or "sign".
    Abstaining is right where the effect is not identifiable."""
    natural = family == "mediation_effect"
    for name, value in _effects_of(family, scene).items():
        inputs, truth = _inputs(scene), Truth(quantity=value, should_abstain=value is None)
        if natural:
            inputs["estimand"] = name
        if form == "interval":
            inputs["alpha"] = EFFECT_ALPHA
        if form == "sign":
            sd = scene.truths.outcome_sd
            label = "unknown" if value is None else clear_effect_sign(value, sd)
            truth = Truth({"accepted": [label]}, should_abstain=value is None)
        slots = {
            **_rule_slots(scene, name),
            "field": "ate" if name == "ATE" else "value",
            "level": percent(1 - EFFECT_ALPHA),
            "penalty": number(2 / EFFECT_ALPHA),
        }
        words = "effect.sign_of_natural" if natural and form == "sign" else f"effect.{form}"
        yield Question(inputs, truth, name if natural else "", slots, words)


for _family, _names in (
    ("effect_estimate", ("ate_point", "ate_uq_95", "ate_sign_only")),
    ("counterfactual_effect", ("effect_point", "effect_uq_95", "sign_only")),
    ("mediation_effect", ("effect_point", "effect_uq_95", "sign_only")),
):
    for _name, _form in zip(_names, ("point", "interval", "sign"), strict=True):
        asks(f"{_family}.{_name}")(partial(_ask, _form, _family))


@asks("effect_estimate.ate_vs_assoc_sign_match")
def ate_vs_assoc_sign_match(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask whether association (its sign must be clear) and ATE have the same sign, and not 0.
    Abstaining is right where the ATE is not identifiable."""
    effect = scene.truths.ate
    associated, margin = clear_association(scene)
    caused = None if effect is None else clear_effect_sign(effect, scene.truths.outcome_sd)
    if associated is None:
        return
    right = None if effect is None else caused == associated != "0"
    truth = Truth({"accepted": [right]}, should_abstain=effect is None)
    slots = {**_rule_slots(scene, "ATE"), "margin": margin}
    yield Question(_inputs(scene), truth, slots=slots)


@asks("mediation_effect.direct_vs_indirect_dominance")
def direct_vs_indirect_dominance(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask which natural effect is larger in absolute value, or a tie, where that is clear.
    Abstaining is right unless both are identifiable."""
    nde, nie = scene.truths.nde, scene.truths.nie
    label = None
    if nde is not None and nie is not None:
        label = clear_dominance(nde, nie, scene.truths.outcome_sd)
        if label is None:
            return
    truth = Truth({"accepted": [label]}, should_abstain=nde is None or nie is None)
    slots = {
        **_rule_slots(scene, "NDE"),
        "name": "NDE or the NIE",
        "what": "the NDE and the NIE are",
        "band": percent(TIE_BAND),
    }
    yield Question(_inputs(scene), truth, slots=slots)


def _inputs(scene: Scene) -> dict[str, object]:
    """Return the inputs that name treatment, outcome and the compared levels x0 and x1."""
    x0, x1 = scene.truths.levels
    return {**ends(scene), "x0": x0, "x1": x1}


def _rule_slots(scene: Scene, name: str) -> dict[str, str]:
    """Return the slots for the definition, identifiability and margin of the effect ``name``."""
    return {**effect_slots(scene, name), "what": f"the {name} is", "sds": number(EFFECT_MARGIN)}
