"""An analyst who regresses and reports: every association is an effect, every graph identifies.

The usual mistakes on purpose: all other columns as controls, no reading of who causes whom beyond
the order of words, measured variables taken for what the measurements predict, and never an
abstention. Variants whose answers it would have to look up have the same answer always, by kind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from baselines.causalds.analysis import (
    FORMS,
    correlations,
    ends,
    partial_correlation,
    predict_measured,
    third,
)
from baselines.causalds.estimators import NORMAL_975, Estimate
from baselines.causalds.regression import fit, is_binary, predict
from baselines.exam import Answer, ShownScene, constants_of, csv_text
from builder.reader import read_story
from builder.reader.story import MARK, mask, sentences
from grader.scoring.shape import Task


@dataclass
class NaiveAnalysis:
    """The findings of the naive analyst in ``shown``, a scene as it is released."""

    shown: ShownScene

    @cached_property
    def scene(self) -> ShownScene:
        """The scene with a predicted column for each measured variable, without measurements."""
        return predict_measured(self.shown)

    def association(self, task: Task, *given: str) -> list[float]:
        """Return [correlation of x and y], or given a third [partial correlation, its change]."""
        data, names = self.scene.data, (*ends(task), *given)
        found = correlations(data, names, np.ones((1, len(data[names[0]]))))
        r = float(found[0, 0, 1])
        if not given:
            return [r]
        s = float(partial_correlation(found[:, 0, 1], found[:, 0, 2], found[:, 1, 2])[0])
        return [s, s - r]

    def effect(self, task: Task, name: str) -> Estimate:
        """Return :meth:`indirect` for the "NIE", the controlled :meth:`slope` for all others."""
        return self.indirect(task) if name == "NIE" else self.slope(task)

    def slope(self, task: Task, *, controlled: bool = True) -> Estimate:
        """Return the treatment's coefficient times its step, all columns as controls or none."""
        data, (x, y) = self.scene.data, ends(task)
        others = [name for name in data if controlled and name not in (x, y)]
        outcome = data[y]
        design = np.column_stack([np.ones(len(outcome)), *(data[name] for name in [x, *others])])
        inverse = np.linalg.pinv(design.T @ design)
        beta = inverse @ design.T @ outcome
        spread = float(np.mean((outcome - design @ beta) ** 2))
        step = float(task.inputs["x1"]) - float(task.inputs["x0"])
        half = NORMAL_975 * float(np.sqrt(spread * inverse[1, 1])) * abs(step)
        return _estimate(float(beta[1]) * step, half)

    def indirect(self, task: Task) -> Estimate:
        """Return the slope without controls less that with all (Baron & Kenny 1986)."""
        direct, total = self.slope(task), self.slope(task, controlled=False)
        return _estimate(total.value - direct.value, float(np.hypot(direct.error, total.error)))

    def sketch(self, task: Task) -> list[tuple[str, str]]:
        """Return (cause, effect) pairs: the first variable of a sentence with each later one."""
        names = list(read_story(self.shown.story, (), task.inputs["variables"]).variables)
        pairs: dict[tuple[int, int], None] = {}
        for sentence in sentences(mask(self.shown.story, names)):
            marks = [int(mark) for mark in MARK.findall(sentence)]
            pairs |= {(marks[0], other): None for other in marks[1:] if other != marks[0]}
        return [(names[a], names[b]) for a, b in pairs]

    def label(self, value: float, zero: str) -> str:
        """Return "+" for a value from 0 on, else "-"; never ``zero``."""
        return "+" if value >= 0 else "-"


def _estimate(value: float, half: float) -> Estimate:
    """Return the estimate with interval ``value`` ± ``half``; its ``error`` is ``half`` too."""
    return Estimate(value, half, value - half, value + half)


Solve = Callable[[Task, NaiveAnalysis], Answer]


def make_solver(scene: ShownScene) -> Callable[[Task], Answer]:
    """Return the function that answers any task of one scene."""
    analysis = NaiveAnalysis(scene)
    return lambda task: SOLVERS.get(task.spec.key, _default_answer)(task, analysis)


def _prediction(task: Task, analysis: NaiveAnalysis) -> Answer:
    """Predict held-out rows by regression on all columns, bounds by residual quantiles."""
    scene, outcome = analysis.scene, task.inputs["outcome"]
    y, names = scene.data[outcome], [name for name in scene.test if name != outcome]
    known, held = (np.column_stack([t[name] for name in names]) for t in (scene.data, scene.test))
    logistic = is_binary(y)
    designs = [np.column_stack([np.ones(len(part)), part]) for part in (known, held)]
    beta = fit(designs[0], y, np.ones((1, len(y))), logistic)
    inside, point = (predict(design, beta, logistic)[0] for design in designs)
    if task.shape.name != "prediction_interval_csv":
        return csv_text(prediction=point)
    low, high = np.quantile(y - inside, [task.inputs["alpha"] / 2, 1 - task.inputs["alpha"] / 2])
    ends = (-np.inf, np.inf) if not logistic else (0.0, 1.0)
    lower, upper = (np.clip(point + shift, *ends) for shift in (low, high))
    return csv_text(prediction=point, lower=lower, upper=upper)


def _induced_association(task: Task, analysis: NaiveAnalysis) -> Answer:
    """Answer whether a test at the 5% level rejects that the partial correlation is zero."""
    rows = len(analysis.scene.data[task.inputs["treatment"]])
    found = analysis.association(task, third(task))[0]
    return {"association_present": bool(abs(found) * np.sqrt(rows) > NORMAL_975)}


def _default_answer(task: Task, analysis: NaiveAnalysis) -> Answer:
    """Answer a set with all that is offered, anything else with the first constant."""
    if task.shape.kind in ("set", "sets"):
        offered = list(task.inputs.get("available", ()))
        return {task.shape.field: offered if task.shape.kind == "set" else [offered]}
    return next(iter(constants_of(task).values()))


def _matches(task: Task, analysis: NaiveAnalysis) -> Answer:
    """Answer whether slope, all columns controlled, and correlation have the same sign (0 is +)."""
    slope, (correlation,) = analysis.slope(task).value, analysis.association(task)
    return {"matches": (slope >= 0) == (correlation >= 0)}


def _dominance(task: Task, analysis: NaiveAnalysis) -> Answer:
    """Answer which is larger in size, direct (slope with controls) or indirect; never "tie"."""
    direct, indirect = analysis.slope(task).value, analysis.indirect(task).value
    return {"dominant": "direct" if abs(direct) >= abs(indirect) else "indirect"}


SOLVERS: Final[Mapping[str, Solve]] = {
    **FORMS,
    "prediction.point_predictor": _prediction,
    "prediction.prediction_interval": _prediction,
    "collider_phenomenon.induced_association_boolean": _induced_association,
    "identification.method_label": lambda t, d: {"method": "backdoor"},
    "identification.minimal_adjustment_set_size": lambda t, d: {"k": len(t.inputs["available"])},
    "effect_estimate.ate_vs_assoc_sign_match": _matches,
    "bias_diagnostic.collider_bias_boolean": lambda t, d: {"bias_present": False},
    "mediation_effect.direct_vs_indirect_dominance": _dominance,
}
"""By ``family.variant``; the others are answered by kind."""
