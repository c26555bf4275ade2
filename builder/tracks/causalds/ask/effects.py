"""Ask about the graph, identifiability, adjustment and effects (rungs 2 and 3; paper 3.4, A.9).

The graph, identifiability and adjustment follow from the story alone. Average effects and effects
on the treated are asked about without a directed path, too: their value is 0, their sign "0". The
NDE is asked about where the treatment affects the outcome directly, the NIE where something lies
between. Neither is then zero by the graph.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from builder.equations.quantities import EFFECT_MARGIN, TIE_BAND, clear_dominance, clear_effect_sign
from builder.graphs.graph import LatentDAG
from builder.graphs.identification import (
    forbidden_controls,
    identification_method,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.tracks.causalds.ask.association import clear_label
from builder.tracks.causalds.ask.wording import (
    Question,
    Truth,
    any_order,
    asks,
    bullets,
    effect_slots,
    ends,
    number,
    percent,
)
from builder.tracks.causalds.design.eligibility import (
    adjustment_category,
    ate_is_identifiable,
    has_direct_effect,
    has_mediator,
    natural_verdicts,
)
from builder.tracks.causalds.make.scene import Scene
from grader.tracks.causalds.shapes import EFFECT_ALPHA


@asks("causal_sketch.edges_only")
def edges_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for all direct effects between variables, unmeasured ones included, as directed edges."""
    graph = scene.motif.graph
    target = {
        "nodes": sorted(scene.name(node) for node in graph.nodes),
        "edges": sorted([scene.name(a), scene.name(b)] for a, b in graph.edges),
    }
    inputs = {"variables": len(graph.nodes)}
    yield Question(inputs, Truth(target), slots=inputs)


asks("causal_sketch.skeleton_edges")(edges_only)  # all pairs with a direct effect in some direction


@asks("identification.method_label")
def method_label(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the first of five identification methods that applies to the ATE. "none" abstains."""
    method = identification_method(*scene.motif.effect)
    observed = any_order(rng, map(scene.name, scene.rows))
    truth = Truth({"accepted": [method]}, should_abstain=method == "none")
    slots = {"observed": bullets(observed)}
    yield Question({**ends(scene), "observed": observed}, truth, slots=slots)


@asks("identification.identifiable_boolean")
def identifiable_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask whether the average treatment effect is identifiable. False counts as abstaining."""
    observed, verdict = any_order(rng, map(scene.name, scene.rows)), ate_is_identifiable(scene.plan)
    truth = Truth({"accepted": [verdict]}, should_abstain=not verdict)
    slots = {**effect_slots(scene, "ATE"), "observed": bullets(observed)}
    yield Question({**ends(scene), "observed": observed}, truth, slots=slots)


@asks("counterfactual_identification.identifiable_boolean")
def counterfactual(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask, one by one, whether ETT and, with mediators, NDE and NIE are identifiable. False counts
    as abstaining."""
    observed = any_order(rng, map(scene.name, scene.rows))
    x0, x1 = scene.truths.levels
    verdicts = {"ETT": scene.truths.ett is not None}
    verdicts |= natural_verdicts(scene.plan) if has_mediator(scene.plan) else {}
    for name, verdict in verdicts.items():
        inputs = {**ends(scene), "observed": observed, "x0": x0, "x1": x1, "estimand": name}
        truth = Truth({"accepted": [verdict]}, should_abstain=not verdict)
        slots = {**effect_slots(scene, name), "observed": bullets(observed)}
        yield Question(inputs, truth, name, slots)


def _adjustment_sets(
    find: Callable[[LatentDAG, str, str], tuple[frozenset[str], ...]],
    scene: Scene,
    rng: np.random.Generator,
) -> Iterator[Question]:
    """Ask for adjustment sets: the right ones are those that ``find`` returns, by story name."""
    sets = sorted(sorted(map(scene.name, one)) for one in find(*scene.motif.effect))
    target = {"category": adjustment_category(scene.plan), "sets": sets}
    yield _adjustment(scene, rng, target, place="list")


asks("identification.one_valid_adjustment_set")(partial(_adjustment_sets, valid_adjustment_sets))
asks("identification.all_minimal_adjustment_sets")(
    partial(_adjustment_sets, minimal_adjustment_sets)
)


@asks("identification.minimal_adjustment_set_size")
def minimal_adjustment_set_size(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the size of the smallest valid adjustment set, or the word for why there is none."""
    sizes = [len(found) for found in valid_adjustment_sets(*scene.motif.effect)]
    word = adjustment_category(scene.plan)
    target = {"accepted": [min(sizes) if word == "set" else word]}
    yield _adjustment(scene, rng, target, place="number")


@asks("identification.n_valid_adjustment_sets")
def n_valid_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the number of valid sets: 0 or "no_backdoor" if identifiable without one."""
    word = adjustment_category(scene.plan)
    count = len(valid_adjustment_sets(*scene.motif.effect))
    accepted = {"set": [count], "no_backdoor": ["no_backdoor", 0], "non_id": ["non_id"]}[word]
    yield _adjustment(scene, rng, {"accepted": accepted}, place="number")


@asks("bias_diagnostic.forbidden_controls_list")
def forbidden_controls_list(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the observed variables that are in no valid adjustment set."""
    word = adjustment_category(scene.plan)
    found = forbidden_controls(*scene.motif.effect) if word == "set" else ()
    target = {"category": word, "names": sorted(map(scene.name, found))}
    yield _adjustment(scene, rng, target, place="list")


def _adjustment(
    scene: Scene, rng: np.random.Generator, target: Mapping[str, object], *, place: str
) -> Question:
    """Return a question about valid sets; without one a word takes the ``place`` of the answer."""
    available = any_order(rng, map(scene.name, scene.other_nodes))
    truth = Truth(dict(target), should_abstain=adjustment_category(scene.plan) == "non_id")
    slots = {"available": bullets(available or ["none"]), "place": place}
    return Question({**ends(scene), "available": available}, truth, slots=slots)


def _ask(
    form: str, effects: Sequence[str], scene: Scene, rng: np.random.Generator
) -> Iterator[Question]:
    """Yield a question for each of ``effects``, as "point", "interval" or "sign" (``form``). The
    NDE is not asked without the edge."""
    for name in effects:
        if name == "NDE" and not has_direct_effect(scene.plan):
            continue
        natural, value = name in ("NDE", "NIE"), getattr(scene.truths, name.lower())
        inputs, truth = _inputs(scene), Truth(quantity=value, should_abstain=value is None)
        if natural:
            inputs["estimand"] = name
        if form == "interval":
            inputs["alpha"] = EFFECT_ALPHA
        if form == "sign":
            sd = scene.truths.outcome_sd
            label = "unknown" if value is None else clear_effect_sign(value, sd)
            truth = Truth({"accepted": [label]}, should_abstain=value is None)
        slots = {
            **_rule_slots(scene, name),
            "field": "ate" if name == "ATE" else "value",
            "level": percent(1 - EFFECT_ALPHA),
            "penalty": number(2 / EFFECT_ALPHA),
        }
        words = "effect.sign_of_natural" if natural and form == "sign" else f"effect.{form}"
        yield Question(inputs, truth, name if natural else "", slots, words)


for _family, _effects, _names in (
    ("effect_estimate", ("ATE",), ("ate_point", "ate_uq_95", "ate_sign_only")),
    ("counterfactual_effect", ("ETT",), ("effect_point", "effect_uq_95", "sign_only")),
    ("mediation_effect", ("NDE", "NIE"), ("effect_point", "effect_uq_95", "sign_only")),
):
    for _name, _form in zip(_names, ("point", "interval", "sign"), strict=True):
        asks(f"{_family}.{_name}")(partial(_ask, _form, _effects))


@asks("effect_estimate.ate_vs_assoc_sign_match")
def ate_vs_assoc_sign_match(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask whether association (its sign must be clear) and ATE have the same sign, and not 0.
    Abstaining is right where the ATE is not identifiable."""
    effect = scene.truths.ate
    associated, margin = clear_label(scene, scene.truths.association)
    caused = None if effect is None else clear_effect_sign(effect, scene.truths.outcome_sd)
    if associated is None:
        return
    right = None if effect is None else caused == associated != "0"
    truth = Truth({"accepted": [right]}, should_abstain=effect is None)
    slots = {**_rule_slots(scene, "ATE"), "margin": margin}
    yield Question(_inputs(scene), truth, slots=slots)


@asks("mediation_effect.direct_vs_indirect_dominance")
def direct_vs_indirect_dominance(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask which natural effect is larger in absolute value, or a tie, where that is clear.
    Abstaining is right unless both are identifiable."""
    nde, nie = scene.truths.nde, scene.truths.nie
    label = None
    if nde is not None and nie is not None:
        label = clear_dominance(nde, nie, scene.truths.outcome_sd)
        if label is None:
            return
    truth = Truth({"accepted": [label]}, should_abstain=nde is None or nie is None)
    slots = {
        **_rule_slots(scene, "NDE"),
        "name": "NDE or the NIE",
        "what": "the NDE and the NIE are",
        "band": percent(TIE_BAND),
    }
    yield Question(_inputs(scene), truth, slots=slots)


def _inputs(scene: Scene) -> dict[str, object]:
    x0, x1 = scene.truths.levels
    return {**ends(scene), "x0": x0, "x1": x1}


def _rule_slots(scene: Scene, name: str) -> dict[str, str]:
    return {**effect_slots(scene, name), "what": f"the {name} is", "sds": number(EFFECT_MARGIN)}
