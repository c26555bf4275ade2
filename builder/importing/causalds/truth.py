"""The published truth of each of the 33 variants, as a truth of ours.

A label truth is the set of answers that the reference's rule accepts: two where an effect lies
inside its zero band, |t| <= 3 sd(Y) / sqrt(n) over the training rows, else one.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from builder.importing.causalds.asked import Answer, AskedTask
from builder.importing.causalds.scene import PublishedScene
from builder.importing.files import Document
from grader.io.jsonio import clip
from grader.tracks.causalds.shapes import ASSOCIATION_SIGNS, METHODS

SET_VARIANTS: Final = frozenset(
    {
        "identification.one_valid_adjustment_set",
        "identification.minimal_adjustment_set_size",
        "identification.n_valid_adjustment_sets",
        "identification.all_minimal_adjustment_sets",
        "bias_diagnostic.forbidden_controls_list",
    }
)
CHANGE_TOLERANCE: Final = 1e-6
TIE_SHARE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Effects:
    """Identifiability and values of the four effects; published or corrected, the rules agree.

    ``value`` gives a number that must be there, ``exact_zero`` says that an effect is zero by the
    graph (never so in what is published).
    """

    identifiable: Callable[[str], bool]
    value: Callable[[str], float]
    exact_zero: Callable[[str], bool]


def published_effects(scene: PublishedScene) -> Effects:
    """What the reference publishes."""
    return Effects(
        lambda kind: published_flag(scene, kind),
        lambda kind: scene.truth.number(*_VALUE[kind]),
        lambda kind: False,
    )


_VALUE: Final = {
    "ate": ("causal", "true_ate", "value"),
    "ett": ("ett", "value"),
    "nde": ("nde", "value"),
    "nie": ("nie", "value"),
}


def published_flag(scene: PublishedScene, kind: str) -> bool:
    """The reference's verdict on the identifiability of an effect."""
    if kind == "ate":
        return scene.truth.flag("causal", "identification_named", "identifiable")
    return scene.truth.flag("counterfactual_identification", kind, "identifiable")


def published(asked: AskedTask) -> Answer:
    """The truth of a task by the reference's rules; raises ``UsageError`` where it is absent."""
    if asked.key in SET_VARIANTS:
        return set_answer(asked.key, *_published_sets(asked.scene))
    if asked.key in EFFECT_VARIANTS:
        return effect_answer(asked, published_effects(asked.scene))
    return _OTHERS[asked.key](asked)


def _published_sets(
    scene: PublishedScene,
) -> tuple[str, list[list[str]], list[list[str]], list[str]]:
    """Category, all valid sets, the smallest ones, and the forbidden controls."""
    place = ("causal", "valid_backdoor_sets_named")
    raw = scene.truth.need(*place)
    if not isinstance(raw, list) or not all(isinstance(one, list) for one in raw):
        raise scene.truth.problem(place, f"{clip(raw)} is no list of lists")
    sets = sorted({tuple(sorted({scene.name(str(name)) for name in one})) for one in raw})
    identifiable = bool(sets) or published_flag(scene, "ate")
    category = "set" if sets else "no_backdoor" if identifiable else "non_id"
    smallest = min(map(len, sets), default=0)
    forbidden: set[str] = set()
    if category == "set":
        for part in ("colliders", "descendants"):
            listed = scene.truth.get("causal", "forbidden_conditioning_named", part)
            if listed is None:
                continue
            names = scene.truth.names("causal", "forbidden_conditioning_named", part)
            forbidden |= {scene.name(name) for name in names}
    return (
        category,
        [list(one) for one in sets],
        [list(one) for one in sets if len(one) == smallest],
        sorted(forbidden),
    )


def set_answer(
    key: str,
    category: str,
    sets: list[list[str]],
    minimal: list[list[str]],
    forbidden: list[str],
) -> Answer:
    """The truth of a variant about adjustment sets, from what there is of them."""
    found = category == "set"
    target: dict[str, Any]
    match key.partition(".")[2]:
        case "one_valid_adjustment_set":
            target = {"category": category, "sets": sets if found else []}
        case "all_minimal_adjustment_sets":
            target = {"category": category, "sets": minimal if found else []}
        case "forbidden_controls_list":
            target = {"category": category, "names": forbidden if found else []}
        case "minimal_adjustment_set_size":
            target = {"accepted": [min(map(len, sets)) if found else category]}
        case _:
            none = ["no_backdoor", 0] if category == "no_backdoor" else [category]
            target = {"accepted": [len(sets)] if found else none}
    return Answer(target, should_abstain=category == "non_id")


EFFECT_VARIANTS: Final = frozenset(
    {
        "identification.identifiable_boolean",
        "counterfactual_identification.identifiable_boolean",
        *(
            f"effect_estimate.{name}"
            for name in ("ate_point", "ate_uq_95", "ate_sign_only", "ate_vs_assoc_sign_match")
        ),
        *(
            f"{family}.{name}"
            for family in ("counterfactual_effect", "mediation_effect")
            for name in ("effect_point", "effect_uq_95", "sign_only")
        ),
        "mediation_effect.direct_vs_indirect_dominance",
    }
)


def effect_answer(asked: AskedTask, effects: Effects) -> Answer:
    """The truth of a variant about an effect or its identifiability."""
    family, _, name = asked.key.partition(".")
    if name == "direct_vs_indirect_dominance":
        return _dominance(effects)
    kind = {"counterfactual_effect": "ett"}.get(family) or (
        "ate" if family in ("effect_estimate", "identification") else asked.kind
    )
    identifiable = effects.identifiable(kind)
    if name == "identifiable_boolean":
        return Answer({"accepted": [identifiable]}, should_abstain=not identifiable)
    if name == "ate_vs_assoc_sign_match":
        if not identifiable:
            return Answer({"accepted": [None]}, should_abstain=True)
        return Answer({"accepted": [_matches(asked.scene, effects)]})
    if name in ("ate_sign_only", "sign_only"):
        if not identifiable:
            return Answer({"accepted": ["unknown"]}, should_abstain=True)
        return Answer({"accepted": _signs(asked.scene, effects, kind)})
    if not identifiable:
        return Answer(should_abstain=True)
    return Answer(value=effects.value(kind))


def _signs(scene: PublishedScene, effects: Effects, kind: str) -> list[str]:
    """The signs that are right: inside the zero band both "0" and the value's own."""
    if effects.exact_zero(kind):
        return ["0"]
    value = effects.value(kind)
    own = "+" if value > 0 else "-" if value < 0 else "0"
    inside = abs(value) <= zero_band(scene)
    return list(dict.fromkeys(["0", own])) if inside else [own]


def zero_band(scene: PublishedScene) -> float:
    """Three standard errors of a mean of the outcome; 0 where it is not published."""
    if scene.truth.get("outcome_stats") is None:
        return 0.0
    rows = scene.truth.number("outcome_stats", "n_train")
    if rows <= 0:
        raise scene.truth.problem(("outcome_stats", "n_train"), "is no number of rows")
    return 3 * scene.truth.number("outcome_stats", "std") / math.sqrt(rows)


def _matches(scene: PublishedScene, effects: Effects) -> bool:
    """Whether effect and association have the same sign, + or -, the band counting as zero."""
    sign = _signs(scene, effects, "ate")[0]
    return sign != "0" and sign == scene.truth.one_of(ASSOCIATION_SIGNS, "association", "sign")


def _dominance(effects: Effects) -> Answer:
    if not (effects.identifiable("nde") and effects.identifiable("nie")):
        return Answer({"accepted": [None]}, should_abstain=True)
    direct, indirect = abs(effects.value("nde")), abs(effects.value("nie"))
    if abs(direct - indirect) <= 1e-6 + TIE_SHARE * max(direct, indirect):
        return Answer({"accepted": ["tie"]})
    return Answer({"accepted": ["direct" if direct > indirect else "indirect"]})


def _prediction(asked: AskedTask) -> Answer:
    scene = asked.scene
    if asked.key == "prediction.prediction_interval" and scene.binary_outcome:
        raise asked.item.problem(("output_variant",), "asks intervals for a binary outcome")
    return Answer(
        {
            "kind": "binary" if scene.binary_outcome else "continuous",
            "sd": float(scene.labels.std()),
            "rows": len(scene.labels),
        }
    )


def _association_sign(asked: AskedTask) -> Answer:
    return Answer(
        {"accepted": [asked.scene.truth.one_of(ASSOCIATION_SIGNS, "association", "sign")]}
    )


def _association_value(asked: AskedTask) -> Answer:
    return Answer(value=asked.scene.truth.number("association", "value"))


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
    entry_found = asked.scene.entry(
        "conditional_associations", condition_var_id=node, condition_var=name
    )
    if entry_found is None:
        raise truth.problem(("conditional_associations_by_id", str(node or name)), "is absent")
    return entry_found


def conditioning(asked: AskedTask) -> Document:
    """The entry of the one variable that a task conditions on."""
    node, name = (
        asked.item.get("inputs", "conditioning_var_id"),
        asked.item.get("inputs", "conditioning_var"),
    )
    if node is None and name is None:
        raise asked.item.problem(("inputs", "conditioning_var_id"), "is absent")
    return conditional(asked, node, name)


def _signs_before_after(asked: AskedTask) -> Answer:
    entry = conditioning(asked)
    return Answer(
        {
            "accepted_before": [entry.one_of(ASSOCIATION_SIGNS, "sign_before")],
            "accepted_after": [entry.one_of(ASSOCIATION_SIGNS, "sign_after")],
        }
    )


def change(entry: Document) -> float:
    """The association after conditioning minus that before."""
    return entry.number("value_after") - entry.number("value_before")


def _delta(asked: AskedTask) -> Answer:
    return Answer(value=change(conditioning(asked)))


def _delta_sign(asked: AskedTask) -> Answer:
    delta = change(conditioning(asked))
    sign = "0" if abs(delta) <= CHANGE_TOLERANCE else "+" if delta > 0 else "-"
    return Answer({"accepted": [sign]})


def candidates(asked: AskedTask) -> list[tuple[str, str]]:
    """(raw id, story name) of the variables on offer."""
    nodes = asked.item.names("inputs", "conditioning_var_ids")
    given = asked.item.get("inputs", "conditioning_vars")
    if isinstance(given, list) and len(given) == len(nodes):
        return list(zip(nodes, asked.item.names("inputs", "conditioning_vars"), strict=True))
    return [(node, asked.scene.name(node)) for node in nodes]


def _largest_change(asked: AskedTask) -> Answer:
    """The first of equals is the one whose raw id sorts first."""
    offered = sorted(candidates(asked))
    if not offered:
        raise asked.item.problem(("inputs", "conditioning_var_ids"), "is empty")
    changes = {node: abs(change(conditional(asked, node, name))) for node, name in offered}
    _, best = max(offered, key=lambda pair: changes[pair[0]])
    return Answer({"accepted": [best]})


def collider_names(asked: AskedTask) -> tuple[str | None, str]:
    """(raw id, story name) of the collider that a task names."""
    node = asked.item.get("inputs", "collider_id")
    name = asked.item.get("inputs", "collider")
    if node is None and name is None:
        raise asked.item.problem(("inputs", "collider_id"), "is absent")
    return node, asked.scene.name(str(name if name is not None else node))


def _explained(asked: AskedTask) -> Document:
    node, name = collider_names(asked)
    entry = asked.scene.entry("explaining_away", collider_id=node, collider=name)
    if entry is None:
        raise asked.scene.truth.problem(("explaining_away",), f"has no entry about {clip(name)}")
    return entry


def _induced(asked: AskedTask) -> Answer:
    return Answer({"accepted": [_explained(asked).flag("association_present")]})


def _induced_sign(asked: AskedTask) -> Answer:
    return Answer({"accepted": [_explained(asked).one_of(ASSOCIATION_SIGNS, "sign")]})


def _induced_value(asked: AskedTask) -> Answer:
    return Answer(value=_explained(asked).number("value_conditional"))


def _collider_bias(asked: AskedTask) -> Answer:
    node, name = collider_names(asked)
    entry = asked.scene.entry("collider_bias", collider=node, collider_named=name)
    if entry is None:
        raise asked.scene.truth.problem(("collider_bias",), f"has no entry about {clip(name)}")
    return Answer({"accepted": [entry.flag("bias_present")]})


def _sketch(asked: AskedTask) -> Answer:
    return Answer({"nodes": asked.scene.nodes, "edges": asked.scene.edges})


def _method(asked: AskedTask) -> Answer:
    if not published_flag(asked.scene, "ate"):
        return Answer({"accepted": ["none"]}, should_abstain=True)
    place = ("causal", "identification_named", "method")
    return Answer({"accepted": [asked.scene.truth.one_of(METHODS[:-1], *place)]})


_OTHERS: Final[Mapping[str, Callable[[AskedTask], Answer]]] = {
    "prediction.point_predictor": _prediction,
    "prediction.prediction_interval": _prediction,
    "association.sign_only": _association_sign,
    "association.effect_size_point": _association_value,
    "association.sign_before_after": _signs_before_after,
    "association.delta_point": _delta,
    "association.delta_sign_only": _delta_sign,
    "association.argmax_change": _largest_change,
    "collider_phenomenon.induced_association_boolean": _induced,
    "collider_phenomenon.induced_association_sign_only": _induced_sign,
    "collider_phenomenon.induced_association_strength_point": _induced_value,
    "causal_sketch.edges_only": _sketch,
    "causal_sketch.skeleton_edges": _sketch,
    "identification.method_label": _method,
    "bias_diagnostic.collider_bias_boolean": _collider_bias,
}
