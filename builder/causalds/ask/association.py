"""Association between treatment and outcome (rung 1; paper 3.4 and A.9)."""

from collections.abc import Iterator

import numpy as np

from builder.causalds.ask.eligible import VALUE, unrelated
from builder.causalds.ask.registry import ENDS, Question, Truth, asks
from builder.causalds.ask.wording import (
    LABEL,
    NUMBER,
    RIGHT_OR_WRONG,
    SIGN_LABELS,
    bold,
    fields,
    listed,
    number,
    record,
    rely,
)
from builder.causalds.make.scene import Scene
from builder.scm.margins import association_margin, clear_sign


@asks(
    "association.sign_only",
    rank=0,
    inputs=ENDS,
    classes=lambda motif, plan: ("0",) if unrelated(motif, plan) else ("+", "-"),
)
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


@asks(
    "association.effect_size_point",
    rank=1,
    inputs=ENDS,
    classes=lambda motif, plan: ("zero",) if unrelated(motif, plan) else VALUE,
)
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
