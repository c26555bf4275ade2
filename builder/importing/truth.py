"""The published truth of a task of each of the 33 variants, as a truth of ours.

A label truth is the set of answers that the reference's rule accepts: two where an effect lies
inside its zero band, |t| <= 3 sd(Y) / sqrt(n) over the training rows, else one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from builder.importing.reference import (
    FLAG,
    LISTS,
    NAMES,
    NUMBER,
    PAIRS,
    Document,
    Item,
    PublishedScene,
)
from grader.io.jsonio import clip
from grader.tracks.causalds.shapes import ASSOCIATION_SIGNS, METHODS

_CHANGE_TOLERANCE: Final = 1e-6
_TIE_SHARE: Final = 0.05
_EFFECT_FAMILIES: Final = ("effect_estimate", "counterfactual_effect", "mediation_effect")


@dataclass(frozen=True, slots=True)
class Answer:
    """The right answer: ``value`` if a number, ``target`` all else, or ``should_abstain``."""

    target: Mapping[str, Any] = field(default_factory=dict)
    value: float | None = None
    should_abstain: bool = False


def published_answer(item: Item) -> Answer:
    """Return a task's truth by the reference's rules from its scene, or ``UsageError``."""
    if item.spec.family in _EFFECT_FAMILIES or item.spec.name == "identifiable_boolean":
        return _effect(item)
    match item.spec.shape.kind:
        case "set" | "sets" | "names" | "count":
            return _sets(item)
        case "predictions":
            kind, labels = item.scene.outcome_kind, item.scene.labels
            if item.spec.name == "prediction_interval" and kind == "binary":
                what = "asks intervals for a binary outcome"
                raise item.document.problem(("output_variant",), what)
            return Answer({"kind": kind, "sd": float(labels.std()), "rows": len(labels)})
        case "edges":
            truth = item.scene.truth
            nodes = truth.read(NAMES, "graph", "nodes_named")
            return Answer({"nodes": nodes, "edges": truth.read(PAIRS, "graph", "edges_named")})
        case "signs":
            entry = _conditioning(item)
            before, after = (
                entry.one_of(ASSOCIATION_SIGNS, f"sign_{x}") for x in ("before", "after")
            )
            return Answer({"accepted_before": [before], "accepted_after": [after]})
        case _:
            return _label(item)


def _sets(item: Item) -> Answer:
    """Return the truth of a variant about adjustment sets, from the published list of valid ones.

    Without any the category is ``non_id``, which abstains, or else ``no_backdoor``."""
    truth = item.scene.truth
    raw = truth.read(LISTS, "causal", "valid_backdoor_sets_named")
    sets = sorted({tuple(sorted({*one})) for one in raw})
    abstain = not sets and not _identifiable(item.scene, "ate")
    category = "set" if sets else "non_id" if abstain else "no_backdoor"
    smallest = min(map(len, sets), default=0)
    match item.spec.shape.kind:
        case "set":
            return Answer({"category": category, "sets": [*map(list, sets)]}, None, abstain)
        case "sets":
            minimal = [list(one) for one in sets if len(one) == smallest]
            return Answer({"category": category, "sets": minimal}, None, abstain)
        case "names":
            named = ("causal", "forbidden_conditioning_named")
            parts = ("colliders", "descendants") if sets else ()
            forbidden = {name for part in parts for name in truth.read(NAMES, *named, part)}
            return Answer({"category": category, "names": sorted(forbidden)}, None, abstain)
    minimum = item.spec.name == "minimal_adjustment_set_size"
    if sets:
        return Answer({"accepted": [smallest if minimum else len(sets)]})
    none = [category] if minimum or abstain else [category, 0]
    return Answer({"accepted": none}, None, abstain)


def _identifiable(scene: PublishedScene, effect: str) -> bool:
    if effect == "ate":
        return scene.truth.read(FLAG, "causal", "identification_named", "identifiable")
    return scene.truth.read(FLAG, "counterfactual_identification", effect, "identifiable")


def _value(scene: PublishedScene, effect: str) -> float:
    place = ("causal", "true_ate") if effect == "ate" else (effect,)
    return scene.truth.read(NUMBER, *place, "value")


def _effect(item: Item) -> Answer:
    """Return the truth about effects; it abstains where one of them is not identifiable."""
    scene, shape = item.scene, item.spec.shape
    if not all(_identifiable(scene, effect) for effect in item.effects):
        numeric = shape.kind in ("number", "interval")
        target = {} if numeric else {"accepted": [shape.abstention]}
        return Answer(target, should_abstain=True)
    match shape.name:
        case "identifiable":
            return Answer({"accepted": [True]})
        case "dominant":
            direct, indirect = (abs(_value(scene, effect)) for effect in item.effects)
            larger = "direct" if direct > indirect else "indirect"
            tie = abs(direct - indirect) <= 1e-6 + _TIE_SHARE * max(direct, indirect)
            return Answer({"accepted": ["tie" if tie else larger]})
        case "matches":
            # Inside the zero band an effect has no sign.
            sign = _signs(scene, "ate")[0]
            associated = scene.truth.one_of(ASSOCIATION_SIGNS, "association", "sign")
            return Answer({"accepted": [sign != "0" and sign == associated]})
        case "effect_sign":
            return Answer({"accepted": _signs(scene, *item.effects)})
        case _:
            return Answer(value=_value(scene, *item.effects))


def _signs(scene: PublishedScene, effect: str) -> list[str]:
    """Return an effect's right signs: its own, inside the zero band also "0"."""
    value = _value(scene, effect)
    rows = scene.truth.read(NUMBER, "outcome_stats", "n_train")
    if rows <= 0:
        raise scene.truth.problem(("outcome_stats", "n_train"), "is no number of rows")
    band = 3 * scene.truth.read(NUMBER, "outcome_stats", "std") / math.sqrt(rows)
    own = _sign(value)
    return list(dict.fromkeys(["0", own])) if abs(value) <= band else [own]


def _sign(value: float) -> str:
    return "+" if value > 0 else "-" if value < 0 else "0"


def _label(item: Item) -> Answer:
    """Return the truth of a variant that is answered with a word, a name, a number or a boolean."""
    truth = item.scene.truth
    found: str | bool
    match item.spec.name:
        case "method_label":
            if not _identifiable(item.scene, "ate"):
                return Answer({"accepted": [item.spec.shape.abstention]}, should_abstain=True)
            found = truth.one_of(METHODS[:-1], "causal", "identification_named", "method")
        case "effect_size_point":
            return Answer(value=truth.read(NUMBER, "association", "value"))
        case "delta_point":
            return Answer(value=_change(_conditioning(item)))
        case "induced_association_strength_point":
            return Answer(value=_explaining_away(item).read(NUMBER, "value_conditional"))
        case "sign_only":
            found = truth.one_of(ASSOCIATION_SIGNS, "association", "sign")
        case "delta_sign_only":
            delta = _change(_conditioning(item))
            found = "0" if abs(delta) <= _CHANGE_TOLERANCE else _sign(delta)
        case "argmax_change":
            # Of equal changes that of the least id. The published rule compares letter by letter.
            offered = sorted(item.candidates)
            if not offered:
                raise item.document.problem(("inputs", "conditioning_var_ids"), "is empty")
            changes = {name: abs(_change(_conditional(item, node))) for node, name in offered}
            return Answer({"accepted": [max(changes, key=changes.__getitem__)], "verbatim": True})
        case "induced_association_boolean":
            found = _explaining_away(item).read(FLAG, "association_present")
        case "induced_association_sign_only":
            found = _explaining_away(item).one_of(ASSOCIATION_SIGNS, "sign")
        case "collider_bias_boolean":
            found = _about_collider(item, "collider_bias", "collider").read(FLAG, "bias_present")
        case other:
            raise ValueError(f"no truth is known of the variant {other}")
    return Answer({"accepted": [found]})


def _conditional(item: Item, node: str | None) -> Document:
    return item.scene.truth.child("conditional_associations_by_id", str(node))


def _conditioning(item: Item) -> Document:
    return _conditional(item, item.variable("conditioning_var")[0])


def _change(entry: Document) -> float:
    return entry.read(NUMBER, "value_after") - entry.read(NUMBER, "value_before")


def _explaining_away(item: Item) -> Document:
    return _about_collider(item, "explaining_away", "collider_id")


def _about_collider(item: Item, table: str, key: str) -> Document:
    """Return the entry of ``table`` with the task's collider as ``key``, or UsageError."""
    node, name = item.variable("collider")
    for entry in item.scene.truth.children(table):
        if entry.get(key) == node:
            return entry
    raise item.scene.truth.problem((table,), f"has no entry about {clip(name)}")
