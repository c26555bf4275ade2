"""What follows from the story alone: the causal graph, identifiability and covariate adjustment
(rungs 2 and 3; paper 3.4, A.16.2).

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
from builder.graphs.method import identification_method
from builder.tracks.causalds.ask.wording import (
    COUNT,
    IDENTIFIABLE,
    LABEL,
    NAMES,
    RIGHT_OR_WRONG,
    TRUTH_VALUE,
    Question,
    Truth,
    any_order,
    asks,
    bold,
    bullets,
    ends,
    fields,
    identifiable,
    levels,
    reading,
    record,
    zero_effect,
)
from builder.tracks.causalds.design.eligibility import (
    adjustment_category,
    ate_is_identifiable,
    has_mediator,
    natural_verdicts,
)
from builder.tracks.causalds.make.scene import Scene

_A, _B, _C = NAMES
_BOOLEAN: Final = f"{fields({'identifiable': TRUTH_VALUE})}\n\n{RIGHT_OR_WRONG}"
_LIST: Final = (
    ", a list of names, written exactly as the background writes them (here "
    f"{_A} and {_B} stand for names)"
)
_F1: Final = "Scored by the F1 score of your {} against the true ones"
_WORDS_TOO: Final = "; the two words are right or wrong."

_DIRECT: Final = (
    "- One variable directly affects another if changing the one, with all the others held where "
    "they are, would change the other.\n"
    "- Leave out effects that only run through another of the variables.\n"
    "- Leave out pairs that merely go together, for instance because a third variable affects "
    "both.\n"
    "- Include the effects of variables that were never measured."
)

_NATURAL: Final = {
    "NDE": "E[Y(x1, M(x0)) - Y(x0, M(x0))], the natural direct effect (NDE)",
    "NIE": "E[Y(x0, M(x1)) - Y(x0, M(x0))], the natural indirect effect (NIE)",
}
"""The natural effects in symbols, x0 being the reference."""


@asks("causal_sketch.edges_only")
def edges_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """All direct effects, unmeasured variables included."""
    yield _sketch(
        scene,
        "List every direct effect in the causal graph that the background describes, from cause to "
        "effect.",
        {"edges": [{"from": _A, "to": _B}, {"from": _A, "to": _C}]},
        "direct effect",
        f"{_F1.format('directed edges')}.",
    )


@asks("causal_sketch.skeleton_edges")
def skeleton_edges(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """All pairs with a direct effect in either direction."""
    yield _sketch(
        scene,
        "List every pair of variables in the causal graph that the background describes of which "
        "one directly affects the other. Which of the two is the cause does not matter here.",
        {"skeleton_edges": [{"a": _A, "b": _B}, {"a": _A, "b": _C}]},
        "pair",
        f"{_F1.format('pairs')}; their order, and the order inside a pair, do not matter.",
    )


def _sketch(scene: Scene, ask: str, form: dict[str, object], entry: str, scored: str) -> Question:
    graph = scene.motif.graph
    what = (
        f", a list with one entry for each {entry}. Write the variables' names exactly as the "
        f"background does (here {_A}, {_B} and {_C} stand for names)"
    )
    target = {
        "nodes": sorted(scene.name(node) for node in graph.nodes),
        "edges": sorted([scene.name(a), scene.name(b)] for a, b in graph.edges),
    }
    return Question(
        f"{ask} The graph has exactly {len(graph.nodes)} variables, counting those that were never "
        f"measured.\n\n{reading(scene)}\n\n{_DIRECT}",
        f"{fields(form, what)}\n\n{scored}",
        {"variables": len(graph.nodes)},
        Truth(target),
    )


@asks("identification.method_label")
def method_label(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The first of five labels that applies to the average treatment effect."""
    method = identification_method(*scene.motif.effect)
    observed = any_order(rng, scene.observed_names)
    x_name, y_name = scene.treatment.name, scene.outcome.name
    yield Question(
        f"{_measured(observed)}\n\n{_estimand(scene)}\n\n{reading(scene)}\n\n{IDENTIFIABLE}\n\n"
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
        '5. `"none"`: the effect is not identifiable.',
        f"{fields({'method': LABEL})}\n\n"
        f'{RIGHT_OR_WRONG} `"none"` is how you say that the effect is not identifiable.',
        {**ends(scene), "observed": observed},
        Truth({"accepted": [method]}, should_abstain=method == "none"),
    )


@asks("identification.identifiable_boolean")
def identifiable_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether the average treatment effect is identifiable."""
    observed, verdict = any_order(rng, scene.observed_names), ate_is_identifiable(scene.plan)
    yield Question(
        f"{_measured(observed)}\n\n{_estimand(scene)}\n\n{reading(scene)}\n\n{IDENTIFIABLE}"
        f"{zero_effect(scene, 'ATE')}\n\nIs the effect identifiable?",
        _BOOLEAN,
        {**ends(scene), "observed": observed},
        Truth({"accepted": [verdict]}, should_abstain=not verdict),
    )


@asks("counterfactual_identification.identifiable_boolean")
def counterfactual(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether the ETT is identifiable; and the NDE and the NIE, where there are mediators."""
    observed = any_order(rng, scene.observed_names)
    x0, x1 = scene.truths.levels
    verdicts = {"ETT": scene.truths.ett is not None}
    verdicts |= natural_verdicts(scene.plan) if has_mediator(scene.plan) else {}
    for name, verdict in verdicts.items():
        text = treated(scene) if name == "ETT" else natural(scene, name)
        yield Question(
            f"{_measured(observed)}\n\n{text}\n\n{reading(scene)}\n\n{identifiable(name)} There "
            f"is no experiment to draw on.{zero_effect(scene, name)}\n\nIs the {name} "
            "identifiable?",
            _BOOLEAN,
            {**ends(scene), "observed": observed, "x0": x0, "x1": x1, "estimand": name},
            Truth({"accepted": [verdict]}, should_abstain=not verdict),
            name,
        )


@asks("identification.one_valid_adjustment_set")
def one_valid_adjustment_set(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Any one valid set."""
    sets = _named(scene, valid_adjustment_sets(*scene.motif.effect))
    yield _adjustment(
        scene,
        rng,
        "Name **one** valid adjustment set; any will do, minimal or not.",
        fields({"adjust": [_A, _B]}, _LIST)
        + "\n\n- If no adjustment is needed, the empty list `[]` is a valid set.\n"
        + _words("list", RIGHT_OR_WRONG),
        {"category": adjustment_category(scene.plan), "sets": sets},
    )


@asks("identification.minimal_adjustment_set_size")
def minimal_adjustment_set_size(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The size of the smallest valid set."""
    sizes = [len(found) for found in valid_adjustment_sets(*scene.motif.effect)]
    word = adjustment_category(scene.plan)
    yield _adjustment(
        scene,
        rng,
        "How many variables does the smallest valid adjustment set have?",
        fields({"k": COUNT})
        + "\n\n- If no adjustment is needed, that is 0.\n"
        + _words("number", RIGHT_OR_WRONG),
        {"accepted": [min(sizes) if word == "set" else word]},
    )


@asks("identification.n_valid_adjustment_sets")
def n_valid_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The number of valid sets."""
    word = adjustment_category(scene.plan)
    count = len(valid_adjustment_sets(*scene.motif.effect))
    accepted = {"set": [count], "no_backdoor": ["no_backdoor", 0], "non_id": ["non_id"]}[word]
    yield _adjustment(
        scene,
        rng,
        "How many valid adjustment sets are there, of any size, minimal or not, the empty one "
        "included if it is valid?",
        f"{fields({'n': COUNT})}\n\n{_words('number', RIGHT_OR_WRONG)}",
        {"accepted": accepted},
    )


@asks("identification.all_minimal_adjustment_sets")
def all_minimal_adjustment_sets(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Every inclusion-minimal valid adjustment set."""
    sets = _named(scene, minimal_adjustment_sets(*scene.motif.effect))
    yield _adjustment(
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
        + _words("list", _F1.format("sets") + _WORDS_TOO),
        {"category": adjustment_category(scene.plan), "sets": sets},
    )


@asks("bias_diagnostic.forbidden_controls_list")
def forbidden_controls_list(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The variables that are in no valid set."""
    word = adjustment_category(scene.plan)
    found = forbidden_controls(*scene.motif.effect) if word == "set" else ()
    yield _adjustment(
        scene,
        rng,
        "If there is a valid adjustment set at all, list the available variables that none of the "
        "valid sets contains: those that one must never control for, whatever else one controls "
        "for. If there is none, nothing can be listed; say so by a word as shown below.",
        fields({"forbidden": [_A, _B]}, _LIST)
        + "\n\n- If every available variable is in some valid set, that is the empty list `[]`.\n"
        + _words("list", _F1.format("names") + _WORDS_TOO),
        {"category": word, "names": sorted(map(scene.name, found))},
    )


def _adjustment(
    scene: Scene, rng: np.random.Generator, ask: str, answer: str, target: dict[str, object]
) -> Question:
    available = any_order(rng, map(scene.name, scene.other_nodes))
    x_name, y_name = scene.treatment.name, scene.outcome.name
    return Question(
        f"{_estimand(scene)}\n\nThese measured variables are available for adjustment (in no "
        f"particular order):\n\n{bullets(available) if available else '- none'}\n\n"
        f"{reading(scene)}\n\n{IDENTIFIABLE}\n\n"
        "A set of available variables is a *valid adjustment set* if it\n\n"
        f"- blocks every path between {x_name} and {y_name} that is not a chain of effects "
        f"from {x_name} to {y_name}, and\n"
        f"- contains no variable that lies on such a chain after {x_name}, and none that is "
        f"affected, directly or through others, by a variable that does.\n\n{ask}",
        answer,
        {**ends(scene), "available": available},
        Truth(target, should_abstain=adjustment_category(scene.plan) == "non_id"),
    )


def _words(what: str, scored: str) -> str:
    """The words for want of a valid set in place of what is asked for, and how that is scored."""
    return (
        '- If there is no valid set, but the effect is identifiable: `"no_backdoor"` in place of '
        f'the {what}.\n- If the effect is not identifiable: `"non_id"` in place of the {what}.'
        f"\n\n{scored}"
    )


def _named(scene: Scene, sets: Iterable[frozenset[str]]) -> list[list[str]]:
    return sorted(sorted(scene.name(node) for node in found) for found in sets)


def _measured(observed: list[str]) -> str:
    return f"These variables are measured (in no particular order):\n\n{bullets(observed)}"


def _estimand(scene: Scene) -> str:
    """The average treatment effect, for two values that are left open."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the average treatment effect of {x} on {y} in the population,\n\n"
        f"ATE = E[{scene.outcome.name} | do({scene.treatment.name} = x1)] - "
        f"E[{scene.outcome.name} | do({scene.treatment.name} = x0)]\n\n"
        "for two values x0 and x1, to be learned from observations of the measured variables."
    )


def treated(scene: Scene) -> str:
    """The effect of treatment on the treated."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Consider the effect of treatment on the treated (ETT) of {x} on {y},\n\n"
        "ETT = E[Y(x1) - Y(x0) | X = x1]\n\n"
        f"with X = {x}, Y = {y}, {levels(scene)}. It is the average difference, over those of "
        f"the population for which {x} in fact equals x1, between {y} as it is and as it would "
        f"have been for the same {record(scene)} had {x} been set to x0."
    )


def natural(scene: Scene, *wanted: str) -> str:
    """One natural effect or both. The mediators are defined, not named: a list of them would
    answer what else is asked of the scene, the forbidden controls and part of the graph."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    formulas = " and\n\n".join(_NATURAL[name] for name in wanted)
    return (
        f"Consider how {x} affects {y}: directly, and through the variables between them. Let M be "
        "all of these together: every variable, measured or not, that lies on some chain of direct "
        f"effects from {x} to {y}, other than these two. With X = {x}, Y = {y}, {levels(scene)}, "
        f"take\n\n{formulas}.\n\n"
        f"Here Y(x, M(x')) is what {y} would be for the same {record(scene)} if {x} were set to x "
        "while each of the variables M took the value that it would have had under x'."
    )
