"""Ask what follows from the story alone: the causal graph, identifiability and covariate adjustment
(rungs 2 and 3; paper 3.4, A.16.2).

Valid sets follow the generalised adjustment criterion (``builder.graphs.identification``).
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import (
    forbidden_controls,
    identification_method,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.tracks.causalds.ask.wording import (
    Question,
    Truth,
    any_order,
    asks,
    bullets,
    effect_slots,
    ends,
)
from builder.tracks.causalds.design.eligibility import (
    adjustment_category,
    ate_is_identifiable,
    has_mediator,
    natural_verdicts,
)
from builder.tracks.causalds.make.scene import Scene


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
    observed = any_order(rng, scene.observed_names)
    truth = Truth({"accepted": [method]}, should_abstain=method == "none")
    slots = {"observed": bullets(observed)}
    yield Question({**ends(scene), "observed": observed}, truth, slots=slots)


@asks("identification.identifiable_boolean")
def identifiable_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask whether the average treatment effect is identifiable. False counts as abstaining."""
    observed, verdict = any_order(rng, scene.observed_names), ate_is_identifiable(scene.plan)
    truth = Truth({"accepted": [verdict]}, should_abstain=not verdict)
    slots = {**effect_slots(scene, "ATE"), "observed": bullets(observed)}
    yield Question({**ends(scene), "observed": observed}, truth, slots=slots)


@asks("counterfactual_identification.identifiable_boolean")
def counterfactual(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Ask, one by one, whether ETT and, with mediators, NDE and NIE are identifiable. False counts
    as abstaining."""
    observed = any_order(rng, scene.observed_names)
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
    """Return a question about valid adjustment sets with the truth ``target``. Where there is none,
    an answer holds a word in place of its ``place`` ("list" or "number"). Abstaining is right where
    the ATE is not identifiable."""
    available = any_order(rng, map(scene.name, scene.other_nodes))
    truth = Truth(dict(target), should_abstain=adjustment_category(scene.plan) == "non_id")
    slots = {"available": bullets(available or ["none"]), "place": place}
    return Question({**ends(scene), "available": available}, truth, slots=slots)
