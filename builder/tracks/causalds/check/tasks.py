"""Derive every task's truth a second time, by one function per variant of the track.

Numbers are the world's, which :mod:`builder.tracks.causalds.check.stored_scene` holds against
simulated units. Labels are read off them and off the graph
(:mod:`builder.tracks.causalds.check.graph`) without the code that published them.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import networkx as nx

from builder.equations.quantities import EFFECT_MARGIN, MEASURED_SIGN_MARGIN, SIGN_MARGIN
from builder.tracks.causalds.check import graph as audit_graph
from builder.tracks.causalds.check.stored_scene import StoredScene
from builder.tracks.causalds.design.eligibility import KEYS, one_each
from grader.io.jsonio import canonical_json

Row = Mapping[str, Any]

_ROUNDING: Final = 1e-8

_NAMED: Final = 3
_TIE: Final = 0.05
_ERRORS: Final = 4
"""Candidates of a question, the tie band, and standard errors off a margin, stated again."""
_NUMBER: Final = ("value", "se", "source")


def _clear(room: float, *errors: float) -> bool:
    """Tell whether ``room`` to a margin is at least four independent ``errors`` combined."""
    return room >= _ERRORS * math.hypot(*errors) - _ROUNDING


class Unusable(Exception):
    """Raised where no truth follows: a label too close to its boundary, a number missing."""


@dataclass(frozen=True)
class Case:
    """One truth row to be derived again, with its scene, its parsed ``target_json`` as ``target``,
    and the row of ``causalds_labels`` as ``labels`` (None where the scene has none)."""

    scene: StoredScene
    row: Row
    target: Any
    labels: Row | None

    @property
    def detail(self) -> str:
        """The node or estimand that the question names, "" where there is none."""
        return str(self.scene.record["task_details"].get(self.row["task_id"], ""))

    def margin(self, *nodes: str) -> float:
        """Return an association's margin: wider if X, Y or one of ``nodes`` is measured."""
        record = self.scene.record
        measured = record["views"][record["task_views"][self.row["task_id"]]]["bundles"]
        hard = {self.scene.x, self.scene.y, *nodes} & set(measured)
        return MEASURED_SIGN_MARGIN if hard else SIGN_MARGIN

    def stored_quantity(self, kind: str) -> Row:
        """Return ``value``, ``se`` and ``source`` of a quantity of the world (given the question's
        node). Raises :class:`Unusable` where the world has none."""
        found = self.scene.record["quantities"].get(kind)
        if kind in ("partial", "change"):
            found = found.get(self.detail)
        if found is None:
            raise Unusable(f"the world has no {kind} {self.detail}")
        return dict(found)

    def effect_margin(self) -> tuple[float, float]:
        """Return the margin of an effect's sign, and that margin's own standard error."""
        sd = self.stored_quantity("outcome_sd")
        return EFFECT_MARGIN * float(sd["value"]), EFFECT_MARGIN * float(sd["se"])

    def sign(self, kind: str) -> str:
        """Return "+", "-", or "0" (zero by the graph). Raises Unusable inside the margin."""
        stored = self.stored_quantity(kind)
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
class SecondTruth:
    """A truth derived again: target, number (``value``, ``se``, ``source``) or None, abstaining."""

    target: Mapping[str, object] = field(default_factory=dict)
    number: Row | None = None
    abstain: bool = False


def audit_task(key: str, case: Case) -> Iterator[str]:
    """Yield, after its variant's key, each difference of a truth row from its derivation."""
    if key not in AUDITS:
        yield f"no second derivation for {key}"
        return
    try:
        derived = AUDITS[key](case)
    except Unusable as problem:
        yield f"{key}: {problem}"
        return
    # As JSON, because True is not 1 in a target.
    if canonical_json(case.target) != canonical_json(derived.target):
        yield f"{key}: target {case.target}, derived {derived.target}"
    told = [case.row[f"value{part}"] for part in ("", "_se", "_source")]
    expected = [None if derived.number is None else derived.number[part] for part in _NUMBER]
    if told != expected:
        yield f"{key}: published {told}, the world has {expected}"
    stated = case.row["should_abstain"]
    if stated is not derived.abstain:
        yield f"{key}: should_abstain is {stated}, derived {derived.abstain}"


def _label_truth(*answers: object, abstain: bool = False) -> SecondTruth:
    return SecondTruth({"accepted": list(answers)}, abstain=abstain)


def _verdict(identifiable: bool) -> SecondTruth:
    return _label_truth(identifiable, abstain=not identifiable)


def _prediction(case: Case) -> SecondTruth:
    """Return kind, number and sd of the labels; a published sd that agrees is taken as it is."""
    kind = case.scene.record["variables"][case.scene.y]["kind"]
    if case.labels is None or case.labels["kind"] != kind:
        raise Unusable(f"the scene has no {kind} labels")
    values = [float(value) for value in case.labels["values"]]
    sd, told = statistics.pstdev(values), case.target["sd"]
    agrees = abs(sd - told) <= _ROUNDING * (1 + sd)
    return SecondTruth({"kind": kind, "rows": len(values), "sd": told if agrees else sd})


def _spellings(sign: str) -> list[str]:
    """Return the accepted labels of an association's sign: a zero may also be called unknown."""
    return [sign, "unknown"] if sign == "0" else [sign]


def _before_after(case: Case) -> SecondTruth:
    before, after = (_spellings(case.sign(kind)) for kind in ("association", "partial"))
    return SecondTruth({"accepted_before": before, "accepted_after": after})


def _argmax(case: Case) -> SecondTruth:
    """Return the variable given which the association changes most in size, by a clear lead."""
    nodes, changes = case.scene.other_nodes()[:_NAMED], case.scene.record["quantities"]["change"]
    order = sorted(nodes, key=lambda node: abs(changes[node]["value"]), reverse=True)
    lead, error = 0.0, 0.0
    if len(order) > 1:
        first, second = (changes[node] for node in order[:2])
        # One sample behind both: at worst their errors pull apart.
        lead, error = abs(first["value"]) - abs(second["value"]), first["se"] + second["se"]
    if not _clear(lead - case.margin(*nodes), error):
        raise Unusable(f"asked although the changes are {[changes[node] for node in order]}")
    return _label_truth(case.scene.names[order[0]])


def _edges(case: Case) -> SecondTruth:
    names = case.scene.names
    edges = sorted([names[a], names[b]] for a, b in case.scene.graph.edges)
    return SecondTruth({"nodes": sorted(names.values()), "edges": edges})


def _method(case: Case) -> SecondTruth:
    scene = case.scene
    label = audit_graph.method_label(scene.graph, scene.x, scene.y, scene.latent)
    return _label_truth(label, abstain=label == "none")


def _category(scene: StoredScene) -> str:
    """Return "set", or without a valid set "no_backdoor" or (ATE unidentifiable) "non_id"."""
    if not nx.has_path(scene.graph, scene.x, scene.y):
        raise Unusable("asked although no directed path leads from treatment to outcome")
    if scene.valid_sets:
        return "set"
    return "no_backdoor" if scene.verdicts["ate"] else "non_id"


def _sets(case: Case, found: Sequence[frozenset[str]]) -> SecondTruth:
    """Return the truth about adjustment sets: ``found`` by story name, and the category."""
    word = _category(case.scene)
    sets = sorted(_story_names(case.scene, one) for one in found)
    return SecondTruth({"category": word, "sets": sets}, abstain=word == "non_id")


def _count_truth(case: Case, count: int, *without: int) -> SecondTruth:
    """Return a truth that accepts ``count`` with valid sets, else the word for why there is none,
    or ``without`` where the effect is identifiable all the same."""
    word = _category(case.scene)
    right = {"set": (count,), "no_backdoor": (word, *without), "non_id": (word,)}[word]
    return _label_truth(*right, abstain=word == "non_id")


def _forbidden(case: Case) -> SecondTruth:
    """Return the observed variables in no valid set, by story name, none without valid sets."""
    valid, word = case.scene.valid_sets, _category(case.scene)
    unused = frozenset(case.scene.other_nodes()).difference(*valid)
    names = _story_names(case.scene, unused) if valid else []
    return SecondTruth({"category": word, "names": names}, abstain=word == "non_id")


def _story_names(scene: StoredScene, nodes: Iterable[str]) -> list[str]:
    return sorted(scene.names[node] for node in nodes)


def _effect(case: Case, name: str) -> SecondTruth:
    """Return an effect's number, or abstaining. Raises :class:`Unusable` where it is near 0."""
    if not case.scene.verdicts[name]:
        return SecondTruth(abstain=True)
    case.sign(name)  # an effect that the graph allows must be there between the printed levels
    return SecondTruth(number=case.stored_quantity(name))


def _effect_sign(case: Case, name: str) -> SecondTruth:
    if not case.scene.verdicts[name]:
        return _label_truth("unknown", abstain=True)
    return _label_truth(case.sign(name))


def _match(case: Case) -> SecondTruth:
    associated = case.sign("association")
    if not case.scene.verdicts["ate"]:
        return _label_truth(None, abstain=True)
    return _label_truth(case.sign("ate") == associated != "0")


def _dominance(case: Case) -> SecondTruth:
    """Return "direct", "indirect" or "tie", None if one of the effects is unidentifiable."""
    if not all(case.scene.verdicts[name] for name in ("nde", "nie")):
        return _label_truth(None, abstain=True)
    found = {name: case.stored_quantity(name) for name in ("nde", "nie")}
    direct, indirect = (abs(one["value"]) for one in found.values())
    larger, smaller = ("nde", "nie") if direct > indirect else ("nie", "nde")
    edge = abs(direct - indirect) - _TIE * max(direct, indirect)
    margin, error = case.effect_margin()
    errors = (1 - _TIE) * found[larger]["se"], found[smaller]["se"], error
    if not _clear(abs(edge) - margin + 2e-6, *errors):
        raise Unusable(f"asked although |NDE| = {direct:.4f} and |NIE| = {indirect:.4f}")
    return _label_truth("tie" if edge <= 0 else "direct" if direct > indirect else "indirect")


_DERIVATIONS: Final[Mapping[str, Callable[[Case], SecondTruth]]] = {
    "prediction.point_predictor": _prediction,
    "prediction.prediction_interval": _prediction,
    "association.sign_only": lambda case: _label_truth(*_spellings(case.sign("association"))),
    "association.effect_size_point": lambda case: SecondTruth(
        number=case.stored_quantity("association")
    ),
    "association.sign_before_after": _before_after,
    "association.delta_point": lambda case: SecondTruth(number=case.stored_quantity("change")),
    "association.delta_sign_only": lambda case: _label_truth(case.sign("change")),
    "association.argmax_change": _argmax,
    "collider_phenomenon.induced_association_boolean": lambda case: _label_truth(
        case.sign("partial") != "0"
    ),
    "collider_phenomenon.induced_association_sign_only": lambda case: _label_truth(
        *_spellings(case.sign("partial"))
    ),
    "collider_phenomenon.induced_association_strength_point": lambda case: SecondTruth(
        number=case.stored_quantity("partial")
    ),
    "causal_sketch.edges_only": _edges,
    "causal_sketch.skeleton_edges": _edges,
    "identification.method_label": _method,
    "identification.identifiable_boolean": lambda case: _verdict(case.scene.verdicts["ate"]),
    "counterfactual_identification.identifiable_boolean": lambda case: _verdict(
        case.scene.verdicts[case.detail.lower()]
    ),
    "identification.one_valid_adjustment_set": lambda case: _sets(case, case.scene.valid_sets),
    "identification.all_minimal_adjustment_sets": lambda case: _sets(
        case, audit_graph.minimal_sets(case.scene.valid_sets)
    ),
    "identification.minimal_adjustment_set_size": lambda case: _count_truth(
        case, min(map(len, case.scene.valid_sets), default=0)
    ),
    "identification.n_valid_adjustment_sets": lambda case: _count_truth(
        case, len(case.scene.valid_sets), 0
    ),
    "bias_diagnostic.forbidden_controls_list": _forbidden,
    "bias_diagnostic.collider_bias_boolean": lambda case: _label_truth(
        audit_graph.opens_path(case.scene.graph, case.scene.x, case.scene.y, case.detail)
    ),
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
    _DERIVATIONS, KEYS, "second derivation", "builder/tracks/causalds/check/tasks.py"
)
"""By variant: the second derivation of the truth of one row. Raises :class:`Unusable`."""
