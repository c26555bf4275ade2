"""Associations and paths that conditioning opens (rungs 1 and 2; paper 3.4 and A.9).

The named variable is a collider, or affected by one, in some questions and not in others, and each
cell chooses so that every answer is common: otherwise "the association is there" and "there is no
bias" would nearly always be right. Of each kind it is the first in table order, which is random.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from builder.equations.margins import clear_sign, is_structural_zero
from builder.splits.seeds import stream
from builder.tracks.causalds.ask.association import (
    correlation,
    ends,
    margin_of,
    partial,
    sign_list,
    spellings,
)
from builder.tracks.causalds.ask.registry import Question, Truth, asks
from builder.tracks.causalds.ask.wording import (
    LABEL,
    NUMBER,
    RIGHT_OR_WRONG,
    SIGN_LABELS,
    TRUTH_VALUE,
    bold,
    fields,
    number,
    reading,
    rely,
)
from builder.tracks.causalds.design.eligibility import MOST_NAMED, opens, seems_to_open
from builder.tracks.causalds.make.scene import Scene

_ALONE: Final = 0.25
"""The share of scenes asked about an association that is there, of those that have no other."""


@asks("collider_phenomenon.induced_association_boolean")
def induced_association_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether treatment and outcome are associated given a named variable: one given which they
    are not, and one that opens a path. Of scenes that have only the latter, five times as many as
    have the former, public-truth splits ask a quarter: otherwise "they are" would be right more
    than five times in six. Private exams plan their answers."""
    unassociated = [n for n in scene.others if is_structural_zero(scene.truths.partial[n])][:1]
    openers = [n for n in scene.others if opens(scene.motif, n)][:1]
    if not unassociated and scene.plan.questions.variant is None and not _asked_alone(scene):
        return
    for node in (*openers, *unassociated):
        margin = margin_of(scene, node)
        sign = clear_sign(scene.truths.partial[node], margin)
        if sign is None:
            continue
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nIs there such an association: does s differ from "
                f"0?\n\n{rely(('s', number(margin)))}"
            ),
            answer=f"{fields({'association_present': TRUTH_VALUE})}\n\n{RIGHT_OR_WRONG}",
            inputs=_inputs(scene, node),
            truth=Truth(target={"accepted": [sign != "0"]}),
            detail=node,
        )


@asks("collider_phenomenon.induced_association_sign_only")
def induced_association_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the partial correlation given a named variable."""
    for node in _named(scene):
        margin = margin_of(scene, node)
        label = clear_sign(scene.truths.partial[node], margin)
        if label is None:
            continue
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nReport the sign of s:\n\n{sign_list(scene, 's')}\n\n"
                f"{rely(('s', number(margin)))}"
            ),
            answer=f"{fields({'sign': LABEL})}\n\n{SIGN_LABELS} {RIGHT_OR_WRONG}",
            inputs=_inputs(scene, node),
            truth=Truth(target={"accepted": spellings(label)}),
            detail=node,
        )


@asks("collider_phenomenon.induced_association_strength_point")
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
                f"{fields({'value': NUMBER})}\n\nScored by |your value - s|, relative to 1 + |s|."
            ),
            inputs=_inputs(scene, node),
            truth=Truth(target={}, quantity=scene.truths.partial[node]),
            detail=node,
        )


@asks("bias_diagnostic.collider_bias_boolean")
def collider_bias_boolean(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Whether controlling for a named variable opens a non-causal path: about those that do, where
    there are any, else about one that might seem to."""
    openers = _openers(scene)
    seeming = [node for node in scene.others if seems_to_open(scene.motif, node)]
    x_name, y_name = scene.treatment.name, scene.outcome.name
    for node in openers[:MOST_NAMED] or seeming[:1]:
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
                f"{y_name}, is another mistake and does not count.\n\n{reading(scene)}"
            ),
            answer=f"{fields({'bias_present': TRUTH_VALUE})}\n\n{RIGHT_OR_WRONG}",
            inputs=_inputs(scene, node),
            truth=Truth(target={"accepted": [node in openers]}),
            detail=node,
        )


def _asked_alone(scene: Scene) -> bool:
    """Whether a scene is one of the ``_ALONE``: by chance, as whatever else decided, such as the
    order of a table, would tell the answer; in all of its views alike, which exams may match."""
    return bool(stream(scene.key, "association alone").random() < _ALONE)


def _named(scene: Scene) -> list[str]:
    """One node that opens a path between treatment and outcome and one that does not."""
    openers = _openers(scene)
    rest = [node for node in scene.others if node not in openers]
    return [*openers[:1], *rest[:1]]


def _openers(scene: Scene) -> list[str]:
    """The nodes that open a path between treatment and outcome."""
    return [node for node in scene.others if opens(scene.motif, node)]


def _setting(scene: Scene, node: str) -> str:
    x, y = bold(scene.treatment), bold(scene.outcome)
    return (
        f"Are {x} and {y} associated once {bold(scene.variables[node])} is taken into account? "
        f"{correlation(scene)} {partial(scene, node)}"
    )


def _inputs(scene: Scene, node: str) -> dict[str, object]:
    return {**ends(scene), "variable": scene.name(node)}
