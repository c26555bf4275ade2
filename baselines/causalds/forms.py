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
    return str(task.inputs.get("collider") or task.inputs["conditioning_var"])


def _sign_before_after(task: Task, analyst: Analyst) -> Answer:
    return {
        "sign_before": analyst.label(analyst.correlation(task), "unknown"),
        "sign_after": analyst.label(analyst.partial(task, third(task)), "unknown"),
        "conditioning_var": third(task),
    }


def _delta_point(task: Task, analyst: Analyst) -> Answer:
    return {"conditioning_var": third(task), "delta": analyst.change(task, third(task))}


def _delta_sign(task: Task, analyst: Analyst) -> Answer:
    change = analyst.change(task, third(task))
    return {"conditioning_var": third(task), "sign": analyst.label(change, "0")}


def _argmax_change(task: Task, analyst: Analyst) -> Answer:
    candidates: list[str] = task.inputs["candidates"]
    return {"conditioning_var": max(candidates, key=lambda z: abs(analyst.change(task, z)))}


def _induced_sign(task: Task, analyst: Analyst) -> Answer:
    return {"sign": analyst.label(analyst.partial(task, third(task)), "unknown")}


def _edges(task: Task, analyst: Analyst) -> Answer:
    return {"edges": [{"from": a, "to": b} for a, b in analyst.sketch(task)]}


def _skeleton(task: Task, analyst: Analyst) -> Answer:
    return {"skeleton_edges": [{"a": a, "b": b} for a, b in analyst.sketch(task)]}


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
    "association.sign_only": lambda t, a: {"sign": a.label(a.correlation(t), "unknown")},
    "association.effect_size_point": lambda t, a: {"value": a.correlation(t)},
    "association.sign_before_after": _sign_before_after,
    "association.delta_point": _delta_point,
    "association.delta_sign_only": _delta_sign,
    "association.argmax_change": _argmax_change,
    "collider_phenomenon.induced_association_sign_only": _induced_sign,
    "collider_phenomenon.induced_association_strength_point": lambda t, a: {
        "value": a.partial(t, third(t))
    },
    "causal_sketch.edges_only": _edges,
    "causal_sketch.skeleton_edges": _skeleton,
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
