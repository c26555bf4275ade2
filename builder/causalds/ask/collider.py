"""Associations and paths that conditioning opens (rungs 1 and 2; paper 3.4 and A.9).

The named variable is a collider, or affected by one, in about half of the questions: otherwise
"the association is there" and "there is bias" would always be right.
"""

from collections.abc import Iterator

import numpy as np

from builder.causal import opens_collider_bias
from builder.causalds.ask.association import (
    association_label,
    correlation,
    ends,
    margin_of,
    sign_list,
)
from builder.causalds.ask.conditional import partial
from builder.causalds.ask.registry import Question, Truth, asks, other_variable
from builder.causalds.ask.wording import (
    READING,
    RIGHT_OR_WRONG,
    bold,
    either,
    example,
    number,
    rely,
)
from builder.causalds.scene import Scene
from builder.scm import clear_sign


@asks("collider_phenomenon.induced_association_boolean", hosts=other_variable)
def induced_association_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether treatment and outcome are associated given a named variable."""
    for node in _named(scene):
        margin = margin_of(scene, node)
        sign = clear_sign(scene.truths.partial(node), margin)
        if sign is None:
            continue
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nIs there such an association: does s differ from "
                f"0?\n\n{rely('s', number(margin))}"
            ),
            answer=(
                "A JSON object with the field `association_present`, true or false:\n\n"
                f"{example({'association_present': True})}\n\n{RIGHT_OR_WRONG}"
            ),
            inputs=_inputs(scene, node),
            truth=Truth(target={"accepted": [sign != "0"]}),
            detail=node,
        )


@asks("collider_phenomenon.induced_association_sign_only", hosts=other_variable)
def induced_association_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the partial correlation given a named variable."""
    for node in _named(scene):
        margin = margin_of(scene, node)
        label = association_label(clear_sign(scene.truths.partial(node), margin))
        if label is None:
            continue
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nReport the sign of s:\n\n{sign_list(scene, 's')}\n\n"
                f"{rely('s', number(margin))}"
            ),
            answer=(
                f"A JSON object with the field `sign`:\n\n{example({'sign': '-'})}\n\n"
                f"The three labels are {either(['+', '-', 'unknown'])}. {RIGHT_OR_WRONG}"
            ),
            inputs=_inputs(scene, node),
            truth=Truth(target={"accepted": [label]}),
            detail=node,
        )


@asks("collider_phenomenon.induced_association_strength_point", hosts=other_variable)
def induced_association_strength_point(
    scene: Scene, rng: np.random.Generator
) -> Iterator[Question]:
    """The partial correlation given a named variable, as a number."""
    for node in _named(scene):
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nEstimate s, a single number from -1 to 1. It is no "
                "estimate of a causal effect."
            ),
            answer=(
                f"A JSON object with the field `value`:\n\n{example({'value': -0.21})}\n\n"
                "Scored by |your value - s|, relative to 1 + |s|."
            ),
            inputs=_inputs(scene, node),
            truth=Truth(target={}, quantity=scene.truths.partial(node)),
            detail=node,
        )


@asks("bias_diagnostic.collider_bias_boolean", hosts=other_variable)
def collider_bias_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether controlling for a named variable opens a non-causal path."""
    graph, ends_ = scene.motif.graph, (scene.motif.treatment, scene.motif.outcome)
    x_name, y_name = scene.treatment.name, scene.outcome.name
    for node in _named(scene):
        z = bold(scene.variables[node])
        yield Question(
            question=(
                f"Someone wants to learn the effect of {bold(scene.treatment)} on "
                f"{bold(scene.outcome)} and controls for {z}, and for nothing else. Does this "
                "introduce collider bias?\n\n"
                "Collider bias means here: among the paths between the two variables, that is the "
                "routes along direct effects in whichever direction and through any variables, "
                f"measured or not, some path that is not a chain of effects from {x_name} to "
                f"{y_name} is blocked while nothing is controlled for and open once {z} is. A path "
                "is open if each variable inside it at which two of its effects meet (a collider) "
                "is controlled for or affects, directly or through others, one that is, and no "
                "other variable inside it is controlled for. Cutting off part of the effect "
                f"itself, by controlling for something on a chain of effects from {x_name} to "
                f"{y_name}, is another mistake and does not count.\n\n{READING}"
            ),
            answer=(
                "A JSON object with the field `bias_present`, true or false:\n\n"
                f"{example({'bias_present': False})}\n\n{RIGHT_OR_WRONG}"
            ),
            inputs=_inputs(scene, node),
            truth=Truth(target={"accepted": [opens_collider_bias(graph, *ends_, node)]}),
            detail=node,
        )


def _named(scene: Scene) -> list[str]:
    """One node that opens a path between treatment and outcome and one that does not, where there
    are such: of each kind the first in table order, which is random."""
    x, y = scene.motif.treatment, scene.motif.outcome
    found: dict[bool, str] = {}
    for node in scene.columns:
        if node not in (x, y):
            found.setdefault(opens_collider_bias(scene.motif.graph, x, y, node), node)
    return [found[kind] for kind in (True, False) if kind in found]


def _setting(scene: Scene, node: str) -> str:
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Are {x} and {y} associated once {bold(scene.variables[node])} is taken into account? "
        f"{correlation(scene)} {partial(scene, node)}"
    )


def _inputs(scene: Scene, node: str) -> dict[str, object]:
    return {**ends(scene), "collider": scene.name(node)}
