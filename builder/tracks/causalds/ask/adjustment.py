"""Covariate adjustment from the story alone (rung 2; paper 3.4, A.16.2).

Valid sets follow the generalised adjustment criterion (``builder.graphs.adjustment``).
"""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from builder.graphs.adjustment import (
    forbidden_controls,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.tracks.causalds.ask.association import ends
from builder.tracks.causalds.ask.identification import estimand
from builder.tracks.causalds.ask.registry import Question, Truth, asks
from builder.tracks.causalds.ask.wording import (
    COUNT,
    IDENTIFIABLE,
    NAMES,
    RIGHT_OR_WRONG,
    any_order,
    bullets,
    fields,
    reading,
)
from builder.tracks.causalds.design.eligibility import adjustment_category
from builder.tracks.causalds.make.scene import Scene

_A, _B, _C = NAMES
_NAMES: Final = (
    ", a list of names, written exactly as the background writes them (here "
    f"{_A} and {_B} stand for names)"
)


@asks("identification.one_valid_adjustment_set")
def one_valid_adjustment_set(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Any one valid set."""
    sets = _named(scene, valid_adjustment_sets(*scene.motif.effect))
    yield _question(
        scene,
        rng,
        "Name **one** valid adjustment set; any will do, minimal or not.",
        fields({"adjust": [_A, _B]}, _NAMES)
        + "\n\n- If no adjustment is needed, the empty list `[]` is a valid set.\n"
        + _words("list")
        + f"\n\n{RIGHT_OR_WRONG}",
        {"category": adjustment_category(scene.plan), "sets": sets},
    )


@asks("identification.minimal_adjustment_set_size")
def minimal_adjustment_set_size(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The size of the smallest valid set."""
    sizes = [len(found) for found in valid_adjustment_sets(*scene.motif.effect)]
    word = adjustment_category(scene.plan)
    yield _question(
        scene,
        rng,
        "How many variables does the smallest valid adjustment set have?",
        fields({"k": COUNT})
        + "\n\n- If no adjustment is needed, that is 0.\n"
        + _words("number")
        + f"\n\n{RIGHT_OR_WRONG}",
        {"accepted": [min(sizes) if word == "set" else word]},
    )


@asks("identification.n_valid_adjustment_sets")
def n_valid_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The number of valid sets."""
    word = adjustment_category(scene.plan)
    count = len(valid_adjustment_sets(*scene.motif.effect))
    accepted = {"set": [count], "no_backdoor": ["no_backdoor", 0], "non_id": ["non_id"]}[word]
    yield _question(
        scene,
        rng,
        "How many valid adjustment sets are there, of any size, minimal or not, the empty one "
        "included if it is valid?",
        fields({"n": COUNT}) + "\n\n" + _words("number") + f"\n\n{RIGHT_OR_WRONG}",
        {"accepted": accepted},
    )


@asks("identification.all_minimal_adjustment_sets")
def all_minimal_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Every inclusion-minimal valid adjustment set."""
    yield _question(
        scene,
        rng,
        "It is *minimal* if no proper subset of it is valid; minimal sets may differ in size. "
        "List **all** minimal valid adjustment sets.",
        fields(
            {"adjustment_sets": [[_A, _B], [_C]]},
            ", a list of lists of names, written exactly as the background writes them (here "
            f"{_A}, {_B} and {_C} stand for names)",
        )
        + "\n\n- If no adjustment is needed, the empty set is the only minimal one: `[[]]`.\n"
        + _words("list")
        + "\n\nScored by the F1 score of your sets against the true ones; the two words are right "
        "or wrong.",
        {
            "category": adjustment_category(scene.plan),
            "sets": _named(scene, minimal_adjustment_sets(*scene.motif.effect)),
        },
    )


@asks("bias_diagnostic.forbidden_controls_list")
def forbidden_controls_list(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The variables that are in no valid set."""
    word = adjustment_category(scene.plan)
    found = forbidden_controls(*scene.motif.effect) if word == "set" else ()
    yield _question(
        scene,
        rng,
        "If there is a valid adjustment set at all, list the available variables that none of the "
        "valid sets contains: those that one must never control for, whatever else one controls "
        "for. If there is none, nothing can be listed; say so by a word as shown below.",
        fields({"forbidden": [_A, _B]}, _NAMES)
        + "\n\n- If every available variable is in some valid set, that is the empty list `[]`.\n"
        + _words("list")
        + "\n\nScored by the F1 score of your names against the true ones; the two words are right "
        "or wrong.",
        {"category": word, "names": sorted(map(scene.name, found))},
    )


def _question(
    scene: Scene, rng: np.random.Generator, ask: str, answer: str, target: dict[str, object]
) -> Question:
    available = any_order(rng, map(scene.name, scene.others))
    x_name, y_name = scene.treatment.name, scene.outcome.name
    return Question(
        question=(
            f"{estimand(scene)}\n\nThese measured variables are available for adjustment (in no "
            f"particular order):\n\n{bullets(available) if available else '- none'}\n\n"
            f"{reading(scene)}\n\n{IDENTIFIABLE}\n\n"
            "A set of available variables is a *valid adjustment set* if it\n\n"
            f"- blocks every path between {x_name} and {y_name} that is not a chain of effects "
            f"from {x_name} to {y_name}, and\n"
            f"- contains no variable that lies on such a chain after {x_name}, and none that is "
            f"affected, directly or through others, by a variable that does.\n\n{ask}"
        ),
        answer=answer,
        inputs={**ends(scene), "available": available},
        truth=Truth(target=target, should_abstain=adjustment_category(scene.plan) == "non_id"),
    )


def _words(what: str) -> str:
    return (
        '- If there is no valid set, but the effect is identifiable: `"no_backdoor"` in place of '
        f'the {what}.\n- If the effect is not identifiable: `"non_id"` in place of the {what}.'
    )


def _named(scene: Scene, sets: Iterable[frozenset[str]]) -> list[list[str]]:
    return sorted(sorted(scene.name(node) for node in found) for found in sets)
