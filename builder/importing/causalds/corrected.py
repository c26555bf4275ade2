"""The corrected truth: what follows from the published graph, where the published truth differs.

Adjustment sets follow the generalised adjustment criterion, forbidden controls are in no valid
set, collider bias is decided path by path, identifiability by complete algorithms, and an effect
without a directed path of its kind is exactly 0. Other numbers cannot be recomputed from what is
published and stay.
"""

from dataclasses import dataclass

from builder.causal.adjustment import (
    forbidden_controls,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.causal.identification import ett_identifiable, nde_identifiable, nie_identifiable
from builder.causal.method import identification_method
from builder.causal.paths import opens_collider_bias
from builder.importing.causalds.asked import Answer, AskedTask
from builder.importing.causalds.scene import PublishedScene
from builder.importing.causalds.truth import (
    EFFECT_VARIANTS,
    SET_VARIANTS,
    Effects,
    collider_names,
    effect_answer,
    published_effects,
    set_answer,
)
from grader.errors import UsageError


@dataclass(frozen=True, slots=True)
class Correction:
    """The corrected truth of a task; ``answer`` is ``None`` where the published one stands."""

    answer: Answer | None = None
    unchecked: str = ""


def correct(asked: AskedTask, published: Answer) -> Correction:
    """Compare the published truth with what the graph says.

    Where the graph makes an effect identifiable whose value is not published, the published truth
    stays and ``unchecked`` says so.
    """
    scene, key = asked.scene, asked.key
    if key in SET_VARIANTS:
        found = _sets(scene, key)
    elif key in EFFECT_VARIANTS:
        effects = corrected_effects(scene)
        try:
            found = effect_answer(asked, effects)
        except UsageError:
            return Correction(unchecked="identifiable by the graph, but no value is published")
    elif key == "identification.method_label":
        label = identification_method(scene.graph, scene.treatment, scene.outcome)
        found = Answer({"accepted": [label]}, should_abstain=label == "none")
    elif key == "bias_diagnostic.collider_bias_boolean":
        _, name = collider_names(asked)
        try:
            biased = opens_collider_bias(scene.graph, scene.treatment, scene.outcome, name)
        except ValueError as error:
            return Correction(unchecked=str(error))
        found = Answer({"accepted": [biased]})
    else:
        return Correction()
    return Correction(None if found.same_as(published) else found)


def _sets(scene: PublishedScene, key: str) -> Answer:
    graph, x, y = scene.graph, scene.treatment, scene.outcome
    sets = [sorted(one) for one in valid_adjustment_sets(graph, x, y)]
    if sets:
        category = "set"
    else:
        method = identification_method(graph, x, y)
        category = "non_id" if method == "none" else "no_backdoor"
    return set_answer(
        key,
        category,
        sets,
        [sorted(one) for one in minimal_adjustment_sets(graph, x, y)],
        sorted(forbidden_controls(graph, x, y)) if sets else [],
    )


def corrected_effects(scene: PublishedScene) -> Effects:
    """Verdicts and exact zeros of the graph; every other value as published."""
    stated = published_effects(scene)

    def zero(kind: str) -> bool:
        return structurally_zero(scene, kind)

    return Effects(
        lambda kind: identifiable(scene, kind),
        lambda kind: 0.0 if zero(kind) else stated.value(kind),
        zero,
    )


def identifiable(scene: PublishedScene, kind: str) -> bool:
    """Whether the graph identifies an effect; one that is zero by the graph always is."""
    graph, x, y = scene.graph, scene.treatment, scene.outcome
    if kind == "ate":
        return identification_method(graph, x, y) != "none"
    if kind == "ett":
        return ett_identifiable(graph, x, y, scene.binary_treatment)
    return {"nde": nde_identifiable, "nie": nie_identifiable}[kind](graph, x, y)


def structurally_zero(scene: PublishedScene, kind: str) -> bool:
    """No directed path of the effect's kind: any, the edge itself, or one with mediators."""
    graph, x, y = scene.graph, scene.treatment, scene.outcome
    if kind == "nde":
        return x not in graph.parents(y)
    if kind == "nie":
        return not graph.mediators(x, y)
    return y not in graph.descendants(x)
