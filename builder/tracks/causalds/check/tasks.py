"""Every task's truth a second time: one derivation per variant of the track.

Numbers are the world's, which :mod:`builder.tracks.causalds.check.hidden` holds against simulated
units; labels are read off them and off the graph (:mod:`builder.tracks.causalds.check.graph`)
without the code that published them.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import networkx as nx

from builder.equations.margins import EFFECT_MARGIN, MEASURED_SIGN_MARGIN, SIGN_MARGIN
from builder.tracks.causalds.check import graph as audit_graph
from builder.tracks.causalds.check.hidden import Hidden
from builder.tracks.causalds.design.eligibility import KEYS, one_each
from grader.io.jsonio import canonical

Row = Mapping[str, Any]

_ROUNDING: Final = 1e-8

_NAMED: Final = 3
"""Candidates of a question, stated a second time."""
_TIE: Final = 0.05
"""The tie band, stated a second time."""
_ERRORS: Final = 4
"""Standard errors that a number keeps clear of its margin by, stated a second time."""
_NUMBER: Final = ("value", "se", "source")


def _clear(room: float, *errors: float) -> bool:
    """Whether the room beyond a margin is as wide as errors that are independent ask for."""
    return room >= _ERRORS * math.hypot(*errors) - _ROUNDING


class Unusable(Exception):
    """Why a truth cannot be derived again: a label too close to its boundary, a number missing."""


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

    def stored(self, kind: str) -> Row:
        """A quantity of the world: ``value``, ``se``, ``source``; those given a node for the node
        that the question names. Raises :class:`Unusable` where the world has none."""
        found = self.hidden.record["quantities"].get(kind)
        if kind in ("partial", "change"):
            found = found.get(self.detail)
        if found is None:
            raise Unusable(f"the world has no {kind} {self.detail}")
        return dict(found)

    def effect_margin(self) -> tuple[float, float]:
        """The margin of an effect's sign, and that margin's own standard error."""
        sd = self.stored("outcome_sd")
        return EFFECT_MARGIN * float(sd["value"]), EFFECT_MARGIN * float(sd["se"])

    def sign(self, kind: str) -> str:
        """The label of a quantity; raises :class:`Unusable` inside its margin."""
        stored = self.stored(kind)
        if stored["source"] == "structural_zero":
            return "0"
        error = 0.0
        if kind in ("ate", "ett", "nde", "nie"):
            margin, error = self.effect_margin()
        else:
            margin = self.margin() if kind == "association" else self.margin(self.detail)
        if not _clear(abs(stored["value"]) - margin, stored["se"], error):
            raise Unusable(f"asked although the value is {stored['value']:.4f}")
        return "+" if stored["value"] > 0 else "-"


@dataclass(frozen=True, slots=True)
class Derived:
    """A truth derived again: the target, the number if one is asked for, and whether abstaining is
    right."""

    target: Mapping[str, object] = field(default_factory=dict)
    number: Row | None = None
    abstain: bool = False


def audit_task(key: str, case: Case) -> Iterator[str]:
    """The problems of one truth row, each beginning with the variant."""
    if key not in AUDITS:
        yield f"no second derivation for {key}"
        return
    try:
        derived = AUDITS[key](case)
    except Unusable as problem:
        yield f"{key}: {problem}"
        return
    # As JSON, because True is not 1 in a target.
    if canonical(case.target) != canonical(derived.target):
        yield f"{key}: target {case.target}, derived {derived.target}"
    told = [case.row[f"value{part}"] for part in ("", "_se", "_source")]
    expected = [None if derived.number is None else derived.number[part] for part in _NUMBER]
    if told != expected:
        yield f"{key}: published {told}, the world has {expected}"
    stated = case.row["should_abstain"]
    if stated is not derived.abstain:
        yield f"{key}: should_abstain is {stated}, derived {derived.abstain}"


def _accepted(*answers: object, abstain: bool = False) -> Derived:
    return Derived({"accepted": list(answers)}, abstain=abstain)


def _verdict(identifiable: bool) -> Derived:
    return _accepted(identifiable, abstain=not identifiable)


# --- rung 1 ----------------------------------------------------------------------------------


def _prediction(case: Case) -> Derived:
    """What is known of the labels; an sd that agrees is taken as it is told."""
    kind = case.hidden.record["variables"][case.hidden.y]["kind"]
    if case.labels is None or case.labels["kind"] != kind:
        raise Unusable(f"the scene has no {kind} labels")
    values = [float(value) for value in case.labels["values"]]
    sd, told = statistics.pstdev(values), case.target["sd"]
    agrees = abs(sd - told) <= _ROUNDING * (1 + sd)
    return Derived({"kind": kind, "rows": len(values), "sd": told if agrees else sd})


def _spelt(sign: str) -> list[str]:
    """The labels that say an association's sign; nothing at all may be called unknown."""
    return [sign, "unknown"] if sign == "0" else [sign]


def _before_after(case: Case) -> Derived:
    before, after = (_spelt(case.sign(kind)) for kind in ("association", "partial"))
    return Derived({"accepted_before": before, "accepted_after": after})


def _argmax(case: Case) -> Derived:
    nodes, changes = case.hidden.other_nodes()[:_NAMED], case.hidden.record["quantities"]["change"]
    order = sorted(nodes, key=lambda node: abs(changes[node]["value"]), reverse=True)
    lead, error = 0.0, 0.0
    if len(order) > 1:
        first, second = (changes[node] for node in order[:2])
        # One sample behind both: at worst their errors pull apart.
        lead, error = abs(first["value"]) - abs(second["value"]), first["se"] + second["se"]
    if not _clear(lead - case.margin(*nodes), error):
        raise Unusable(f"asked although the changes are {[changes[node] for node in order]}")
    return _accepted(case.hidden.names[order[0]])


# --- the graph -------------------------------------------------------------------------------


def _edges(case: Case) -> Derived:
    names = case.hidden.names
    edges = sorted([names[a], names[b]] for a, b in case.hidden.graph.edges)
    return Derived({"nodes": sorted(names.values()), "edges": edges})


def _method(case: Case) -> Derived:
    hidden = case.hidden
    label = audit_graph.method_label(hidden.graph, hidden.x, hidden.y, hidden.latent)
    return _accepted(label, abstain=label == "none")


def _category(hidden: Hidden) -> str:
    """``set``, or the word for why there is none; asked only where there is an effect to adjust
    for."""
    if not nx.has_path(hidden.graph, hidden.x, hidden.y):
        raise Unusable("asked although no directed path leads from treatment to outcome")
    if hidden.valid_sets:
        return "set"
    return "no_backdoor" if hidden.identifiable("ate") else "non_id"


def _sets(case: Case, found: Sequence[frozenset[str]]) -> Derived:
    word = _category(case.hidden)
    sets = sorted(_named(case.hidden, one) for one in found)
    return Derived({"category": word, "sets": sets}, abstain=word == "non_id")


def _counted(case: Case, counts: list[object], otherwise: list[object]) -> Derived:
    """Counts of valid sets, where there are any."""
    word = _category(case.hidden)
    unidentified: list[object] = ["non_id"]
    answers = {"set": counts, "no_backdoor": otherwise, "non_id": unidentified}[word]
    return _accepted(*answers, abstain=word == "non_id")


def _size(case: Case) -> Derived:
    sizes = [len(found) for found in case.hidden.valid_sets]
    return _counted(case, [min(sizes, default=0)], ["no_backdoor"])


def _forbidden(case: Case) -> Derived:
    valid, word = case.hidden.valid_sets, _category(case.hidden)
    unused = frozenset(case.hidden.other_nodes()).difference(*valid)
    names = _named(case.hidden, unused) if valid else []
    return Derived({"category": word, "names": names}, abstain=word == "non_id")


def _named(hidden: Hidden, nodes: Iterable[str]) -> list[str]:
    return sorted(hidden.names[node] for node in nodes)


def _collider_bias(case: Case) -> Derived:
    hidden = case.hidden
    return _accepted(audit_graph.opens_a_path(hidden.graph, hidden.x, hidden.y, case.detail))


# --- effects ---------------------------------------------------------------------------------


def _effect(case: Case, name: str) -> Derived:
    if not case.hidden.identifiable(name):
        return Derived(abstain=True)
    case.sign(name)  # an effect that the graph allows must be there between the printed levels
    return Derived(number=case.stored(name))


def _effect_sign(case: Case, name: str) -> Derived:
    if not case.hidden.identifiable(name):
        return _accepted("unknown", abstain=True)
    return _accepted(case.sign(name))


def _match(case: Case) -> Derived:
    associated = case.sign("association")
    if not case.hidden.identifiable("ate"):
        return _accepted(None, abstain=True)
    return _accepted(case.sign("ate") == associated != "0")


def _dominance(case: Case) -> Derived:
    if not all(case.hidden.identifiable(name) for name in ("nde", "nie")):
        return _accepted(None, abstain=True)
    found = {name: case.stored(name) for name in ("nde", "nie")}
    direct, indirect = (abs(one["value"]) for one in found.values())
    larger, smaller = ("nde", "nie") if direct > indirect else ("nie", "nde")
    edge = abs(direct - indirect) - _TIE * max(direct, indirect)
    margin, error = case.effect_margin()
    errors = (1 - _TIE) * found[larger]["se"], found[smaller]["se"], error
    if not _clear(abs(edge) - margin + 2e-6, *errors):
        raise Unusable(f"asked although |NDE| = {direct:.4f} and |NIE| = {indirect:.4f}")
    return _accepted("tie" if edge <= 0 else "direct" if direct > indirect else "indirect")


_DERIVED: Final[Mapping[str, Callable[[Case], Derived]]] = {
    "prediction.point_predictor": _prediction,
    "prediction.prediction_interval": _prediction,
    "association.sign_only": lambda case: _accepted(*_spelt(case.sign("association"))),
    "association.effect_size_point": lambda case: Derived(number=case.stored("association")),
    "association.sign_before_after": _before_after,
    "association.delta_point": lambda case: Derived(number=case.stored("change")),
    "association.delta_sign_only": lambda case: _accepted(case.sign("change")),
    "association.argmax_change": _argmax,
    "collider_phenomenon.induced_association_boolean": lambda case: _accepted(
        case.sign("partial") != "0"
    ),
    "collider_phenomenon.induced_association_sign_only": lambda case: _accepted(
        *_spelt(case.sign("partial"))
    ),
    "collider_phenomenon.induced_association_strength_point": lambda case: Derived(
        number=case.stored("partial")
    ),
    "causal_sketch.edges_only": _edges,
    "causal_sketch.skeleton_edges": _edges,
    "identification.method_label": _method,
    "identification.identifiable_boolean": lambda case: _verdict(case.hidden.identifiable("ate")),
    "counterfactual_identification.identifiable_boolean": lambda case: _verdict(
        case.hidden.identifiable(case.detail.lower())
    ),
    "identification.one_valid_adjustment_set": lambda case: _sets(case, case.hidden.valid_sets),
    "identification.all_minimal_adjustment_sets": lambda case: _sets(
        case, audit_graph.minimal(case.hidden.valid_sets)
    ),
    "identification.minimal_adjustment_set_size": _size,
    "identification.n_valid_adjustment_sets": lambda case: _counted(
        case, [len(case.hidden.valid_sets)], ["no_backdoor", 0]
    ),
    "bias_diagnostic.forbidden_controls_list": _forbidden,
    "bias_diagnostic.collider_bias_boolean": _collider_bias,
    "effect_estimate.ate_point": lambda case: _effect(case, "ate"),
    "effect_estimate.ate_uq_95": lambda case: _effect(case, "ate"),
    "effect_estimate.ate_sign_only": lambda case: _effect_sign(case, "ate"),
    "effect_estimate.ate_vs_assoc_sign_match": _match,
    "counterfactual_effect.effect_point": lambda case: _effect(case, "ett"),
    "counterfactual_effect.effect_uq_95": lambda case: _effect(case, "ett"),
    "counterfactual_effect.sign_only": lambda case: _effect_sign(case, "ett"),
    "mediation_effect.effect_point": lambda case: _effect(case, case.detail.lower()),
    "mediation_effect.effect_uq_95": lambda case: _effect(case, case.detail.lower()),
    "mediation_effect.sign_only": lambda case: _effect_sign(case, case.detail.lower()),
    "mediation_effect.direct_vs_indirect_dominance": _dominance,
}

AUDITS: Final = one_each(
    _DERIVED, KEYS, "second derivation", "builder/tracks/causalds/check/tasks.py"
)
"""By variant: the truth of one row derived again. Raises :class:`Unusable`."""
