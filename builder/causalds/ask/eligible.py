"""What the graph and the kinds of a planned scene alone decide: who hosts a variant, which classes
of answers there can be. Conditions of one variant only stand beside its asker.

All functions have the signatures ``Hosts`` and ``Classes`` of ``ask.registry``.
"""

from typing import Final

from builder.causal.identification import is_identifiable
from builder.causal.motifs import Motif
from builder.causal.paths import opens_collider_bias
from builder.causalds.ask.registry import Classes, Hosts
from builder.causalds.scene_plan import ScenePlan
from builder.scm.profiles import STRAIGHT

VALUE: Final = ("value",)
"""The class of numbers and sets that no class tells apart."""


def one_class(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
    """All answers count as one class."""
    return VALUE


def directed_path(motif: Motif, plan: ScenePlan) -> bool:
    """A directed path leads from treatment to outcome."""
    return motif.outcome in motif.graph.descendants(motif.treatment)


def other_variable(motif: Motif, plan: ScenePlan) -> bool:
    """Some variable beside treatment and outcome is observed."""
    return len(motif.others) > 0


def two_other_variables(motif: Motif, plan: ScenePlan) -> bool:
    """Two variables beside treatment and outcome are observed."""
    return len(motif.others) > 1


def mediated(motif: Motif, plan: ScenePlan) -> bool:
    """A directed path of two steps or more leads from treatment to outcome."""
    return bool(motif.graph.mediators(motif.treatment, motif.outcome))


def mediated_and_direct(motif: Motif, plan: ScenePlan) -> bool:
    """The treatment affects the outcome directly and through some other variable."""
    return motif.treatment in motif.graph.parents(motif.outcome) and mediated(motif, plan)


def continuous_outcome(motif: Motif, plan: ScenePlan) -> bool:
    """The outcome is continuous."""
    return plan.structure.outcome_kind == "continuous"


def unrelated(motif: Motif, plan: ScenePlan) -> bool:
    """The graph makes treatment and outcome independent."""
    return motif.graph.d_separated(motif.treatment, motif.outcome)


def opens_path(motif: Motif, plan: ScenePlan) -> bool:
    """Some other variable opens a path between treatment and outcome."""
    return any(opens_collider_bias(*motif.effect, z) for z in motif.others)


def association_vanishes(motif: Motif, plan: ScenePlan) -> bool:
    """The partial correlation given some other variable is zero: by the graph, or by the graph and
    equations that are lines (of treatment or outcome, so that not both are binary)."""
    x, y, separated = motif.treatment, motif.outcome, motif.graph.d_separated
    lines = plan.equations.continuous in STRAIGHT and {"binary"} != {
        plan.structure.treatment_kind,
        plan.structure.outcome_kind,
    }
    return any(
        separated(x, (y, z)) or separated(y, (x, z)) or (lines and separated(x, y, z))
        for z in motif.others
    )


def ate(motif: Motif, plan: ScenePlan) -> bool:
    """The average treatment effect is identifiable."""
    return is_identifiable(*motif.effect, "ate")


def ett(motif: Motif, plan: ScenePlan) -> bool:
    """The effect on the treated is identifiable."""
    return is_identifiable(
        *motif.effect, "ett", binary_treatment=plan.structure.treatment_kind == "binary"
    )


def natural_verdicts(motif: Motif) -> list[bool]:
    """Identifiability of the natural effects that a mediated scene is asked about: the direct one
    where the treatment affects the outcome directly, and the indirect one."""
    direct = motif.treatment in motif.graph.parents(motif.outcome)
    return [
        *([is_identifiable(*motif.effect, "nde")] if direct else []),
        is_identifiable(*motif.effect, "nie"),
    ]


def effect_numbers(identifiable: Hosts) -> Classes:
    """The classes of an effect's number."""

    def classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
        if not identifiable(motif, plan):
            return ("abstain",)
        return VALUE if directed_path(motif, plan) else ("zero",)

    return classes


def effect_signs(identifiable: Hosts) -> Classes:
    """The classes of an effect's sign."""

    def classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
        if not identifiable(motif, plan):
            return ("unknown",)
        return ("+", "-") if directed_path(motif, plan) else ("0",)

    return classes
