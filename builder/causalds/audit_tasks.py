"""Every task's truth a second time: one audit per variant of the track.

Numbers are the world's, which :mod:`builder.causalds.audit_quantities` holds against simulated
units, or are estimated here again; labels are read off them and off the graph
(:mod:`builder.causalds.audit_graph`) without the code that published them.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import networkx as nx

from builder.causalds import audit_graph
from builder.causalds.audit_numbers import Estimate, Population
from builder.causalds.audit_quantities import TOLERANCE, compare, effect_bound
from builder.scm import CORRELATION_BOUND, EFFECT_MARGIN, MEASURED_SIGN_MARGIN, SIGN_MARGIN

Row = Mapping[str, Any]

_ROUNDING: Final = 1e-8
_NAMED: Final = 3
_TIE: Final = 0.05


@dataclass(frozen=True)
class Hidden:
    """A world row taken apart; names map nodes to story names."""

    instance_id: str
    record: Mapping[str, Any]
    graph: audit_graph.Graph
    latent: frozenset[str]
    x: str
    y: str
    names: Mapping[str, str]
    levels: tuple[float, float]
    binary_treatment: bool
    population: Population

    def named(self, nodes: frozenset[str]) -> list[str]:
        """Sorted story names of some nodes."""
        return sorted(self.names[node] for node in nodes)

    def observed(self) -> list[str]:
        """The observed nodes other than treatment and outcome, in table order."""
        return [node for node in self.record["columns"] if node not in (self.x, self.y)]


@dataclass(frozen=True)
class Case:
    """One truth row with its target, the labels of its scene, and what its question names."""

    hidden: Hidden
    row: Row
    target: Any
    labels: Row | None

    @property
    def detail(self) -> str:
        """The node or estimand that the question names."""
        return str(self.hidden.record["task_details"].get(self.row["task_id"], ""))

    def margin(self, *nodes: str) -> float:
        """The margin of an association's label in this task's view."""
        record = self.hidden.record
        measured = record["views"][record["task_views"][self.row["task_id"]]]["bundles"]
        hard = {self.hidden.x, self.hidden.y, *nodes} & set(measured)
        return MEASURED_SIGN_MARGIN if hard else SIGN_MARGIN

    def stored(self, kind: str, node: str | None = None) -> Any:
        """A quantity of the world: ``value``, ``se``, ``source``.

        Raises :class:`_Unusable` where the world has none.
        """
        found = self.hidden.record["quantities"].get(kind)
        if node is not None and found is not None:
            found = found.get(node)
        if found is None:
            raise _Unusable(f"the world has no {kind}{f' given {node}' if node else ''}")
        return found


Problems = Iterator[str]
Audit = Callable[[Case], Problems]

AUDITS: Final[dict[str, Audit]] = {}
"""By variant; each yields the problems of one truth row."""


class _Unusable(Exception):
    """Why a truth cannot be derived again: a label too close to its boundary, a number missing."""


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
    except _Unusable as problem:
        yield f"{key}: {problem}"


# --- rung 1 ----------------------------------------------------------------------------------


@_audits("prediction.point_predictor", "prediction.prediction_interval")
def _prediction(case: Case) -> Problems:
    yield from _no_abstention(case)
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
    yield from _no_abstention(case)
    if _unrelated(hidden):
        yield from _accepts(case, ["unknown"])
        return
    found = hidden.population.correlation(hidden.x, hidden.y)
    if abs(found.value) < case.margin() - TOLERANCE * found.se:
        yield f"asked although r is about {found.value:.4f}"
    yield from _accepts(case, ["+" if found.value > 0 else "-"])


@_audits("association.effect_size_point")
def _correlation(case: Case) -> Problems:
    hidden = case.hidden
    found = None if _unrelated(hidden) else hidden.population.correlation(hidden.x, hidden.y)
    yield from _compare(case.row, found, lambda value: CORRELATION_BOUND)
    yield from _no_abstention(case)


@_audits("association.sign_before_after")
def _before_after(case: Case) -> Problems:
    node = case.detail
    before = _label(case.stored("association"), case.margin(), "unknown")
    after = _label(case.stored("partial", node), case.margin(node), "unknown")
    expected = {"accepted_before": [before], "accepted_after": [after]}
    if case.target != expected:
        yield f"{case.target}, derived {expected}"
    yield from _no_abstention(case)


@_audits("association.delta_point")
def _delta(case: Case) -> Problems:
    yield from _published(case, case.stored("change", case.detail))


@_audits("association.delta_sign_only")
def _delta_sign(case: Case) -> Problems:
    node = case.detail
    yield from _accepts(case, [_label(case.stored("change", node), case.margin(node), "0")])
    yield from _no_abstention(case)


@_audits("association.argmax_change")
def _argmax(case: Case) -> Problems:
    nodes = case.hidden.observed()[:_NAMED]
    sizes = sorted(((abs(case.stored("change", n)["value"]), n) for n in nodes), reverse=True)
    if len(sizes) < 2 or sizes[0][0] - sizes[1][0] < case.margin(*nodes):
        yield f"asked although the changes are {sizes}"
        return
    yield from _accepts(case, [case.hidden.names[sizes[0][1]]])
    yield from _no_abstention(case)


@_audits("collider_phenomenon.induced_association_boolean")
def _induced(case: Case) -> Problems:
    label = _label(case.stored("partial", case.detail), case.margin(case.detail), "0")
    yield from _accepts(case, [label != "0"])
    yield from _no_abstention(case)


@_audits("collider_phenomenon.induced_association_sign_only")
def _induced_sign(case: Case) -> Problems:
    label = _label(case.stored("partial", case.detail), case.margin(case.detail), "unknown")
    yield from _accepts(case, [label])
    yield from _no_abstention(case)


@_audits("collider_phenomenon.induced_association_strength_point")
def _induced_strength(case: Case) -> Problems:
    yield from _published(case, case.stored("partial", case.detail))


# --- the graph -------------------------------------------------------------------------------


@_audits("causal_sketch.edges_only", "causal_sketch.skeleton_edges")
def _edges(case: Case) -> Problems:
    names = case.hidden.names
    edges = sorted([names[a], names[b]] for a, b in case.hidden.graph.edges)
    if case.target["edges"] != edges:
        yield f"edges {case.target['edges']}, the world has {edges}"
    if case.target["nodes"] != sorted(names.values()):
        yield f"nodes {case.target['nodes']}, the world has {sorted(names.values())}"
    yield from _no_abstention(case)


@_audits("identification.method_label")
def _method(case: Case) -> Problems:
    hidden = case.hidden
    label = audit_graph.method_label(hidden.graph, hidden.x, hidden.y, hidden.latent)
    yield from _accepts(case, [label])
    yield from _abstention(case, label == "none")


@_audits("identification.identifiable_boolean")
def _identifiable(case: Case) -> Problems:
    yield from _verdict(case, _ate_identifiable(case.hidden))


@_audits("counterfactual_identification.identifiable_boolean")
def _counterfactual(case: Case) -> Problems:
    yield from _verdict(case, _counterfactually_identifiable(case.hidden, case.detail))


@_audits("identification.one_valid_adjustment_set")
def _one_valid(case: Case) -> Problems:
    yield from _sets(case, _valid(case.hidden))


@_audits("identification.all_minimal_adjustment_sets")
def _all_minimal(case: Case) -> Problems:
    yield from _sets(case, audit_graph.minimal(_valid(case.hidden)))


@_audits("identification.minimal_adjustment_set_size")
def _size(case: Case) -> Problems:
    sizes = [len(found) for found in _valid(case.hidden)]
    yield from _counted(case, [min(sizes)] if sizes else ["no_backdoor"])


@_audits("identification.n_valid_adjustment_sets")
def _number(case: Case) -> Problems:
    count = len(_valid(case.hidden))
    yield from _counted(case, [count] if count else ["no_backdoor", 0])


@_audits("bias_diagnostic.forbidden_controls_list")
def _forbidden(case: Case) -> Problems:
    valid = _valid(case.hidden)
    used = frozenset().union(*valid)
    word = _category(case.hidden)
    names = case.hidden.named(frozenset(case.hidden.observed()) - used) if valid else []
    if case.target != {"category": word, "names": names}:
        yield f"{case.target}, derived {word} {names}"
    yield from _abstention(case, word == "non_id")


@_audits("bias_diagnostic.collider_bias_boolean")
def _collider_bias(case: Case) -> Problems:
    hidden = case.hidden
    opened = audit_graph.opens_a_path(hidden.graph, hidden.x, hidden.y, case.detail)
    yield from _accepts(case, [opened])
    yield from _no_abstention(case)


# --- effects ---------------------------------------------------------------------------------


@_audits("effect_estimate.ate_point", "effect_estimate.ate_uq_95")
def _ate(case: Case) -> Problems:
    hidden = case.hidden
    yield from _effect(case, not _ate_identifiable(hidden), hidden.population.ate)


@_audits("effect_estimate.ate_sign_only")
def _ate_sign(case: Case) -> Problems:
    yield from _effect_sign(case, "ate", _ate_identifiable(case.hidden))


@_audits("effect_estimate.ate_vs_assoc_sign_match")
def _match(case: Case) -> Problems:
    identifiable = _ate_identifiable(case.hidden)
    associated = _label(case.stored("association"), case.margin(), "0")
    expected: bool | None = None
    if identifiable:
        caused = _label(case.stored("ate"), _effect_margin(case), "0")
        expected = caused == associated and caused != "0"
    yield from _accepts(case, [expected])
    yield from _abstention(case, not identifiable)


@_audits("counterfactual_effect.effect_point", "counterfactual_effect.effect_uq_95")
def _ett(case: Case) -> Problems:
    hidden = case.hidden
    identifiable = _counterfactually_identifiable(hidden, "ETT")
    yield from _effect(case, not identifiable, hidden.population.ett)


@_audits("counterfactual_effect.sign_only")
def _ett_sign(case: Case) -> Problems:
    yield from _effect_sign(case, "ett", _counterfactually_identifiable(case.hidden, "ETT"))


@_audits("mediation_effect.effect_point", "mediation_effect.effect_uq_95")
def _natural(case: Case) -> Problems:
    identifiable = _counterfactually_identifiable(case.hidden, case.detail)
    yield from _abstention(case, not identifiable)
    if identifiable:
        yield from _published(case, case.stored(case.detail.lower()), abstain=None)
    elif case.row["value"] is not None:
        yield "a value beside an abstention"


@_audits("mediation_effect.sign_only")
def _natural_sign(case: Case) -> Problems:
    identifiable = _counterfactually_identifiable(case.hidden, case.detail)
    yield from _effect_sign(case, case.detail.lower(), identifiable)


@_audits("mediation_effect.direct_vs_indirect_dominance")
def _dominance(case: Case) -> Problems:
    identifiable = all(_counterfactually_identifiable(case.hidden, e) for e in ("NDE", "NIE"))
    yield from _abstention(case, not identifiable)
    if not identifiable:
        yield from _accepts(case, [None])
        return
    direct, indirect = (abs(case.stored(name)["value"]) for name in ("nde", "nie"))
    edge = abs(direct - indirect) - _TIE * max(direct, indirect)
    if abs(edge) < _effect_margin(case) - 2e-6:
        yield f"asked although |NDE| = {direct:.4f} and |NIE| = {indirect:.4f}"
    label = "tie" if edge <= 0 else "direct" if direct > indirect else "indirect"
    yield from _accepts(case, [label])


# --- shared pieces ---------------------------------------------------------------------------


def _label(stored: Row, margin: float, zero: str) -> str:
    """The label of a signed number; raises :class:`_Unusable` inside its margin."""
    if stored["source"] == "structural_zero":
        return zero
    if abs(stored["value"]) < margin - _ROUNDING:
        raise _Unusable(f"asked although the value is {stored['value']:.4f}")
    return "+" if stored["value"] > 0 else "-"


def _effect_margin(case: Case) -> float:
    return EFFECT_MARGIN * float(case.stored("outcome_sd")["value"])


def _published(case: Case, stored: Row | None, abstain: bool | None = False) -> Problems:
    """The truth row's number against the world's; ``abstain`` None: looked at elsewhere."""
    told = [case.row[f"value{part}"] for part in ("", "_se", "_source")]
    expected = None if stored is None else [stored[part] for part in ("value", "se", "source")]
    if told != expected:
        yield f"published {told}, the world has {expected}"
    if abstain is not None:
        yield from _abstention(case, abstain)


def _effect(
    case: Case,
    abstain: bool,
    estimate: Callable[[str, str, tuple[float, float]], Estimate],
) -> Problems:
    hidden = case.hidden
    yield from _abstention(case, abstain)
    if abstain:
        if case.row["value"] is not None:
            yield "a value beside an abstention"
        return
    zero = not nx.has_path(hidden.graph, hidden.x, hidden.y)
    found = None if zero else estimate(hidden.x, hidden.y, hidden.levels)
    yield from _compare(case.row, found, effect_bound)


def _effect_sign(case: Case, name: str, identifiable: bool) -> Problems:
    expected = "unknown"
    if identifiable:
        expected = _label(case.stored(name), _effect_margin(case), "0")
    yield from _accepts(case, [expected])
    yield from _abstention(case, not identifiable)


def _compare(row: Row, found: Estimate | None, bound: Callable[[float], float]) -> Problems:
    """Published against found; ``found`` None means exactly zero by the graph."""
    stored = {"value": row["value"], "se": row["value_se"], "source": row["value_source"]}
    yield from compare(stored, found, bound)


def _accepts(case: Case, expected: list[object]) -> Problems:
    told = case.target.get("accepted")
    if told != expected or [type(a) for a in told] != [type(b) for b in expected]:
        yield f"accepts {told}, derived {expected}"


def _verdict(case: Case, identifiable: bool) -> Problems:
    yield from _accepts(case, [identifiable])
    yield from _abstention(case, not identifiable)


def _sets(case: Case, found: list[frozenset[str]]) -> Problems:
    word = _category(case.hidden)
    sets = sorted(case.hidden.named(one) for one in found)
    if case.target != {"category": word, "sets": sets}:
        yield f"{case.target}, derived {word} {sets}"
    yield from _with_a_path(case)
    yield from _abstention(case, word == "non_id")


def _counted(case: Case, expected: list[object]) -> Problems:
    unidentified = _category(case.hidden) == "non_id"
    yield from _accepts(case, ["non_id"] if unidentified else expected)
    yield from _with_a_path(case)
    yield from _abstention(case, unidentified)


def _with_a_path(case: Case) -> Problems:
    if not nx.has_path(case.hidden.graph, case.hidden.x, case.hidden.y):
        yield "asked although no directed path leads from treatment to outcome"


def _valid(hidden: Hidden) -> list[frozenset[str]]:
    return audit_graph.valid_sets(hidden.graph, hidden.x, hidden.y, hidden.latent)


def _category(hidden: Hidden) -> str:
    if _valid(hidden):
        return "set"
    return "no_backdoor" if _ate_identifiable(hidden) else "non_id"


def _ate_identifiable(hidden: Hidden) -> bool:
    graph, x, y = hidden.graph, hidden.x, hidden.y
    return not nx.has_path(graph, x, y) or not audit_graph.has_hedge(graph, x, y, hidden.latent)


def _counterfactually_identifiable(hidden: Hidden, estimand: str) -> bool:
    graph, x, y, latent = hidden.graph, hidden.x, hidden.y, hidden.latent
    if estimand == "ETT":
        return audit_graph.ett_identifiable(
            graph, x, y, latent, binary_treatment=hidden.binary_treatment
        )
    effect = estimand.lower()
    if audit_graph.natural_zero(graph, x, y, effect):
        return True
    return audit_graph.natural_identifiable(graph, x, y, latent, effect)


def _unrelated(hidden: Hidden) -> bool:
    """Whether treatment and outcome have no common ancestor, each counted as its own."""
    x, y = ({v, *nx.ancestors(hidden.graph, v)} for v in (hidden.x, hidden.y))
    return not x & y


def _no_abstention(case: Case) -> Problems:
    yield from _abstention(case, False)


def _abstention(case: Case, expected: bool) -> Problems:
    stated = case.row["should_abstain"]
    if stated is not expected:
        yield f"should_abstain is {stated}, derived {expected}"
