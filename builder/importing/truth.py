"""The published truth of a task of each of the 33 variants, as a truth of ours.

A label truth is the set of answers that the reference's rule accepts: two where an effect lies
inside its zero band, |t| <= 3 sd(Y) / sqrt(n) over the training rows, else one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from builder.importing.files import Document
from builder.importing.item import Item, PublishedScene
from grader.io.jsonio import clip
from grader.tracks.causalds.shapes import ASSOCIATION_SIGNS, METHODS

_CHANGE_TOLERANCE: Final = 1e-6
_TIE_SHARE: Final = 0.05
_EFFECT_FAMILIES: Final = ("effect_estimate", "counterfactual_effect", "mediation_effect")
_VALUE: Final = {
    "ate": ("causal", "true_ate", "value"),
    "ett": ("ett", "value"),
    "nde": ("nde", "value"),
    "nie": ("nie", "value"),
}


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
            return _prediction(item)
        case "edges":
            return Answer({"nodes": item.scene.nodes, "edges": item.scene.edges})
        case "signs":
            entry = _conditioning(item)
            found = {
                f"accepted_{when}": [entry.one_of(ASSOCIATION_SIGNS, f"sign_{when}")]
                for when in ("before", "after")
            }
            return Answer(found)
        case "number":
            return Answer(value=_number(item))
        case _:
            return _label(item)


def _sets(item: Item) -> Answer:
    """Return the truth of a variant about adjustment sets, from the published list of valid ones.

    If the list is empty the category is ``non_id`` where the effect is not identifiable, which is
    abstaining, and ``no_backdoor`` elsewhere. The kind of answer decides the target: any valid set,
    the smallest ones, names that no set may hold, or a number.
    """
    truth, place = item.scene.truth, ("causal", "valid_backdoor_sets_named")
    raw = truth.need(*place)
    if not isinstance(raw, list) or not all(isinstance(one, list) for one in raw):
        raise truth.problem(place, f"{clip(raw)} is no list of lists")
    sets = sorted({tuple(sorted({*map(str, one)})) for one in raw})
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
            forbidden = {name for part in parts for name in truth.names(*named, part)}
            return Answer({"category": category, "names": sorted(forbidden)}, None, abstain)
    minimum = item.spec.name == "minimal_adjustment_set_size"
    if sets:
        return Answer({"accepted": [smallest if minimum else len(sets)]})
    none = [category] if minimum or abstain else [category, 0]
    return Answer({"accepted": none}, None, abstain)


def _identifiable(scene: PublishedScene, effect: str) -> bool:
    """Tell whether the reference calls ``ate``, ``ett``, ``nde`` or ``nie`` identifiable."""
    if effect == "ate":
        return scene.truth.flag("causal", "identification_named", "identifiable")
    return scene.truth.flag("counterfactual_identification", effect, "identifiable")


def _value(scene: PublishedScene, effect: str) -> float:
    """Return the published value of an effect: ``ate``, ``ett``, ``nde`` or ``nie``."""
    return scene.truth.number(*_VALUE[effect])


def _effect(item: Item) -> Answer:
    """Return the truth about effects. It abstains where one that is asked about is not
    identifiable. Else it is a number, a sign, "direct" and so on, or true or false."""
    scene, shape = item.scene, item.spec.shape
    if not all(_identifiable(scene, effect) for effect in item.effects):
        numeric = shape.kind in ("number", "interval")
        target = {} if numeric else {"accepted": [shape.abstention]}
        return Answer(target, should_abstain=True)
    match shape.name:
        case "identifiable":
            return Answer({"accepted": [True]})
        case "dominant":
            return Answer({"accepted": [_dominant(scene)]})
        case "matches":
            return Answer({"accepted": [_matches(scene)]})
        case "effect_sign":
            return Answer({"accepted": _signs(scene, *item.effects)})
        case _:
            return Answer(value=_value(scene, *item.effects))


def _signs(scene: PublishedScene, effect: str) -> list[str]:
    """Return an effect's right signs: its own, inside the zero band also "0"."""
    value = _value(scene, effect)
    rows = scene.truth.number("outcome_stats", "n_train")
    if rows <= 0:
        raise scene.truth.problem(("outcome_stats", "n_train"), "is no number of rows")
    band = 3 * scene.truth.number("outcome_stats", "std") / math.sqrt(rows)
    own = _sign(value)
    return list(dict.fromkeys(["0", own])) if abs(value) <= band else [own]


def _sign(value: float) -> str:
    """Return the sign of a number as "+", "-" or "0"."""
    return "+" if value > 0 else "-" if value < 0 else "0"


def _matches(scene: PublishedScene) -> bool:
    """Tell whether effect and association have one sign; inside the zero band there is none."""
    sign = _signs(scene, "ate")[0]
    return sign != "0" and sign == scene.truth.one_of(ASSOCIATION_SIGNS, "association", "sign")


def _dominant(scene: PublishedScene) -> str:
    """Return the larger natural effect in size, "tie" within 5% of the larger."""
    direct, indirect = abs(_value(scene, "nde")), abs(_value(scene, "nie"))
    if abs(direct - indirect) <= 1e-6 + _TIE_SHARE * max(direct, indirect):
        return "tie"
    return "direct" if direct > indirect else "indirect"


def _prediction(item: Item) -> Answer:
    """Return kind, standard deviation and number of the held-out labels."""
    kind, labels = item.scene.outcome_kind, item.scene.labels
    if item.spec.name == "prediction_interval" and kind == "binary":
        raise item.document.problem(("output_variant",), "asks intervals for a binary outcome")
    return Answer({"kind": kind, "sd": float(labels.std()), "rows": len(labels)})


def _number(item: Item) -> float:
    """Return a number that needs no identifiability: an association, its change by conditioning, or
    one given a collider."""
    match item.spec.name:
        case "effect_size_point":
            return item.scene.truth.number("association", "value")
        case "delta_point":
            return _change(_conditioning(item))
        case _:
            return _explaining_away(item).number("value_conditional")


def _label(item: Item) -> Answer:
    """Return the truth of a variant that is answered with a word, a name, or true or false."""
    truth = item.scene.truth
    found: str | bool
    match item.spec.name:
        case "method_label":
            if not _identifiable(item.scene, "ate"):
                return Answer({"accepted": [item.spec.shape.abstention]}, should_abstain=True)
            found = truth.one_of(METHODS[:-1], "causal", "identification_named", "method")
        case "sign_only":
            found = truth.one_of(ASSOCIATION_SIGNS, "association", "sign")
        case "delta_sign_only":
            delta = _change(_conditioning(item))
            found = "0" if abs(delta) <= _CHANGE_TOLERANCE else _sign(delta)
        case "argmax_change":
            # The one name that the published rule compares letter by letter.
            return Answer({"accepted": [_largest_change(item)], "verbatim": True})
        case "induced_association_boolean":
            found = _explaining_away(item).flag("association_present")
        case "induced_association_sign_only":
            found = _explaining_away(item).one_of(ASSOCIATION_SIGNS, "sign")
        case "collider_bias_boolean":
            found = _about_collider(item, "collider_bias", "collider").flag("bias_present")
        case other:
            raise ValueError(f"no truth is known of the variant {other}")
    return Answer({"accepted": [found]})


def _conditional(item: Item, node: str | None) -> Document:
    """Return the published entry on the association given the node with raw id ``node``, or
    raise ``UsageError``."""
    truth, table = item.scene.truth, "conditional_associations_by_id"
    return truth.child(truth.need(table, str(node)), table, str(node))


def _conditioning(item: Item) -> Document:
    """Return the conditional association for the one variable that a task conditions on."""
    return _conditional(item, item.variable("conditioning_var")[0])


def _change(entry: Document) -> float:
    """Return the association after conditioning minus the one before."""
    return entry.number("value_after") - entry.number("value_before")


def _largest_change(item: Item) -> str:
    """Return the candidate that changes the association most in size, by name; least id in ties."""
    offered = sorted(item.candidates)
    if not offered:
        raise item.document.problem(("inputs", "conditioning_var_ids"), "is empty")
    _, best = max(offered, key=lambda pair: abs(_change(_conditional(item, pair[0]))))
    return best


def _explaining_away(item: Item) -> Document:
    """Return the entry on the association that the task's collider induces."""
    return _about_collider(item, "explaining_away", "collider_id")


def _about_collider(item: Item, table: str, key: str) -> Document:
    """Return the entry of ``table`` with the task's collider as ``key``, or UsageError."""
    node, name = item.variable("collider")
    entries = item.scene.truth.get(table)
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, Mapping) and entry.get(key) == node:
            return item.scene.truth.child(entry, f"{table}[{place}]")
    raise item.scene.truth.problem((table,), f"has no entry about {clip(name)}")
