"""Identification from the story alone (rung 2; paper 3.4, A.16.2)."""

import numpy as np

from builder.causal import identification_method, minimal_adjustment_sets
from builder.causalds.ask.registry import Question, Truth, asks, directed_path
from builder.causalds.ask.wording import IDENTIFIABLE, READING, bold, bullets, example, shuffled
from builder.causalds.scene import Scene


@asks("identification.method_label")
def method_label(scene: Scene, rng: np.random.Generator) -> Question:
    """The first of five labels that applies to the average treatment effect."""
    graph, x, y = scene.motif.graph, scene.motif.treatment, scene.motif.outcome
    method = identification_method(graph, x, y)
    observed = shuffled(rng, scene.observed)
    x_name, y_name = scene.treatment.name, scene.outcome.name
    return Question(
        question=(
            f"These variables are measured (in no particular order):\n\n{bullets(observed)}\n\n"
            f"{_estimand(scene)}\n\n{READING}\n\n{IDENTIFIABLE}\n\n"
            "By what argument is the effect identifiable? Give the **first** label of this list "
            "that applies:\n\n"
            f'1. `"trivial_zero"`: no chain of direct effects leads from {x_name} to {y_name}, so '
            "the effect is 0.\n"
            '2. `"backdoor"`: some set of measured variables, possibly the empty one, is a valid '
            f"adjustment set: it blocks every path between {x_name} and {y_name} that is not a "
            f"chain of effects from {x_name} to {y_name}, and contains nothing that lies on such a "
            f"chain after {x_name} or is affected by something that does.\n"
            '3. `"frontdoor"`: some set of measured variables meets the front-door criterion: '
            f"every chain of effects from {x_name} to {y_name} runs through the set, no "
            f"back-door path from {x_name} to the set is open, and {x_name} blocks every "
            f"back-door path from the set to {y_name}.\n"
            '4. `"other_id"`: the effect is identifiable by some other argument.\n'
            '5. `"none"`: the effect is not identifiable.'
        ),
        answer=(
            f"A JSON object with the field `method`:\n\n{example({'method': 'other_id'})}\n\n"
            'Right or wrong, nothing between. `"none"` is how you say that the effect is not '
            "identifiable."
        ),
        inputs={
            "treatment": scene.treatment.name,
            "outcome": scene.outcome.name,
            "observed": observed,
        },
        truth=Truth(target={"accepted": [method]}, should_abstain=method == "none"),
    )


@asks("identification.all_minimal_adjustment_sets", hosts=directed_path)
def all_minimal_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Question:
    """Every inclusion-minimal valid adjustment set (generalised adjustment criterion)."""
    graph, x, y = scene.motif.graph, scene.motif.treatment, scene.motif.outcome
    method = identification_method(graph, x, y)
    sets = sorted(
        sorted(scene.name(node) for node in found) for found in minimal_adjustment_sets(graph, x, y)
    )
    category = "set" if sets else "non_id" if method == "none" else "no_backdoor"
    x_name, y_name = scene.treatment.name, scene.outcome.name
    candidates = [scene.name(node) for node in scene.columns if node not in (x, y)]
    available = shuffled(rng, candidates)
    return Question(
        question=(
            f"{_estimand(scene)}\n\nThese measured variables are available for adjustment (in no "
            f"particular order):\n\n{bullets(available) if available else '- none'}\n\n"
            f"{READING}\n\n{IDENTIFIABLE}\n\n"
            "A set of available variables is a *valid adjustment set* if it\n\n"
            f"- blocks every path between {x_name} and {y_name} that is not a chain of effects "
            f"from {x_name} to {y_name}, and\n"
            f"- contains no variable that lies on such a chain after {x_name}, and none that is "
            "affected, directly or through others, by a variable that does.\n\n"
            "It is *minimal* if no proper subset of it is valid; minimal sets may differ in size. "
            "List **all** minimal valid adjustment sets."
        ),
        answer=(
            "A JSON object with the field `adjustment_sets`, a list of lists of names, written "
            "exactly as the background writes them (here A, B and C stand for names):\n\n"
            + example({"adjustment_sets": [["A", "B"], ["C"]]})
            + "\n\n- If no adjustment is needed, the empty set is the only minimal one: "
            "`[[]]`.\n"
            '- If there is no valid set, but the effect is identifiable: `"no_backdoor"` in place '
            "of the list.\n"
            '- If the effect is not identifiable: `"non_id"` in place of the list.\n\n'
            "Scored by the F1 score of your sets against the true ones; the two words are right or "
            "wrong."
        ),
        inputs={
            "treatment": scene.treatment.name,
            "outcome": scene.outcome.name,
            "available": available,
        },
        truth=Truth(
            target={"category": category, "sets": sets}, should_abstain=category == "non_id"
        ),
    )


def _estimand(scene: Scene) -> str:
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the average treatment effect of {x} on {y} in the population,\n\n"
        f"ATE = E[{scene.outcome.name} | do({scene.treatment.name} = x1)] - "
        f"E[{scene.outcome.name} | do({scene.treatment.name} = x0)]\n\n"
        "for two values x0 and x1, to be learned from observations of the measured variables."
    )
