"""Identifiability from the story alone (rungs 2 and 3; paper 3.4, A.16.2)."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from builder.graphs.method import identification_method
from builder.tracks.causalds.ask.association import ends
from builder.tracks.causalds.ask.registry import Question, Truth, asks
from builder.tracks.causalds.ask.wording import (
    IDENTIFIABLE,
    LABEL,
    RIGHT_OR_WRONG,
    TRUTH_VALUE,
    any_order,
    bold,
    bullets,
    fields,
    identifiable,
    levels,
    reading,
    record,
    zero_effect,
)
from builder.tracks.causalds.design.eligibility import ate, mediated, natural_verdicts
from builder.tracks.causalds.make.scene import Scene

NATURAL: Final = {
    "NDE": "E[Y(x1, M(x0)) - Y(x0, M(x0))], the natural direct effect (NDE)",
    "NIE": "E[Y(x0, M(x1)) - Y(x0, M(x0))], the natural indirect effect (NIE)",
}
"""The natural effects in symbols, x0 being the reference."""


@asks("identification.method_label")
def method_label(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The first of five labels that applies to the average treatment effect."""
    method = identification_method(*scene.motif.effect)
    observed = any_order(rng, scene.observed)
    x_name, y_name = scene.treatment.name, scene.outcome.name
    yield Question(
        question=(
            f"{measured(observed)}\n\n{estimand(scene)}\n\n{reading(scene)}\n\n{IDENTIFIABLE}\n\n"
            "By what argument is the effect identifiable? Give the **first** label of this list "
            "that applies:\n\n"
            f'1. `"trivial_zero"`: no chain of direct effects leads from {x_name} to {y_name}, so '
            "the effect is 0.\n"
            '2. `"backdoor"`: some set of measured variables, possibly the empty one, is a valid '
            f"adjustment set: it blocks every path between {x_name} and {y_name} that is not a "
            f"chain of effects from {x_name} to {y_name}, and contains nothing that lies on such a "
            f"chain after {x_name} or is affected by something that does.\n"
            '3. `"frontdoor"`: some set of measured variables meets the front-door criterion: '
            f"every chain of effects from {x_name} to {y_name} runs through the set, no "
            f"back-door path from {x_name} to the set is open, and {x_name} blocks every "
            f"back-door path from the set to {y_name}.\n"
            '4. `"other_id"`: the effect is identifiable by some other argument.\n'
            '5. `"none"`: the effect is not identifiable.'
        ),
        answer=(
            f"{fields({'method': LABEL})}\n\n"
            f'{RIGHT_OR_WRONG} `"none"` is how you say that the effect is not identifiable.'
        ),
        inputs=_inputs(scene, observed),
        truth=Truth(target={"accepted": [method]}, should_abstain=method == "none"),
    )


@asks("identification.identifiable_boolean")
def identifiable_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether the average treatment effect is identifiable."""
    observed = any_order(rng, scene.observed)
    yield Question(
        question=(
            f"{measured(observed)}\n\n{estimand(scene)}\n\n{reading(scene)}\n\n{IDENTIFIABLE}"
            f"{zero_effect(scene, 'ATE')}\n\nIs the effect identifiable?"
        ),
        answer=_BOOLEAN,
        inputs=_inputs(scene, observed),
        truth=_verdict(ate(scene.plan)),
    )


@asks("counterfactual_identification.identifiable_boolean")
def counterfactual(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether the ETT is identifiable; and the NDE and the NIE, where there are mediators."""
    observed = any_order(rng, scene.observed)
    x0, x1 = scene.truths.levels
    inputs = {**_inputs(scene, observed), "x0": x0, "x1": x1}
    yield _asked(scene, inputs, "ETT", treated(scene), scene.truths.ett is not None)
    for name, verdict in natural_verdicts(scene.plan).items() if mediated(scene.plan) else ():
        yield _asked(scene, inputs, name, natural(scene, name), verdict)


def _asked(
    scene: Scene, inputs: dict[str, object], name: str, text: str, verdict: bool
) -> Question:
    observed = inputs["observed"]
    assert isinstance(observed, list)
    return Question(
        question=(
            f"{measured(observed)}\n\n{text}\n\n{reading(scene)}\n\n{identifiable(name)} There "
            f"is no experiment to draw on.{zero_effect(scene, name)}\n\nIs the {name} "
            "identifiable?"
        ),
        answer=_BOOLEAN,
        inputs={**inputs, "estimand": name},
        truth=_verdict(verdict),
        detail=name,
    )


def estimand(scene: Scene) -> str:
    """The average treatment effect, for two values that are left open."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the average treatment effect of {x} on {y} in the population,\n\n"
        f"ATE = E[{scene.outcome.name} | do({scene.treatment.name} = x1)] - "
        f"E[{scene.outcome.name} | do({scene.treatment.name} = x0)]\n\n"
        "for two values x0 and x1, to be learned from observations of the measured variables."
    )


def treated(scene: Scene) -> str:
    """The effect of treatment on the treated."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the effect of treatment on the treated (ETT) of {x} on {y},\n\n"
        "ETT = E[Y(x1) - Y(x0) | X = x1]\n\n"
        f"with X = {x}, Y = {y}, {levels(scene)}. It is the average difference, over those of "
        f"the population for which {x} in fact equals x1, between {y} as it is and as it would "
        f"have been for the same {record(scene)} had {x} been set to x0."
    )


def natural(scene: Scene, *wanted: str) -> str:
    """One natural effect or both. The mediators are defined, not named: a list of them would
    answer what else is asked of the scene, the forbidden controls and part of the graph."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    formulas = " and\n\n".join(NATURAL[name] for name in wanted)
    return (
        f"Consider how {x} affects {y}: directly, and through the variables between them. Let M be "
        "all of these together: every variable, measured or not, that lies on some chain of direct "
        f"effects from {x} to {y}, other than these two. With X = {x}, Y = {y}, {levels(scene)}, "
        f"take\n\n{formulas}.\n\n"
        f"Here Y(x, M(x')) is what {y} would be for the same {record(scene)} if {x} were set to x "
        "while each of the variables M took the value that it would have had under x'."
    )


_BOOLEAN: Final = f"{fields({'identifiable': TRUTH_VALUE})}\n\n{RIGHT_OR_WRONG}"


def measured(observed: list[str]) -> str:
    """The list of what is measured."""
    return f"These variables are measured (in no particular order):\n\n{bullets(observed)}"


def _inputs(scene: Scene, observed: list[str]) -> dict[str, object]:
    return {**ends(scene), "observed": observed}


def _verdict(value: bool) -> Truth:
    return Truth(target={"accepted": [value]}, should_abstain=not value)
