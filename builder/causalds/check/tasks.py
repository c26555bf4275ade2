"""Every task's truth a second time: one audit per variant of the track.

Numbers are the world's, which :mod:`builder.causalds.check.quantities` holds against simulated
units, or are estimated here again; labels are read off them and off the graph
(:mod:`builder.causalds.check.graph`) without the code that published them.
"""

import statistics
from collections.abc import Callable
from typing import Final

from builder.causalds.check import graph as audit_graph
from builder.causalds.check.expect import (
    Case,
    Problems,
    Unusable,
    abstention,
    accepts,
    agrees,
    category,
    counted,
    effect_margin,
    effect_sign,
    estimated,
    label_of,
    lists,
    no_abstention,
    published,
    says,
    unrelated,
    valid_sets,
)
from builder.causalds.check.quantities import TOLERANCE
from builder.scm import CORRELATION_BOUND

_ROUNDING: Final = 1e-8
_NAMED: Final = 3
"""Candidates of a question, stated a second time."""
_TIE: Final = 0.05
"""The tie band, stated a second time."""

Audit = Callable[[Case], Problems]

AUDITS: Final[dict[str, Audit]] = {}
"""By variant; each yields the problems of one truth row."""


def _audits(*keys: str) -> Callable[[Audit], Audit]:
    def register(audit: Audit) -> Audit:
        AUDITS.update(dict.fromkeys(keys, audit))
        return audit

    return register


def audit_task(key: str, case: Case) -> Problems:
    """The problems of one truth row, each beginning with the variant."""
    if key not in AUDITS:
        yield f"no second derivation for {key}"
        return
    try:
        yield from (f"{key}: {text}" for text in AUDITS[key](case))
    except Unusable as problem:
        yield f"{key}: {problem}"


# --- rung 1 ----------------------------------------------------------------------------------


@_audits("prediction.point_predictor", "prediction.prediction_interval")
def _prediction(case: Case) -> Problems:
    yield from no_abstention(case)
    if case.labels is None:
        yield "the scene has no labels"
        return
    values = [float(value) for value in case.labels["values"]]
    sd = statistics.pstdev(values)
    kind = case.hidden.record["variables"][case.hidden.y]["kind"]
    target = case.target
    if target["rows"] != len(values):
        yield f"{target['rows']} rows, {len(values)}"
    if abs(sd - target["sd"]) > _ROUNDING * (1 + sd):
        yield f"sd {target['sd']}, the labels have {sd}"
    if not target["kind"] == kind == case.labels["kind"]:
        yield f"kind {target['kind']}, the outcome is {kind}"


@_audits("association.sign_only")
def _sign(case: Case) -> Problems:
    hidden = case.hidden
    yield from no_abstention(case)
    if unrelated(hidden):
        yield from accepts(case, ["unknown"])
        return
    found = hidden.population.correlation(hidden.x, hidden.y)
    if abs(found.value) < case.margin() - TOLERANCE * found.se:
        yield f"asked although r is about {found.value:.4f}"
    yield from accepts(case, ["+" if found.value > 0 else "-"])


@_audits("association.effect_size_point")
def _correlation(case: Case) -> Problems:
    hidden = case.hidden
    found = None if unrelated(hidden) else hidden.population.correlation(hidden.x, hidden.y)
    yield from agrees(case.row, found, lambda value: CORRELATION_BOUND)
    yield from no_abstention(case)


@_audits("association.sign_before_after")
def _before_after(case: Case) -> Problems:
    node = case.detail
    before = label_of(case.stored("association"), case.margin(), "unknown")
    after = label_of(case.stored("partial", node), case.margin(node), "unknown")
    expected = {"accepted_before": [before], "accepted_after": [after]}
    if case.target != expected:
        yield f"{case.target}, derived {expected}"
    yield from no_abstention(case)


@_audits("association.delta_point")
def _delta(case: Case) -> Problems:
    yield from published(case, case.stored("change", case.detail))


@_audits("association.delta_sign_only")
def _delta_sign(case: Case) -> Problems:
    node = case.detail
    yield from accepts(case, [label_of(case.stored("change", node), case.margin(node), "0")])
    yield from no_abstention(case)


@_audits("association.argmax_change")
def _argmax(case: Case) -> Problems:
    nodes = case.hidden.observed()[:_NAMED]
    sizes = sorted(((abs(case.stored("change", n)["value"]), n) for n in nodes), reverse=True)
    if len(sizes) < 2 or sizes[0][0] - sizes[1][0] < case.margin(*nodes):
        yield f"asked although the changes are {sizes}"
        return
    yield from accepts(case, [case.hidden.names[sizes[0][1]]])
    yield from no_abstention(case)


@_audits("collider_phenomenon.induced_association_boolean")
def _induced(case: Case) -> Problems:
    label = label_of(case.stored("partial", case.detail), case.margin(case.detail), "0")
    yield from accepts(case, [label != "0"])
    yield from no_abstention(case)


@_audits("collider_phenomenon.induced_association_sign_only")
def _induced_sign(case: Case) -> Problems:
    label = label_of(case.stored("partial", case.detail), case.margin(case.detail), "unknown")
    yield from accepts(case, [label])
    yield from no_abstention(case)


@_audits("collider_phenomenon.induced_association_strength_point")
def _induced_strength(case: Case) -> Problems:
    yield from published(case, case.stored("partial", case.detail))


# --- the graph -------------------------------------------------------------------------------


@_audits("causal_sketch.edges_only", "causal_sketch.skeleton_edges")
def _edges(case: Case) -> Problems:
    names = case.hidden.names
    edges = sorted([names[a], names[b]] for a, b in case.hidden.graph.edges)
    if case.target["edges"] != edges:
        yield f"edges {case.target['edges']}, the world has {edges}"
    if case.target["nodes"] != sorted(names.values()):
        yield f"nodes {case.target['nodes']}, the world has {sorted(names.values())}"
    yield from no_abstention(case)


@_audits("identification.method_label")
def _method(case: Case) -> Problems:
    hidden = case.hidden
    label = audit_graph.method_label(hidden.graph, hidden.x, hidden.y, hidden.latent)
    yield from accepts(case, [label])
    yield from abstention(case, label == "none")


@_audits("identification.identifiable_boolean")
def _identifiable(case: Case) -> Problems:
    yield from says(case, case.hidden.identifiable("ATE"))


@_audits("counterfactual_identification.identifiable_boolean")
def _counterfactual(case: Case) -> Problems:
    yield from says(case, case.hidden.identifiable(case.detail))


@_audits("identification.one_valid_adjustment_set")
def _one_valid(case: Case) -> Problems:
    yield from lists(case, valid_sets(case.hidden))


@_audits("identification.all_minimal_adjustment_sets")
def _all_minimal(case: Case) -> Problems:
    yield from lists(case, audit_graph.minimal(valid_sets(case.hidden)))


@_audits("identification.minimal_adjustment_set_size")
def _size(case: Case) -> Problems:
    sizes = [len(found) for found in valid_sets(case.hidden)]
    yield from counted(case, [min(sizes)] if sizes else ["no_backdoor"])


@_audits("identification.n_valid_adjustment_sets")
def _number(case: Case) -> Problems:
    count = len(valid_sets(case.hidden))
    yield from counted(case, [count] if count else ["no_backdoor", 0])


@_audits("bias_diagnostic.forbidden_controls_list")
def _forbidden(case: Case) -> Problems:
    valid = valid_sets(case.hidden)
    used = frozenset().union(*valid)
    word = category(case.hidden)
    names = case.hidden.named(frozenset(case.hidden.observed()) - used) if valid else []
    if case.target != {"category": word, "names": names}:
        yield f"{case.target}, derived {word} {names}"
    yield from abstention(case, word == "non_id")


@_audits("bias_diagnostic.collider_bias_boolean")
def _collider_bias(case: Case) -> Problems:
    hidden = case.hidden
    opened = audit_graph.opens_a_path(hidden.graph, hidden.x, hidden.y, case.detail)
    yield from accepts(case, [opened])
    yield from no_abstention(case)


# --- effects ---------------------------------------------------------------------------------


@_audits("effect_estimate.ate_point", "effect_estimate.ate_uq_95")
def _ate(case: Case) -> Problems:
    hidden = case.hidden
    yield from estimated(case, not hidden.identifiable("ATE"), hidden.population.ate)


@_audits("effect_estimate.ate_sign_only")
def _ate_sign(case: Case) -> Problems:
    yield from effect_sign(case, "ate", case.hidden.identifiable("ATE"))


@_audits("effect_estimate.ate_vs_assoc_sign_match")
def _match(case: Case) -> Problems:
    identifiable = case.hidden.identifiable("ATE")
    associated = label_of(case.stored("association"), case.margin(), "0")
    expected: bool | None = None
    if identifiable:
        caused = label_of(case.stored("ate"), effect_margin(case), "0")
        expected = caused == associated and caused != "0"
    yield from accepts(case, [expected])
    yield from abstention(case, not identifiable)


@_audits("counterfactual_effect.effect_point", "counterfactual_effect.effect_uq_95")
def _ett(case: Case) -> Problems:
    hidden = case.hidden
    identifiable = hidden.identifiable("ETT")
    yield from estimated(case, not identifiable, hidden.population.ett)


@_audits("counterfactual_effect.sign_only")
def _ett_sign(case: Case) -> Problems:
    yield from effect_sign(case, "ett", case.hidden.identifiable("ETT"))


@_audits("mediation_effect.effect_point", "mediation_effect.effect_uq_95")
def _natural(case: Case) -> Problems:
    identifiable = case.hidden.identifiable(case.detail)
    yield from abstention(case, not identifiable)
    if identifiable:
        yield from published(case, case.stored(case.detail.lower()), abstain=None)
    elif case.row["value"] is not None:
        yield "a value beside an abstention"


@_audits("mediation_effect.sign_only")
def _natural_sign(case: Case) -> Problems:
    identifiable = case.hidden.identifiable(case.detail)
    yield from effect_sign(case, case.detail.lower(), identifiable)


@_audits("mediation_effect.direct_vs_indirect_dominance")
def _dominance(case: Case) -> Problems:
    identifiable = all(case.hidden.identifiable(e) for e in ("NDE", "NIE"))
    yield from abstention(case, not identifiable)
    if not identifiable:
        yield from accepts(case, [None])
        return
    direct, indirect = (abs(case.stored(name)["value"]) for name in ("nde", "nie"))
    edge = abs(direct - indirect) - _TIE * max(direct, indirect)
    if abs(edge) < effect_margin(case) - 2e-6:
        yield f"asked although |NDE| = {direct:.4f} and |NIE| = {indirect:.4f}"
    label = "tie" if edge <= 0 else "direct" if direct > indirect else "indirect"
    yield from accepts(case, [label])
