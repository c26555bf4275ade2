"""Covariate adjustment from the story alone (rung 2; paper 3.4, A.16.2).

Valid sets follow the generalised adjustment criterion (``builder.causal.adjustment``).
"""

from collections.abc import Iterable, Iterator

import numpy as np

from builder.causal import (
    LatentDAG,
    forbidden_controls,
    identification_method,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.causalds.ask.identification import estimand
from builder.causalds.ask.registry import Question, Truth, asks, directed_path
from builder.causalds.ask.wording import (
    IDENTIFIABLE,
    READING,
    RIGHT_OR_WRONG,
    bullets,
    example,
    shuffled,
)
from builder.causalds.make.scene import Scene


@asks("identification.one_valid_adjustment_set", hosts=directed_path)
def one_valid_adjustment_set(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Any one valid set."""
    sets = _named(scene, valid_adjustment_sets(*_query(scene)))
    yield _question(
        scene,
        rng,
        "Name **one** valid adjustment set; any will do, minimal or not.",
        "A JSON object with the field `adjust`, a list of names, written exactly as the background "
        "writes them (here A and B stand for names):\n\n"
        + example({"adjust": ["A", "B"]})
        + "\n\n- If no adjustment is needed, the empty list `[]` is a valid set.\n"
        + _words("list")
        + f"\n\n{RIGHT_OR_WRONG}",
        {"category": _category(scene), "sets": sets},
    )


@asks("identification.minimal_adjustment_set_size", hosts=directed_path)
def minimal_adjustment_set_size(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The size of the smallest valid set."""
    sizes = [len(found) for found in valid_adjustment_sets(*_query(scene))]
    word = _category(scene)
    yield _question(
        scene,
        rng,
        "How many variables does the smallest valid adjustment set have?",
        "A JSON object with the field `k`, a whole number:\n\n"
        + example({"k": 2})
        + "\n\n- If no adjustment is needed, that is 0.\n"
        + _words("number")
        + f"\n\n{RIGHT_OR_WRONG}",
        {"accepted": [min(sizes) if word == "set" else word]},
    )


@asks("identification.n_valid_adjustment_sets", hosts=directed_path)
def n_valid_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The number of valid sets."""
    word = _category(scene)
    count = len(valid_adjustment_sets(*_query(scene)))
    accepted = {"set": [count], "no_backdoor": ["no_backdoor", 0], "non_id": ["non_id"]}[word]
    yield _question(
        scene,
        rng,
        "How many valid adjustment sets are there, of any size, minimal or not, the empty one "
        "included if it is valid?",
        "A JSON object with the field `n`, a whole number:\n\n"
        + example({"n": 3})
        + "\n\n"
        + _words("number")
        + f"\n\n{RIGHT_OR_WRONG}",
        {"accepted": accepted},
    )


@asks("identification.all_minimal_adjustment_sets", hosts=directed_path)
def all_minimal_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Every inclusion-minimal valid adjustment set."""
    yield _question(
        scene,
        rng,
        "It is *minimal* if no proper subset of it is valid; minimal sets may differ in size. "
        "List **all** minimal valid adjustment sets.",
        "A JSON object with the field `adjustment_sets`, a list of lists of names, written exactly "
        "as the background writes them (here A, B and C stand for names):\n\n"
        + example({"adjustment_sets": [["A", "B"], ["C"]]})
        + "\n\n- If no adjustment is needed, the empty set is the only minimal one: `[[]]`.\n"
        + _words("list")
        + "\n\nScored by the F1 score of your sets against the true ones; the two words are right "
        "or wrong.",
        {
            "category": _category(scene),
            "sets": _named(scene, minimal_adjustment_sets(*_query(scene))),
        },
    )


@asks("bias_diagnostic.forbidden_controls_list", hosts=directed_path)
def forbidden_controls_list(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The variables that are in no valid set."""
    word = _category(scene)
    names = sorted(map(scene.name, forbidden_controls(*_query(scene)))) if word == "set" else []
    yield _question(
        scene,
        rng,
        "List the available variables that no valid adjustment set contains: those that one must "
        "never control for, whatever else one controls for.",
        "A JSON object with the field `forbidden`, a list of names, written exactly as the "
        "background writes them (here A and B stand for names):\n\n"
        + example({"forbidden": ["A", "B"]})
        + "\n\n- If every available variable is in some valid set, that is the empty list `[]`.\n"
        + _words("list")
        + "\n\nScored by the F1 score of your names against the true ones; the two words are right "
        "or wrong.",
        {"category": word, "names": names},
    )


def _question(
    scene: Scene, rng: np.random.Generator, ask: str, answer: str, target: dict[str, object]
) -> Question:
    x, y = scene.motif.treatment, scene.motif.outcome
    available = shuffled(rng, [scene.name(node) for node in scene.columns if node not in (x, y)])
    x_name, y_name = scene.treatment.name, scene.outcome.name
    return Question(
        question=(
            f"{estimand(scene)}\n\nThese measured variables are available for adjustment (in no "
            f"particular order):\n\n{bullets(available) if available else '- none'}\n\n"
            f"{READING}\n\n{IDENTIFIABLE}\n\n"
            "A set of available variables is a *valid adjustment set* if it\n\n"
            f"- blocks every path between {x_name} and {y_name} that is not a chain of effects "
            f"from {x_name} to {y_name}, and\n"
            f"- contains no variable that lies on such a chain after {x_name}, and none that is "
            f"affected, directly or through others, by a variable that does.\n\n{ask}"
        ),
        answer=answer,
        inputs={
            "treatment": scene.treatment.name,
            "outcome": scene.outcome.name,
            "available": available,
        },
        truth=Truth(target=target, should_abstain=_category(scene) == "non_id"),
    )


def _words(what: str) -> str:
    return (
        '- If there is no valid set, but the effect is identifiable: `"no_backdoor"` in place of '
        f'the {what}.\n- If the effect is not identifiable: `"non_id"` in place of the {what}.'
    )


def _query(scene: Scene) -> tuple[LatentDAG, str, str]:
    return scene.motif.graph, scene.motif.treatment, scene.motif.outcome


def _category(scene: Scene) -> str:
    """ "set" if there is a valid set, else why there is none."""
    if valid_adjustment_sets(*_query(scene)):
        return "set"
    return "non_id" if identification_method(*_query(scene)) == "none" else "no_backdoor"


def _named(scene: Scene, sets: Iterable[frozenset[str]]) -> list[list[str]]:
    return sorted(sorted(scene.name(node) for node in found) for found in sets)
