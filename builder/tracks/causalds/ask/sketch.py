"""The causal graph as the story tells it (rung 2)."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from builder.tracks.causalds.ask.registry import Question, Truth, asks
from builder.tracks.causalds.ask.wording import NAMES, fields, reading
from builder.tracks.causalds.make.scene import Scene

_A, _B, _C = NAMES
_NAMES: Final = (
    "Write the variables' names exactly as the background does (here "
    f"{_A}, {_B} and {_C} stand for names)"
)

_RULES: Final = (
    "- One variable directly affects another if changing the one, with all the others held where "
    "they are, would change the other.\n"
    "- Leave out effects that only run through another of the variables.\n"
    "- Leave out pairs that merely go together, for instance because a third variable affects "
    "both.\n"
    "- Include the effects of variables that were never measured."
)


@asks("causal_sketch.edges_only")
def edges_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """All direct effects, unmeasured variables included."""
    yield _question(
        scene,
        "List every direct effect in the causal graph that the background describes, from cause to "
        "effect.",
        fields(
            {"edges": [{"from": _A, "to": _B}, {"from": _A, "to": _C}]},
            f", a list with one entry for each direct effect. {_NAMES}",
        )
        + "\n\nScored by the F1 score of your directed edges against the true ones.",
    )


@asks("causal_sketch.skeleton_edges")
def skeleton_edges(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """All pairs with a direct effect in either direction."""
    yield _question(
        scene,
        "List every pair of variables in the causal graph that the background describes of which "
        "one directly affects the other. Which of the two is the cause does not matter here.",
        fields(
            {"skeleton_edges": [{"a": _A, "b": _B}, {"a": _A, "b": _C}]},
            f", a list with one entry for each pair. {_NAMES}",
        )
        + "\n\nScored by the F1 score of your pairs against the true ones; their order, and the "
        "order inside a pair, do not matter.",
    )


def _question(scene: Scene, ask: str, answer: str) -> Question:
    graph = scene.motif.graph
    size = (
        f"The graph has exactly {len(graph.nodes)} variables, counting those that were never "
        "measured."
    )
    target = {
        "nodes": sorted(scene.name(node) for node in graph.nodes),
        "edges": sorted([scene.name(a), scene.name(b)] for a, b in graph.edges),
    }
    return Question(
        question=f"{ask} {size}\n\n{reading(scene)}\n\n{_RULES}",
        answer=answer,
        inputs={"variables": len(graph.nodes)},
        truth=Truth(target=target),
    )
