"""The causal graph as the story tells it (rung 2)."""

import numpy as np

from builder.causalds.ask.registry import Question, Truth, asks
from builder.causalds.ask.wording import READING, example
from builder.causalds.scene import Scene


@asks("causal_sketch.edges_only")
def edges_only(scene: Scene, rng: np.random.Generator) -> Question:
    """All direct effects, unmeasured variables included."""
    graph = scene.motif.graph
    names = sorted(scene.name(node) for node in graph.nodes)
    edges = sorted([scene.name(a), scene.name(b)] for a, b in graph.edges)
    return Question(
        question=(
            "List every direct effect in the causal graph that the background describes, from "
            f"cause to effect. The graph has exactly {len(names)} variables, counting those that "
            f"were never measured.\n\n{READING}\n\n"
            "- A directly affects B if changing A, with all the other variables held where they "
            "are, would change B.\n"
            "- Leave out effects that only run through another of the variables.\n"
            "- Leave out pairs that merely go together, for instance because a third variable "
            "affects both.\n"
            "- Include the effects of variables that were never measured."
        ),
        answer=(
            "A JSON object with the field `edges`, a list with one entry for each direct effect. "
            "Write the variables' names exactly as the background does (here A, B and C stand for "
            "names):\n\n"
            + example({"edges": [{"from": "A", "to": "B"}, {"from": "A", "to": "C"}]})
            + "\n\nScored by the F1 score of your directed edges against the true ones."
        ),
        inputs={"variables": len(names)},
        truth=Truth(target={"nodes": names, "edges": edges}),
    )
