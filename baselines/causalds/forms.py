"""How findings are written as answers: the same forms for every analyst, one per variant.

An analyst finds numbers and edges; which of them a variant asks for, and under which fields, does
not depend on how they were found.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from baselines.causalds.estimators import Estimate
from baselines.writing import Answer
from grader.shape import Task


class Analyst(Protocol):
    """What an analyst finds out about one scene."""

    def correlation(self, task: Task) -> float:
        """That of the task's treatment and outcome."""

    def partial(self, task: Task, given: str) -> float:
        """The same given a third variable."""

    def change(self, task: Task, given: str) -> float:
        """By how much the third variable changes it."""

    def effect(self, task: Task, name: str) -> Estimate | None:
        """The "ATE", "ETT", "NDE" or "NIE"; None where it is held not identifiable."""

    def sketch(self, task: Task) -> Sequence[tuple[str, str]]:
        """The direct effects among the variables that the task asks about."""

    def label(self, value: float, zero: str) -> str:
        """The sign of a number, ``zero`` being the word for none."""


Form = Callable[[Task, Analyst], Answer]


def ends(task: Task) -> tuple[str, str]:
    """Treatment and outcome."""
    return task.inputs["treatment"], task.inputs["outcome"]


def third(task: Task) -> str:
    """The variable to condition on."""
    return str(task.inputs.get("variable") or task.inputs["conditioning_var"])


def _form(**fields: Callable[[Task, Analyst], object]) -> Form:
    """The form with these fields, each as it is found."""
    return lambda task, analyst: {name: find(task, analyst) for name, find in fields.items()}


def _plain_sign(task: Task, analyst: Analyst) -> str:
    # The word for zero that imported releases accept, too; ours ask for "0".
    return analyst.label(analyst.correlation(task), "unknown")


def _partial_sign(task: Task, analyst: Analyst) -> str:
    return analyst.label(analyst.partial(task, third(task)), "unknown")


def _change(task: Task, analyst: Analyst) -> float:
    return analyst.change(task, third(task))


def _most_changing(task: Task, analyst: Analyst) -> str:
    candidates: list[str] = task.inputs["candidates"]
    return max(candidates, key=lambda z: abs(analyst.change(task, z)))


def _effect(task: Task, analyst: Analyst) -> Estimate | None:
    """The effect that the family asks about, or the estimand that the task names."""
    asked = {"effect_estimate": "ATE", "counterfactual_effect": "ETT"}.get(task.family)
    return analyst.effect(task, asked or task.inputs["estimand"])


def _value(task: Task, analyst: Analyst) -> Answer:
    found = _effect(task, analyst)
    return {task.shape.field: None if found is None else found.value}


def _interval(task: Task, analyst: Analyst) -> Answer:
    found = _effect(task, analyst)
    if found is None:
        return {task.shape.field: None, "ci_lower": None, "ci_upper": None}
    return {task.shape.field: found.value, "ci_lower": found.low, "ci_upper": found.high}


def _sign(task: Task, analyst: Analyst) -> Answer:
    found = _effect(task, analyst)
    return {"sign": "unknown" if found is None else analyst.label(found.value, "0")}


FORMS: Final[Mapping[str, Form]] = {
    "association.sign_only": _form(sign=_plain_sign),
    "association.effect_size_point": _form(value=lambda t, a: a.correlation(t)),
    "association.sign_before_after": _form(sign_before=_plain_sign, sign_after=_partial_sign),
    "association.delta_point": _form(delta=_change),
    "association.delta_sign_only": _form(sign=lambda t, a: a.label(_change(t, a), "0")),
    "association.argmax_change": _form(conditioning_var=_most_changing),
    "collider_phenomenon.induced_association_sign_only": _form(sign=_partial_sign),
    "collider_phenomenon.induced_association_strength_point": _form(
        value=lambda t, a: a.partial(t, third(t))
    ),
    "causal_sketch.edges_only": _form(
        edges=lambda t, a: [{"from": x, "to": y} for x, y in a.sketch(t)]
    ),
    "causal_sketch.skeleton_edges": _form(
        skeleton_edges=lambda t, a: [{"a": x, "b": y} for x, y in a.sketch(t)]
    ),
    "effect_estimate.ate_point": _value,
    "effect_estimate.ate_uq_95": _interval,
    "effect_estimate.ate_sign_only": _sign,
    "counterfactual_effect.effect_point": _value,
    "counterfactual_effect.effect_uq_95": _interval,
    "counterfactual_effect.sign_only": _sign,
    "mediation_effect.effect_point": _value,
    "mediation_effect.effect_uq_95": _interval,
    "mediation_effect.sign_only": _sign,
}
"""By ``family.variant``."""
