"""How an effect is asked for, whichever effect it is: as a number, an interval or a sign."""

from collections.abc import Iterator, Mapping
from typing import Final

from builder.causalds.ask.registry import Question, Truth
from builder.causalds.ask.wording import (
    IDENTIFIABLE,
    READING,
    RIGHT_OR_WRONG,
    either,
    example,
    listed,
    number,
    percent,
)
from builder.causalds.make.scene import Scene
from builder.scm import EFFECT_MARGIN, Quantity, clear_effect_sign
from grader.spec import EFFECT_ALPHA

RULES: Final = (
    f"{READING}\n\n{IDENTIFIABLE} Whether the {{estimand}} is identifiable is a matter of the "
    "background alone; once it is, any assumption that helps you estimate it well is yours to "
    "make. An {estimand} that must be 0 because no chain of effects of its kind leads from X to Y "
    "is identifiable: its value is 0."
)
"""What identifiability means for an estimate; to be formatted with ``estimand``."""

Extra = Mapping[str, object]


def point(
    scene: Scene,
    name: str,
    text: str,
    field: str,
    effect: Quantity | None,
    extra: Extra | None = None,
    detail: str = "",
) -> Question:
    """The effect as a number; ``text`` defines it, ``field`` is the answer's member."""
    return Question(
        question=f"{text}\n\nEstimate it.\n\n{RULES.format(estimand=name)}",
        answer=(
            f"A JSON object with the field `{field}`:\n\n{example({field: 1.23})}\n\n"
            f"{_abstain({field: None})}\n\nScored by |your value - {name}|, relative to "
            f"1 + |{name}|."
        ),
        inputs={**effect_inputs(scene), **(extra or {})},
        truth=_truth(effect),
        detail=detail,
    )


def interval(
    scene: Scene,
    name: str,
    text: str,
    field: str,
    effect: Quantity | None,
    extra: Extra | None = None,
    detail: str = "",
) -> Question:
    """The effect with a central 95% interval."""
    level = percent(1 - EFFECT_ALPHA)
    form = {field: 1.23, "ci_lower": 0.98, "ci_upper": 1.48}
    return Question(
        question=(
            f"{text}\n\nEstimate it, and give a **central {level} confidence interval** "
            f"for it.\n\n{RULES.format(estimand=name)}"
        ),
        answer=(
            f"A JSON object with the fields `{field}`, `ci_lower` and `ci_upper`:\n\n"
            f"{example(form)}\n\n{_abstain(dict.fromkeys(form))}\n\n"
            f"Scored by the interval score, (ci_upper - ci_lower) plus {number(2 / EFFECT_ALPHA)} "
            f"times the distance by which the {name} misses the interval, relative to "
            f"1 + |{name}|. `ci_lower` must not exceed `ci_upper`."
        ),
        inputs={**effect_inputs(scene), **(extra or {}), "alpha": EFFECT_ALPHA},
        truth=_truth(effect),
        detail=detail,
    )


def sign(
    scene: Scene,
    name: str,
    text: str,
    effect: Quantity | None,
    extra: Extra | None = None,
    detail: str = "",
    *,
    zero: bool = True,
) -> Iterator[Question]:
    """The effect's sign, where it is zero by the graph or clear of zero.

    ``zero`` says whether the effect can be exactly 0 in the scenes that are asked.
    """
    label = None if effect is None else clear_effect_sign(effect, scene.truths.outcome_sd)
    if effect is not None and label is None:
        return
    labels = {"+": f"if the {name} is positive", "-": f"if the {name} is negative"}
    if zero:
        labels["0"] = f"if the {name} is exactly 0"
    labels["unknown"] = f"if the {name} is not identifiable, and only then"
    yield Question(
        question=(
            f"{text}\n\nReport its sign:\n\n{listed(labels)}\n\n{RULES.format(estimand=name)}\n\n"
            f"{effect_margin(name, zero=zero)}"
        ),
        answer=(
            f"A JSON object with the field `sign`:\n\n{example({'sign': '+'})}\n\n"
            f"The labels are {either(labels)}. {RIGHT_OR_WRONG}"
        ),
        inputs={**effect_inputs(scene), **(extra or {})},
        truth=Truth(target={"accepted": [label or "unknown"]}, should_abstain=effect is None),
        detail=detail,
    )


def effect_margin(name: str, *, zero: bool = True) -> str:
    """The promise that the sign of an effect is never borderline."""
    exact = "either exactly 0 or " if zero else ""
    return (
        f"Where the {name} is identifiable, you may rely on this: it is {exact}at least "
        f"{number(EFFECT_MARGIN)} standard deviations of Y in absolute value."
    )


def effect_inputs(scene: Scene) -> dict[str, object]:
    """Treatment, outcome and the compared levels."""
    x0, x1 = scene.truths.levels
    return {
        "treatment": scene.treatment.name,
        "outcome": scene.outcome.name,
        "x0": x0,
        "x1": x1,
    }


def _abstain(form: Mapping[str, None]) -> str:
    return f"If the effect is not identifiable, and only then, answer\n\n{example(form)}"


def _truth(quantity: Quantity | None) -> Truth:
    return Truth(target={}, quantity=quantity, should_abstain=quantity is None)
