"""Association between treatment and outcome, and how it changes when a third variable is taken into
account (rung 1; paper 3.4 and A.9)."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from builder.equations.margins import association_margin, clear_largest_change, clear_sign
from builder.tracks.causalds.ask.registry import Question, Truth, asks
from builder.tracks.causalds.ask.wording import (
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
    record,
    rely,
)
from builder.tracks.causalds.design.eligibility import MOST_NAMED
from builder.tracks.causalds.make.scene import Scene


@asks("association.sign_only")
def sign_only(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The sign of the population correlation, where an honest analyst can tell it."""
    margin = margin_of(scene)
    label = clear_sign(scene.truths.association, margin)
    if label is None:
        return
    x, y = bold(scene.treatment), bold(scene.outcome)
    yield Question(
        question=(
            f"How are {x} and {y} associated? {correlation(scene)} Report its sign:\n\n"
            f"{sign_list(scene, 'r')}\n\n{rely(('r', number(margin)))}"
        ),
        answer=f"{fields({'sign': LABEL})}\n\n{SIGN_LABELS} {RIGHT_OR_WRONG}",
        inputs=ends(scene),
        truth=Truth(target={"accepted": spellings(label)}),
    )


@asks("association.effect_size_point")
def effect_size_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The population correlation as a number."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    yield Question(
        question=(
            f"How strongly are {x} and {y} associated? {correlation(scene)} Estimate r. A single "
            "number from -1 to 1 is wanted; it is no estimate of a causal effect."
        ),
        answer=f"{fields({'value': NUMBER})}\n\nScored by |your value - r|, relative to 1 + |r|.",
        inputs=ends(scene),
        truth=Truth(target={}, quantity=scene.truths.association),
    )


@asks("association.sign_before_after")
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
                f"{_given(scene, node)}\n\nReport the sign of r (before) and the sign of s "
                f"(after):\n\n{sign_list(scene, 'it')}\n\n"
                f"{rely(('r', number(margins[0])), ('s', number(margins[1])))}"
            ),
            answer=(f"{fields(form)}\n\n{SIGN_LABELS} Right if both signs are; nothing between."),
            inputs=_inputs_given(scene, node),
            truth=Truth(
                target={"accepted_before": spellings(before), "accepted_after": spellings(after)}
            ),
            detail=node,
        )


@asks("association.delta_point")
def delta_point(scene: Scene, rng: np.random.Generator) -> Iterator[Question]:
    """The change of the association as a number."""
    for node in named(scene):
        yield Question(
            question=(
                f"{_given(scene, node)}\n\nEstimate the change s - r, a single number from -2 to "
                "2. It is no estimate of a causal effect."
            ),
            answer=(
                f"{fields({'delta': NUMBER})}\n\n"
                "Scored by |your delta - (s - r)|, relative to 1 + |s - r|."
            ),
            inputs=_inputs_given(scene, node),
            truth=Truth(target={}, quantity=scene.truths.change[node]),
            detail=node,
        )


@asks("association.delta_sign_only")
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
                f"{_given(scene, node)}\n\nReport the sign of the change s - r:\n\n"
                f"{listed(labels)}\n\n{rely(('s - r', number(margin)))}"
            ),
            answer=f"{fields({'sign': LABEL})}\n\n{SIGN_LABELS} {RIGHT_OR_WRONG}",
            inputs=_inputs_given(scene, node),
            truth=Truth(target={"accepted": [label]}),
            detail=node,
        )


@asks("association.argmax_change")
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


def _given(scene: Scene, node: str) -> str:
    x, y = bold(scene.treatment), bold(scene.outcome)
    return f"How are {x} and {y} associated? {correlation(scene)} {partial(scene, node)}"


def _inputs_given(scene: Scene, node: str) -> dict[str, object]:
    return {**ends(scene), "conditioning_var": scene.name(node)}


def margin_of(scene: Scene, *named: str) -> float:
    """The margin of an association's label, wider where treatment, outcome or one of the nodes
    ``named`` is seen through measurements only."""
    nodes = {scene.motif.treatment, scene.motif.outcome, *named}
    return association_margin(measured=bool(nodes & scene.measured))


def spellings(sign: str) -> list[str]:
    """The accepted labels of an association's sign: the reference calls exactly 0 "unknown"."""
    return ["0", "unknown"] if sign == "0" else [sign]


def correlation(scene: Scene) -> str:
    """What r is."""
    return (
        "Let r be the Pearson correlation of the two (binary values taken as 0 and 1) in the "
        f"population that the rows are drawn from: the data show a sample of it, one "
        f"{record(scene)} per row, without any intervention."
    )


def sign_list(scene: Scene, symbol: str) -> str:
    """The three labels of an association's sign."""
    x, y = scene.treatment.name, scene.outcome.name
    return listed(
        {
            "+": f"if {symbol} is positive: high values of {x} tend to go with high values of {y}",
            "-": f"if {symbol} is negative: high values of {x} tend to go with low values of {y}",
            "0": f"if {symbol} is exactly 0",
        }
    )


def ends(scene: Scene) -> dict[str, object]:
    """The inputs that name treatment and outcome."""
    return {"treatment": scene.treatment.name, "outcome": scene.outcome.name}
