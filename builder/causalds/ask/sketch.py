"""The causal graph as the story tells it (rung 2)."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from builder.causalds.ask.eligible import one_class
from builder.causalds.ask.registry import Question, Truth, asks
from builder.causalds.ask.wording import READING, example
from builder.causalds.make.scene import Scene

_INPUTS: Final = frozenset({"variables"})

_RULES: Final = (
    "- A directly affects B if changing A, with all the other variables held where they are, would "
    "change B.\n"
    "- Leave out effects that only run through another of the variables.\n"
    "- Leave out pairs that merely go together, for instance because a third variable affects "
    "both.\n"
    "- Include the effects of variables that were never measured."
)


@asks("causal_sketch.edges_only", rank=1, inputs=_INPUTS, classes=one_class)
def edges_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """All direct effects, unmeasured variables included."""
    yield Question(
        question=(
            "List every direct effect in the causal graph that the background describes, from "
            f"cause to effect. {_size(scene)}\n\n{READING}\n\n{_RULES}"
        ),
        answer=(
            "A JSON object with the field `edges`, a list with one entry for each direct effect. "
            "Write the variables' names exactly as the background does (here A, B and C stand for "
            "names):\n\n"
            + example({"edges": [{"from": "A", "to": "B"}, {"from": "A", "to": "C"}]})
            + "\n\nScored by the F1 score of your directed edges against the true ones."
        ),
        inputs={"variables": len(scene.motif.graph.nodes)},
        truth=_target(scene),
    )


@asks("causal_sketch.skeleton_edges", rank=0, inputs=_INPUTS, classes=one_class)
def skeleton_edges(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """All pairs with a direct effect in either direction."""
    yield Question(
        question=(
            "List every pair of variables in the causal graph that the background describes of "
            "which one directly affects the other. Which of the two is the cause does not matter "
            f"here. {_size(scene)}\n\n{READING}\n\n{_RULES}"
        ),
        answer=(
            "A JSON object with the field `skeleton_edges`, a list with one entry for each pair. "
            "Write the variables' names exactly as the background does (here A, B and C stand for "
            "names):\n\n"
            + example({"skeleton_edges": [{"a": "A", "b": "B"}, {"a": "A", "b": "C"}]})
            + "\n\nScored by the F1 score of your pairs against the true ones; their order, and "
            "the order inside a pair, do not matter."
        ),
        inputs={"variables": len(scene.motif.graph.nodes)},
        truth=_target(scene),
    )


def _size(scene: Scene) -> str:
    return (
        f"The graph has exactly {len(scene.motif.graph.nodes)} variables, counting those that "
        "were never measured."
    )


def _target(scene: Scene) -> Truth:
    graph = scene.motif.graph
    return Truth(
        target={
            "nodes": sorted(scene.name(node) for node in graph.nodes),
            "edges": sorted([scene.name(a), scene.name(b)] for a, b in graph.edges),
        }
    )
