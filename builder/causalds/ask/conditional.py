"""How the association changes when a third variable is taken into account (rung 1; paper A.9)."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from builder.causal.motifs import Motif
from builder.causalds.ask.association import (
    correlation,
    ends,
    margin_of,
    sign_list,
    spellings,
)
from builder.causalds.ask.eligible import VALUE, one_class, other_variable, two_other_variables
from builder.causalds.ask.registry import ENDS, Question, Truth, asks
from builder.causalds.ask.wording import (
    LABEL,
    NAMES,
    NUMBER,
    RIGHT_OR_WRONG,
    SIGN_LABELS,
    any_order,
    bold,
    bullets,
    fields,
    listed,
    number,
    rely,
)
from builder.causalds.make.scene import Scene
from builder.causalds.scene_plan import ScenePlan
from builder.scm.margins import clear_largest_change, clear_sign

MOST_NAMED: Final = 3
"""A scene's questions name at most so many variables to condition on."""

_NAMED: Final = ENDS | {"conditioning_var"}


def _unaffected(motif: Motif) -> set[bool]:
    """Whether some of the other variables have no bearing on the association by the graph alone,
    and whether some may have."""
    x, y, separated = motif.treatment, motif.outcome, motif.graph.d_separated
    return {
        separated(x, (y, z)) or separated(y, (x, z)) or separated(z, (x, y)) for z in motif.others
    }


def _change_classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
    kinds = _unaffected(motif)
    return (*(("zero",) if True in kinds else ()), *(VALUE if False in kinds else ()))


def _change_sign_classes(motif: Motif, plan: ScenePlan) -> tuple[str, ...]:
    kinds = _unaffected(motif)
    return (*(("0",) if True in kinds else ()), *(("+", "-") if False in kinds else ()))


@asks(
    "association.sign_before_after",
    rank=2,
    inputs=_NAMED,
    classes=lambda motif, plan: ("same", "different"),
    hosts=other_variable,
)
def sign_before_after(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """Both signs: of the correlation and of the partial correlation given a named variable."""
    for node in named(scene):
        margins = margin_of(scene), margin_of(scene, node)
        before = clear_sign(scene.truths.association, margins[0])
        after = clear_sign(scene.truths.partial[node], margins[1])
        if before is None or after is None:
            continue
        form = {"sign_before": LABEL, "sign_after": LABEL}
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nReport the sign of r (before) and the sign of s "
                f"(after):\n\n{sign_list(scene, 'it')}\n\n"
                f"{rely(('r', number(margins[0])), ('s', number(margins[1])))}"
            ),
            answer=(f"{fields(form)}\n\n{SIGN_LABELS} Right if both signs are; nothing between."),
            inputs=_inputs(scene, node),
            truth=Truth(
                target={"accepted_before": spellings(before), "accepted_after": spellings(after)}
            ),
            detail=node,
        )


@asks(
    "association.delta_point",
    rank=4,
    inputs=_NAMED,
    classes=_change_classes,
    hosts=other_variable,
)
def delta_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The change of the association as a number."""
    for node in named(scene):
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nEstimate the change s - r, a single number from -2 to "
                "2. It is no estimate of a causal effect."
            ),
            answer=(
                f"{fields({'delta': NUMBER})}\n\n"
                "Scored by |your delta - (s - r)|, relative to 1 + |s - r|."
            ),
            inputs=_inputs(scene, node),
            truth=Truth(target={}, quantity=scene.truths.change[node]),
            detail=node,
        )


@asks(
    "association.delta_sign_only",
    rank=3,
    inputs=_NAMED,
    classes=_change_sign_classes,
    hosts=other_variable,
)
def delta_sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the change of the association."""
    for node in named(scene):
        margin = margin_of(scene, node)
        label = clear_sign(scene.truths.change[node], margin)
        if label is None:
            continue
        labels = {
            "+": "if s - r is positive",
            "-": "if s - r is negative",
            "0": "if s - r is exactly 0: taking the third variable into account changes nothing",
        }
        yield Question(
            question=(
                f"{_setting(scene, node)}\n\nReport the sign of the change s - r:\n\n"
                f"{listed(labels)}\n\n{rely(('s - r', number(margin)))}"
            ),
            answer=f"{fields({'sign': LABEL})}\n\n{SIGN_LABELS} {RIGHT_OR_WRONG}",
            inputs=_inputs(scene, node),
            truth=Truth(target={"accepted": [label]}),
            detail=node,
        )


@asks(
    "association.argmax_change",
    rank=5,
    inputs=ENDS | {"candidates"},
    classes=one_class,
    hosts=two_other_variables,
)
def argmax_change(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The variable that changes the association most."""
    nodes = scene.others[:MOST_NAMED]
    margin = margin_of(scene, *nodes)
    winner = clear_largest_change({node: scene.truths.change[node] for node in nodes}, margin)
    if winner is None:
        return
    candidates = any_order(rng, [scene.name(node) for node in nodes])
    x, y = bold(scene.treatment), bold(scene.outcome)
    yield Question(
        question=(
            f"How are {x} and {y} associated? {correlation(scene)} For another variable Z, let "
            f"s(Z) be {_PARTIAL.format(z='Z')}\n\nThese are the candidates for Z (in no particular "
            f"order):\n\n{bullets(candidates)}\n\nFor which of them is |s(Z) - r| largest? You may "
            f"rely on this: it beats the second by at least {number(margin)}."
        ),
        answer=(
            fields(
                {"conditioning_var": NAMES[0]},
                f", the candidate's name exactly as listed (here {NAMES[0]} stands for it)",
            )
            + f"\n\n{RIGHT_OR_WRONG}"
        ),
        inputs={**ends(scene), "candidates": candidates},
        truth=Truth(target={"accepted": [scene.name(winner)]}),
    )


def named(scene: Scene) -> list[str]:
    """The nodes that questions name: the first few in table order.

    That order is random and the same in every view and every telling of a scene.
    """
    return scene.others[:MOST_NAMED]


def partial(scene: Scene, node: str) -> str:
    """What s is."""
    return f"Let s be {_PARTIAL.format(z=bold(scene.variables[node]))}"


_PARTIAL: Final = (
    "the linear partial correlation of the two given {z} in the same population: the correlation "
    "of what remains of each when its best linear prediction from {z} is taken off, "
    "(r - a b) / sqrt((1 - a²)(1 - b²)) with a and b the correlations of either with {z}. It is "
    "this number that counts, whether or not relations are linear."
)


def _setting(scene: Scene, node: str) -> str:
    x, y = bold(scene.treatment), bold(scene.outcome)
    return f"How are {x} and {y} associated? {correlation(scene)} {partial(scene, node)}"


def _inputs(scene: Scene, node: str) -> dict[str, object]:
    return {**ends(scene), "conditioning_var": scene.name(node)}
