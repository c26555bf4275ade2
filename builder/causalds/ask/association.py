"""Association between treatment and outcome (rung 1; paper 3.4 and A.9)."""

import numpy as np

from builder.causalds.ask.registry import Question, Truth, asks
from builder.causalds.ask.wording import bold, example, number
from builder.causalds.scene import Scene
from builder.scm import association_margin


@asks("association.sign_only")
def sign_only(scene: Scene, rng: np.random.Generator) -> Question | None:
    """The sign of the population correlation, where an honest analyst can tell it."""
    r = scene.truths.association
    zero = r.source == "structural_zero"
    margin = sign_margin(scene)
    if not zero and abs(r.value) < margin:
        return None
    label = "unknown" if zero else "+" if r.value > 0 else "-"
    x, y = bold(scene.treatment), bold(scene.outcome)
    return Question(
        question=(
            f"How are {x} and {y} associated? {_definition(scene)} Report its sign:\n\n"
            f'- `"+"` if r is positive: high values of {x} tend to go with high values of {y};\n'
            f'- `"-"` if r is negative: high values of {x} tend to go with low values of {y};\n'
            '- `"unknown"` if r is exactly 0, so that neither sign is right.\n\n'
            "You may rely on this: r is either exactly 0 or at least "
            f"{number(margin)} in absolute value."
        ),
        answer=(
            f"A JSON object with the field `sign`:\n\n{example({'sign': '+'})}\n\n"
            'The three labels are `"+"`, `"-"` and `"unknown"`. Right or wrong, nothing between.'
        ),
        inputs=_inputs(scene),
        truth=Truth(target={"accepted": [label]}),
    )


@asks("association.effect_size_point")
def effect_size_point(scene: Scene, rng: np.random.Generator) -> Question:
    """The population correlation as a number."""
    x, y = bold(scene.treatment), bold(scene.outcome)
    return Question(
        question=(
            f"How strongly are {x} and {y} associated? {_definition(scene)} Estimate r. A single "
            "number from -1 to 1 is wanted; it is no estimate of a causal effect."
        ),
        answer=(
            f"A JSON object with the field `value`:\n\n{example({'value': 0.45})}\n\n"
            "Scored by |your value - r|, relative to 1 + |r|."
        ),
        inputs=_inputs(scene),
        truth=Truth(target={}, quantity=scene.truths.association),
    )


def sign_margin(scene: Scene) -> float:
    """The margin of signs, wider where either variable is seen through measurements only."""
    both = {scene.motif.treatment, scene.motif.outcome}
    return association_margin(measured=bool(both & scene.measured))


def _definition(scene: Scene) -> str:
    record = scene.narration.setting.theme.record
    return (
        "Let r be the Pearson correlation of the two (binary values taken as 0 and 1) in the "
        f"population that the rows are drawn from: the data show a sample of it, one {record} per "
        "row, without any intervention."
    )


def _inputs(scene: Scene) -> dict[str, object]:
    return {"treatment": scene.treatment.name, "outcome": scene.outcome.name}
