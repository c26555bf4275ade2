"""Say which scenes can be asked which variant, with which answers, as far as a plan alone decides.

Planning and the composition of exams look here before any world is drawn. A class of answers that
also depends on numbers may turn out to be rare. What an asker does with a scene is in ``ask``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from builder.equations.mechanisms import STRAIGHT
from builder.graphs.graph import LatentDAG, one_is_apart
from builder.graphs.identification import (
    identification_method,
    is_identifiable,
    opens_collider_bias,
    valid_adjustment_sets,
)
from builder.graphs.motifs import Motif
from builder.tracks.causalds.design.scene_plan import ScenePlan
from grader.errors import UsageError
from grader.tracks.causalds.shapes import CAUSALDS

_T = TypeVar("_T")

VARIANTS: Final = {variant.key: variant for variant in CAUSALDS}
KEYS: Final = tuple(VARIANTS)


def one_each(found: Mapping[str, _T], wanted: Iterable[str], what: str, file: str) -> dict[str, _T]:
    """Return ``found`` in the order of ``wanted``. Raises ``UsageError`` where they do not hold
    the same names. Its text says in which ``file`` which ``what`` is missing or left over."""
    names = dict.fromkeys(wanted)
    for name in names:
        if name not in found:
            raise UsageError(f"{name} has no {what}: write it in {file} (docs/adding-a-variant.md)")
    for name in found:
        if name not in names:
            raise UsageError(f"{file} has {name}, but variants.toml no row of it: add one")
    return {name: found[name] for name in names}


Hosts = Callable[[ScenePlan], bool]
"""Whether such a scene can be asked a variant at all."""

Classes = Callable[[ScenePlan], tuple[str, ...]]
"""The classes of answers that a scene which hosts a variant can have."""

ENDS: Final = frozenset({"treatment", "outcome"})
LEVELS: Final = ENDS | {"x0", "x1"}
MOST_NAMED: Final = 3
"""The most variables or estimands that the questions of one variant about a scene name."""

VALUE: Final = ("value",)
"""The class of numbers and sets that no class tells apart."""
SIGNS: Final = ("+", "-")


def one_class(plan: ScenePlan) -> tuple[str, ...]:
    """Return the single class of variants whose right answers all count as one."""
    return VALUE


def has_directed_path(plan: ScenePlan) -> bool:
    """Tell whether a directed path leads from treatment to outcome."""
    motif = plan.structure.query
    return motif.outcome in motif.graph.descendants(motif.treatment)


def other_variables(count: int) -> Hosts:
    """Return a check of plans: ``count`` observed variables beside treatment and outcome."""
    return lambda plan: len(plan.structure.query.other_nodes) >= count


def has_mediator(plan: ScenePlan) -> bool:
    """Tell whether a directed path of two steps or more leads from treatment to outcome."""
    motif = plan.structure.query
    return bool(motif.graph.mediators(motif.treatment, motif.outcome))


def has_direct_effect(plan: ScenePlan) -> bool:
    """Tell whether the treatment affects the outcome directly."""
    motif = plan.structure.query
    return motif.treatment in motif.graph.parents(motif.outcome)


def ate_is_identifiable(plan: ScenePlan) -> bool:
    """Tell whether the average treatment effect is identifiable."""
    return is_identifiable(*plan.structure.query.effect, "ate")


def ett_is_identifiable(plan: ScenePlan) -> bool:
    """Tell whether the effect on the treated is identifiable."""
    binary = plan.structure.treatment_kind == "binary"
    return is_identifiable(*plan.structure.query.effect, "ett", binary_treatment=binary)


def natural_verdicts(plan: ScenePlan) -> dict[str, bool]:
    """Return whether each natural effect ("NDE", "NIE") is identifiable."""
    effect = plan.structure.query.effect
    return {"NDE": is_identifiable(*effect, "nde"), "NIE": is_identifiable(*effect, "nie")}


def natural_verdicts_asked(plan: ScenePlan) -> list[bool]:
    """Return whether each natural effect asked is identifiable: NDE (with an edge), NIE."""
    nde, nie = natural_verdicts(plan).values()
    return [nde, nie] if has_direct_effect(plan) else [nie]


def path_openers(motif: Motif, nodes: Iterable[str]) -> list[str]:
    """Return those of some observed nodes that open a non-causal path of treatment and outcome."""
    return [node for node in nodes if opens_collider_bias(*motif.effect, node)]


def seems_to_open(motif: Motif, node: str) -> bool:
    """Tell whether treatment or outcome affects a node, or it has two parents or more."""
    below = motif.graph.descendants((motif.treatment, motif.outcome))
    return node in below or len(motif.graph.parents(node)) > 1


def has_path_opener(plan: ScenePlan) -> bool:
    """Tell whether some other observed variable opens a path between treatment and outcome."""
    motif = plan.structure.query
    return bool(path_openers(motif, motif.other_nodes))


def association_vanishes(plan: ScenePlan) -> bool:
    """Tell whether the partial correlation given some other observed variable is zero, by the graph
    or by graph and linear equations (of treatment or outcome, so that not both are binary)."""
    motif, structure = plan.structure.query, plan.structure
    x, y, separated = motif.treatment, motif.outcome, motif.graph.d_separated
    both_binary = {structure.treatment_kind, structure.outcome_kind} == {"binary"}
    lines = plan.equations.continuous in STRAIGHT and not both_binary
    return any(
        separated(x, (y, z)) or separated(y, (x, z)) or (lines and separated(x, y, z))
        for z in motif.other_nodes
    )


def adjustment_category(plan: ScenePlan) -> str:
    """Return "set" with a valid adjustment set, else "no_backdoor" (identifiable) or "non_id"."""
    if valid_adjustment_sets(*plan.structure.query.effect):
        return "set"
    return "no_backdoor" if ate_is_identifiable(plan) else "non_id"


def _opens_or_separates(plan: ScenePlan) -> bool:
    """Tell whether some other observed node opens a path X to Y, or blocks all of them."""
    motif = plan.structure.query
    separated, others = motif.graph.d_separated, motif.other_nodes
    return has_path_opener(plan) or any(
        separated(motif.treatment, motif.outcome, z) for z in others
    )


def _opens_or_seems_to(plan: ScenePlan) -> bool:
    motif = plan.structure.query
    return has_path_opener(plan) or any(seems_to_open(motif, z) for z in motif.other_nodes)


def _association(zero: str, others: tuple[str, ...]) -> Classes:
    """Return the classes of the correlation by plan: ``zero`` if X and Y are d-separated."""
    separated = LatentDAG.d_separated
    return lambda plan: (zero,) if separated(*plan.structure.query.effect) else others


def _change(zero: str, others: tuple[str, ...]) -> Classes:
    """Return the classes of the change by plan: ``zero`` for a variable without bearing on it."""

    def classes(plan: ScenePlan) -> tuple[str, ...]:
        motif = plan.structure.query
        without = {one_is_apart(*motif.effect, z) for z in motif.other_nodes}
        return (*((zero,) if True in without else ()), *(others if False in without else ()))

    return classes


def _partial_correlation(zero: str, others: tuple[str, ...]) -> Classes:
    """Return the classes by plan: also ``zero`` where some variable makes it vanish."""
    return lambda plan: (*others, zero) if association_vanishes(plan) else others


def _effect(identifiable: Hosts, unknown: str, zero: str, others: tuple[str, ...]) -> Classes:
    """Return the classes of an effect by plan: ``zero`` without a directed path."""

    def classes(plan: ScenePlan) -> tuple[str, ...]:
        if not identifiable(plan):
            return (unknown,)
        return others if has_directed_path(plan) else (zero,)

    return classes


def _natural(unknown: str, others: tuple[str, ...]) -> Classes:
    """Return the classes of natural effects by plan; none that is asked is zero by the graph."""

    def classes(plan: ScenePlan) -> tuple[str, ...]:
        found = natural_verdicts_asked(plan)
        return (*(others if any(found) else ()), *(() if all(found) else (unknown,)))

    return classes


def _adjustment(count: Callable[[tuple[frozenset[str], ...]], int] | None = None) -> Classes:
    """Return the class of adjustment by plan: ``count`` of the valid sets, or else the category."""

    def classes(plan: ScenePlan) -> tuple[str, ...]:
        sets = valid_adjustment_sets(*plan.structure.query.effect)
        return (str(count(sets)) if sets and count is not None else adjustment_category(plan),)

    return classes


def _presence(plan: ScenePlan) -> tuple[str, ...]:
    """Return "True" if a variable opens a path, "False" if the association vanishes given one."""
    found = {"True": has_path_opener(plan), "False": association_vanishes(plan)}
    return tuple(answer for answer, is_right in found.items() if is_right)


def _dominance(plan: ScenePlan) -> tuple[str, ...]:
    return ("direct", "indirect") if all(natural_verdicts_asked(plan)) else ("None",)


def _counterfactual(plan: ScenePlan) -> tuple[str, ...]:
    """Return whether ETT and, with a mediator, NDE and NIE are identifiable, as sorted texts."""
    natural = natural_verdicts(plan).values() if has_mediator(plan) else ()
    return tuple(sorted({str(one) for one in (ett_is_identifiable(plan), *natural)}))


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The facts about a variant that the composition of an exam needs.

    ``rank`` orders the variants of a family, 0 the easiest (an editorial order: paper A.8).
    ``inputs`` are the members of its ``inputs_json``: nothing else about a task is public by
    design. ``classes`` gives the classes that the right answer can have in a scene of a plan (see
    :func:`..exams.candidates.label_class`), ``hosts`` whether such a scene can be asked it.
    """

    rank: int
    inputs: frozenset[str]
    classes: Classes
    hosts: Hosts = lambda plan: True


_CONDITIONING: Final = ENDS | {"conditioning_var"}
_VARIABLE: Final = ENDS | {"variable"}
_SKETCH: Final = frozenset({"variables"})
_ROWS: Final = frozenset({"outcome", "outcome_kind", "columns", "rows"})
_OBSERVED: Final = ENDS | {"observed"}
_AVAILABLE: Final = ENDS | {"available"}
_ESTIMAND: Final = LEVELS | {"estimand"}
_ALPHA: Final = frozenset({"alpha"})

_ATE_NUMBER: Final = _effect(ate_is_identifiable, "abstain", "zero", VALUE)
_ETT_NUMBER: Final = _effect(ett_is_identifiable, "abstain", "zero", VALUE)

_ROWS_BY_FAMILY: Final[dict[str, dict[str, Eligibility]]] = {
    "prediction": {
        "point_predictor": Eligibility(0, _ROWS, one_class),
        "prediction_interval": Eligibility(
            1, _ROWS | _ALPHA, one_class, lambda plan: plan.structure.outcome_kind == "continuous"
        ),
    },
    "association": {
        "sign_only": Eligibility(0, ENDS, _association("0", SIGNS)),
        "effect_size_point": Eligibility(1, ENDS, _association("zero", VALUE)),
        "sign_before_after": Eligibility(
            2, _CONDITIONING, lambda plan: ("same", "different"), other_variables(1)
        ),
        "delta_sign_only": Eligibility(3, _CONDITIONING, _change("0", SIGNS), other_variables(1)),
        "delta_point": Eligibility(4, _CONDITIONING, _change("zero", VALUE), other_variables(1)),
        "argmax_change": Eligibility(5, ENDS | {"candidates"}, one_class, other_variables(2)),
    },
    "collider_phenomenon": {
        "induced_association_boolean": Eligibility(0, _VARIABLE, _presence, _opens_or_separates),
        "induced_association_sign_only": Eligibility(
            1, _VARIABLE, _partial_correlation("0", SIGNS), other_variables(1)
        ),
        "induced_association_strength_point": Eligibility(
            2, _VARIABLE, _partial_correlation("zero", VALUE), other_variables(1)
        ),
    },
    "causal_sketch": {
        "skeleton_edges": Eligibility(0, _SKETCH, one_class),
        "edges_only": Eligibility(1, _SKETCH, one_class),
    },
    "identification": {
        "identifiable_boolean": Eligibility(
            0, _OBSERVED, lambda plan: (str(ate_is_identifiable(plan)),)
        ),
        "method_label": Eligibility(
            1, _OBSERVED, lambda plan: (identification_method(*plan.structure.query.effect),)
        ),
        "one_valid_adjustment_set": Eligibility(2, _AVAILABLE, _adjustment(), has_directed_path),
        "minimal_adjustment_set_size": Eligibility(
            3, _AVAILABLE, _adjustment(lambda sets: min(map(len, sets))), has_directed_path
        ),
        "n_valid_adjustment_sets": Eligibility(4, _AVAILABLE, _adjustment(len), has_directed_path),
        "all_minimal_adjustment_sets": Eligibility(5, _AVAILABLE, _adjustment(), has_directed_path),
    },
    "effect_estimate": {
        "ate_sign_only": Eligibility(
            0, LEVELS, _effect(ate_is_identifiable, "unknown", "0", SIGNS)
        ),
        "ate_point": Eligibility(1, LEVELS, _ATE_NUMBER),
        "ate_uq_95": Eligibility(2, LEVELS | _ALPHA, _ATE_NUMBER),
        "ate_vs_assoc_sign_match": Eligibility(
            3, LEVELS, _effect(ate_is_identifiable, "None", "False", ("True", "False"))
        ),
    },
    "bias_diagnostic": {
        "collider_bias_boolean": Eligibility(
            0, _VARIABLE, lambda plan: (str(has_path_opener(plan)),), _opens_or_seems_to
        ),
        "forbidden_controls_list": Eligibility(1, _AVAILABLE, _adjustment(), has_directed_path),
    },
    "counterfactual_identification": {
        "identifiable_boolean": Eligibility(0, _OBSERVED | _ESTIMAND, _counterfactual)
    },
    "counterfactual_effect": {
        "sign_only": Eligibility(0, LEVELS, _effect(ett_is_identifiable, "unknown", "0", SIGNS)),
        "effect_point": Eligibility(1, LEVELS, _ETT_NUMBER),
        "effect_uq_95": Eligibility(2, LEVELS | _ALPHA, _ETT_NUMBER),
    },
    "mediation_effect": {
        "sign_only": Eligibility(0, _ESTIMAND, _natural("unknown", SIGNS), has_mediator),
        "direct_vs_indirect_dominance": Eligibility(
            1, LEVELS, _dominance, lambda plan: has_mediator(plan) and has_direct_effect(plan)
        ),
        "effect_point": Eligibility(2, _ESTIMAND, _natural("abstain", VALUE), has_mediator),
        "effect_uq_95": Eligibility(
            3, _ESTIMAND | _ALPHA, _natural("abstain", VALUE), has_mediator
        ),
    },
}

ELIGIBILITY: Final = one_each(
    {
        f"{family}.{name}": row
        for family, rows in _ROWS_BY_FAMILY.items()
        for name, row in rows.items()
    },
    KEYS,
    "eligibility",
    "builder/tracks/causalds/design/eligibility.py",
)
"""Eligibility by variant key, in the order of ``grader.tracks.VARIANTS``."""


def hosted_variants(plan: ScenePlan) -> list[str]:
    """Return the keys of variants that a planned scene can be asked, in ``grader``'s order."""
    return [key for key, row in ELIGIBILITY.items() if row.hosts(plan)]
