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
from builder.causal.identification import is_identifiable
from builder.causal.method import identification_method
from builder.causal.paths import opens_collider_bias
from builder.importing.causalds.asked import Answer, AskedTask
from builder.importing.causalds.scene import PublishedScene
from builder.importing.causalds.truth import (
    AdjustmentSets,
    PublishedEffects,
    collider_names,
    effect_answer,
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
    scene = asked.scene
    if asked.about_sets:
        found = set_answer(asked, corrected_sets(scene))
    elif asked.about_effects:
        try:
            found = effect_answer(asked, CorrectedEffects(scene))
        except UsageError:
            return Correction(unchecked="identifiable by the graph, but no value is published")
    elif asked.spec.name == "method_label":
        label = identification_method(scene.graph, scene.treatment, scene.outcome)
        found = Answer({"accepted": [label]}, should_abstain=label == "none")
    elif asked.spec.name == "collider_bias_boolean":
        _, name = collider_names(asked)
        try:
            biased = opens_collider_bias(scene.graph, scene.treatment, scene.outcome, name)
        except ValueError as error:
            return Correction(unchecked=str(error))
        found = Answer({"accepted": [biased]})
    else:
        return Correction()
    return Correction(None if found.same_as(published) else found)


def corrected_sets(scene: PublishedScene) -> AdjustmentSets:
    """The adjustment sets of the graph."""
    ends = scene.graph, scene.treatment, scene.outcome
    valid = [sorted(one) for one in valid_adjustment_sets(*ends)]
    if not valid:
        method = identification_method(*ends)
        return AdjustmentSets("non_id" if method == "none" else "no_backdoor", [], [], [])
    minimal = [sorted(one) for one in minimal_adjustment_sets(*ends)]
    return AdjustmentSets("set", valid, minimal, sorted(forbidden_controls(*ends)))


class CorrectedEffects(PublishedEffects):
    """Verdicts and exact zeros of the graph; every other value as published."""

    def identifiable(self, kind: str) -> bool:
        """Whether the graph identifies an effect; one that is zero by the graph always is."""
        ends = self.scene.graph, self.scene.treatment, self.scene.outcome
        match kind:
            case "ate":
                return identification_method(*ends) != "none"
            case "ett":
                return is_identifiable(*ends, "ett", binary_treatment=self.scene.binary_treatment)
            case "nde":
                return is_identifiable(*ends, "nde")
            case _:
                return is_identifiable(*ends, "nie")

    def value(self, kind: str) -> float:
        """The effect: 0 where the graph says so."""
        return 0.0 if self.exact_zero(kind) else super().value(kind)

    def exact_zero(self, kind: str) -> bool:
        """No directed path of the effect's kind: any, the edge itself, or one with mediators."""
        graph, x, y = self.scene.graph, self.scene.treatment, self.scene.outcome
        if kind == "nde":
            return x not in graph.parents(y)
        if kind == "nie":
            return not graph.mediators(x, y)
        return y not in graph.descendants(x)
