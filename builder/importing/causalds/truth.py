"""The published truth of each of the 33 variants, as a truth of ours.

A label truth is the set of answers that the reference's rule accepts: two where an effect lies
inside its zero band, |t| <= 3 sd(Y) / sqrt(n) over the training rows, else one.
"""

import math
from dataclasses import dataclass
from typing import Final

from builder.importing.causalds.asked import Answer, AskedTask
from builder.importing.causalds.scene import PublishedScene
from builder.importing.files import Document
from grader.io.jsonio import clip
from grader.tracks.causalds.shapes import ASSOCIATION_SIGNS, METHODS

CHANGE_TOLERANCE: Final = 1e-6
TIE_SHARE: Final = 0.05
_VALUE: Final = {
    "ate": ("causal", "true_ate", "value"),
    "ett": ("ett", "value"),
    "nde": ("nde", "value"),
    "nie": ("nie", "value"),
}


def published(asked: AskedTask) -> Answer:
    """The truth of a task by the reference's rules; raises ``UsageError`` where it is absent."""
    if asked.about_sets:
        return set_answer(asked, published_sets(asked.scene))
    if asked.about_effects:
        return effect_answer(asked, PublishedEffects(asked.scene))
    match asked.spec.shape.kind:
        case "predictions":
            return _prediction(asked)
        case "edges":
            return Answer({"nodes": asked.scene.nodes, "edges": asked.scene.edges})
        case "signs":
            entry = conditioning(asked)
            found = {
                f"accepted_{when}": [entry.one_of(ASSOCIATION_SIGNS, f"sign_{when}")]
                for when in ("before", "after")
            }
            return Answer(found)
        case "number":
            return Answer(value=_number(asked))
        case _:
            return _label(asked)


@dataclass(frozen=True, slots=True)
class AdjustmentSets:
    """All valid sets, the smallest ones, what is in none; ``category`` says why there are none."""

    category: str
    valid: list[list[str]]
    minimal: list[list[str]]
    forbidden: list[str]


def published_sets(scene: PublishedScene) -> AdjustmentSets:
    """What the reference publishes."""
    place = ("causal", "valid_backdoor_sets_named")
    raw = scene.truth.need(*place)
    if not isinstance(raw, list) or not all(isinstance(one, list) for one in raw):
        raise scene.truth.problem(place, f"{clip(raw)} is no list of lists")
    sets = sorted({tuple(sorted({scene.name(str(name)) for name in one})) for one in raw})
    identifiable = bool(sets) or published_flag(scene, "ate")
    category = "set" if sets else "no_backdoor" if identifiable else "non_id"
    smallest = min(map(len, sets), default=0)
    forbidden: set[str] = set()
    for part in ("colliders", "descendants") if sets else ():
        named = ("causal", "forbidden_conditioning_named", part)
        if scene.truth.get(*named) is not None:
            forbidden |= {scene.name(name) for name in scene.truth.names(*named)}
    valid = [list(one) for one in sets]
    minimal = [one for one in valid if len(one) == smallest]
    return AdjustmentSets(category, valid, minimal, sorted(forbidden))


def set_answer(asked: AskedTask, sets: AdjustmentSets) -> Answer:
    """The truth of a variant about adjustment sets, from what there is of them."""
    category = sets.category
    abstain = category == "non_id"
    match asked.spec.shape.kind:
        case "set":
            return Answer({"category": category, "sets": sets.valid}, should_abstain=abstain)
        case "sets":
            return Answer({"category": category, "sets": sets.minimal}, should_abstain=abstain)
        case "names":
            return Answer({"category": category, "names": sets.forbidden}, should_abstain=abstain)
    sizes = [len(one) for one in sets.valid]
    number = min if asked.spec.name == "minimal_adjustment_set_size" else len
    if sizes:
        return Answer({"accepted": [number(sizes)]})
    none = [category, 0] if number is len and category == "no_backdoor" else [category]
    return Answer({"accepted": none}, should_abstain=abstain)


def published_flag(scene: PublishedScene, kind: str) -> bool:
    """The reference's verdict on the identifiability of an effect."""
    if kind == "ate":
        return scene.truth.flag("causal", "identification_named", "identifiable")
    return scene.truth.flag("counterfactual_identification", kind, "identifiable")


@dataclass(frozen=True)
class PublishedEffects:
    """Identifiability and values of the four effects, as the reference publishes them."""

    scene: PublishedScene

    def identifiable(self, kind: str) -> bool:
        """Whether the effect can be had from the observed variables."""
        return published_flag(self.scene, kind)

    def value(self, kind: str) -> float:
        """The effect, which must be there."""
        return self.scene.truth.number(*_VALUE[kind])


def effect_answer(asked: AskedTask, effects: PublishedEffects) -> Answer:
    """The truth of a variant about an effect or its identifiability."""
    kinds = asked.effects
    if not all(effects.identifiable(kind) for kind in kinds):
        return asked.abstention
    match asked.spec.shape.name:
        case "identifiable":
            return Answer({"accepted": [True]})
        case "dominant":
            return Answer({"accepted": [_dominant(effects)]})
        case "matches":
            return Answer({"accepted": [_matches(asked.scene, effects)]})
        case "effect_sign":
            return Answer({"accepted": _signs(asked.scene, effects, *kinds)})
        case _:
            return Answer(value=effects.value(*kinds))


def _signs(scene: PublishedScene, effects: PublishedEffects, kind: str) -> list[str]:
    """The signs that are right: inside the zero band both "0" and the value's own."""
    value = effects.value(kind)
    own = _sign(value)
    inside = abs(value) <= zero_band(scene)
    return list(dict.fromkeys(["0", own])) if inside else [own]


def _sign(value: float) -> str:
    return "+" if value > 0 else "-" if value < 0 else "0"


def zero_band(scene: PublishedScene) -> float:
    """Three standard errors of a mean of the outcome; 0 where it is not published."""
    if scene.truth.get("outcome_stats") is None:
        return 0.0
    rows = scene.truth.number("outcome_stats", "n_train")
    if rows <= 0:
        raise scene.truth.problem(("outcome_stats", "n_train"), "is no number of rows")
    return 3 * scene.truth.number("outcome_stats", "std") / math.sqrt(rows)


def _matches(scene: PublishedScene, effects: PublishedEffects) -> bool:
    """Whether effect and association have the same sign, + or -, the band counting as zero."""
    sign = _signs(scene, effects, "ate")[0]
    return sign != "0" and sign == scene.truth.one_of(ASSOCIATION_SIGNS, "association", "sign")


def _dominant(effects: PublishedEffects) -> str:
    direct, indirect = abs(effects.value("nde")), abs(effects.value("nie"))
    if abs(direct - indirect) <= 1e-6 + TIE_SHARE * max(direct, indirect):
        return "tie"
    return "direct" if direct > indirect else "indirect"


def _prediction(asked: AskedTask) -> Answer:
    scene = asked.scene
    if asked.spec.name == "prediction_interval" and scene.binary_outcome:
        raise asked.item.problem(("output_variant",), "asks intervals for a binary outcome")
    kind, labels = scene.outcome_kind, scene.labels
    return Answer({"kind": kind, "sd": float(labels.std()), "rows": len(labels)})


def _number(asked: AskedTask) -> float:
    """A number that has nothing to do with identifiability."""
    match asked.spec.name:
        case "effect_size_point":
            return asked.scene.truth.number("association", "value")
        case "delta_point":
            return change(conditioning(asked))
        case _:
            return _explained(asked).number("value_conditional")


def _label(asked: AskedTask) -> Answer:
    """One word, name or yes-or-no that is right."""
    truth = asked.scene.truth
    found: str | bool
    match asked.spec.name:
        case "method_label":
            if not published_flag(asked.scene, "ate"):
                return asked.abstention
            found = truth.one_of(METHODS[:-1], "causal", "identification_named", "method")
        case "sign_only":
            found = truth.one_of(ASSOCIATION_SIGNS, "association", "sign")
        case "delta_sign_only":
            delta = change(conditioning(asked))
            found = "0" if abs(delta) <= CHANGE_TOLERANCE else _sign(delta)
        case "argmax_change":
            # The one name that the published rule compares letter by letter.
            return Answer({"accepted": [_largest_change(asked)], "verbatim": True})
        case "induced_association_boolean":
            found = _explained(asked).flag("association_present")
        case "induced_association_sign_only":
            found = _explained(asked).one_of(ASSOCIATION_SIGNS, "sign")
        case "collider_bias_boolean":
            entry = _about_collider(asked, "collider_bias", "collider", "collider_named")
            found = entry.flag("bias_present")
        case other:
            raise ValueError(f"no truth is known of the variant {other}")
    return Answer({"accepted": [found]})


def conditional(asked: AskedTask, node: str | None, name: str | None) -> Document:
    """What conditioning on one variable does, found by its raw id, else by its story name."""
    truth = asked.scene.truth
    for table, key in (
        ("conditional_associations_by_id", node),
        ("conditional_associations_by_name", name),
    ):
        entry = truth.get(table, key) if key is not None else None
        if entry is not None:
            return truth.within(entry, table, str(key))
    listed = asked.scene.entry("conditional_associations", condition_var_id=node,
                               condition_var=name)  # fmt: skip
    if listed is None:
        raise truth.problem(("conditional_associations_by_id", str(node or name)), "is absent")
    return listed


def conditioning(asked: AskedTask) -> Document:
    """The entry of the one variable that a task conditions on."""
    return conditional(asked, *_asked_about(asked, "conditioning_var"))


def _asked_about(asked: AskedTask, role: str) -> tuple[str | None, str | None]:
    """(raw id, name) of a variable that a task is about, as it states them."""
    node, name = asked.item.get("inputs", f"{role}_id"), asked.item.get("inputs", role)
    if node is None and name is None:
        raise asked.item.problem(("inputs", f"{role}_id"), "is absent")
    return node, name


def change(entry: Document) -> float:
    """The association after conditioning minus that before."""
    return entry.number("value_after") - entry.number("value_before")


def candidates(asked: AskedTask) -> list[tuple[str, str]]:
    """(raw id, story name) of the variables on offer."""
    nodes = asked.item.names("inputs", "conditioning_var_ids")
    given = asked.item.get("inputs", "conditioning_vars")
    if isinstance(given, list) and len(given) == len(nodes):
        return list(zip(nodes, asked.item.names("inputs", "conditioning_vars"), strict=True))
    return [(node, asked.scene.name(node)) for node in nodes]


def _largest_change(asked: AskedTask) -> str:
    """The first of equals is the one whose raw id sorts first."""
    offered = sorted(candidates(asked))
    if not offered:
        raise asked.item.problem(("inputs", "conditioning_var_ids"), "is empty")
    _, best = max(offered, key=lambda pair: abs(change(conditional(asked, *pair))))
    return best


def collider_names(asked: AskedTask) -> tuple[str | None, str]:
    """(raw id, story name) of the collider that a task names."""
    node, name = _asked_about(asked, "collider")
    return node, asked.scene.name(str(name if name is not None else node))


def _explained(asked: AskedTask) -> Document:
    return _about_collider(asked, "explaining_away", "collider_id", "collider")


def _about_collider(asked: AskedTask, table: str, id_key: str, name_key: str) -> Document:
    """The entry about the task's collider, listed by its raw id or its story name."""
    node, name = collider_names(asked)
    entry = asked.scene.entry(table, **{id_key: node, name_key: name})
    if entry is None:
        raise asked.scene.truth.problem((table,), f"has no entry about {clip(name)}")
    return entry
