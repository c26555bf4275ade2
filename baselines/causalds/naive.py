"""An analyst who regresses and reports: every association is an effect, every graph identifies.

The usual mistakes on purpose: all other columns as controls, no reading of who causes whom beyond
the order of words, measured variables taken for what the measurements predict, and never an
abstention. Variants whose answers it would have to look up have the same answer always, by kind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, assert_never

import numpy as np
from scipy.special import ndtri

from baselines.causalds.desk import FORMS, completed, correlations, ends, partial, third
from baselines.causalds.estimators import Estimate
from baselines.causalds.regression import fit, is_binary, make_basis, predict, term_ladder
from baselines.taking import Answer, FloatArray, ShownScene, csv_text, first
from builder.reader import read_story
from builder.reader.english import MARK, mask, sentences
from grader.scoring.shape import Task

_NORMAL_975: Final = float(ndtri(0.975))


@dataclass
class NaiveDesk:
    """A scene as the naive analyst sees it."""

    shown: ShownScene

    @cached_property
    def scene(self) -> ShownScene:
        """The scene with a predicted column in place of measurements."""
        return completed(self.shown)

    def correlation(self, task: Task) -> float:
        """That of treatment and outcome."""
        return float(self._correlations(ends(task))[0, 0, 1])

    def partial(self, task: Task, given: str) -> float:
        """The same given a third variable."""
        found = self._correlations((*ends(task), given))
        return float(partial(found[:, 0, 1], found[:, 0, 2], found[:, 1, 2])[0])

    def change(self, task: Task, given: str) -> float:
        """By how much the third variable changes it."""
        return self.partial(task, given) - self.correlation(task)

    def effect(self, task: Task, name: str) -> Estimate:
        """Any effect is the coefficient but the indirect one."""
        return self.indirect(task) if name == "NIE" else self.slope(task)

    def slope(self, task: Task, *, controlled: bool = True) -> Estimate:
        """Coefficient of the treatment times the contrast, with every other column as a control or
        with none. The 95% interval takes the error variance for constant."""
        data, (x, y) = self.scene.data, ends(task)
        others = [name for name in data if controlled and name not in (x, y)]
        outcome = data[y]
        design = np.column_stack([np.ones(len(outcome)), *(data[name] for name in [x, *others])])
        inverse = np.linalg.pinv(design.T @ design)
        beta = inverse @ design.T @ outcome
        spread = float(np.mean((outcome - design @ beta) ** 2))
        step = float(task.inputs["x1"]) - float(task.inputs["x0"])
        half = _NORMAL_975 * float(np.sqrt(spread * inverse[1, 1])) * abs(step)
        return _within(float(beta[1]) * step, half)

    def indirect(self, task: Task) -> Estimate:
        """The slope without controls less that with them (Baron & Kenny 1986): every other column
        is taken for a mediator."""
        direct, total = self.slope(task), self.slope(task, controlled=False)
        return _within(total.value - direct.value, float(np.hypot(direct.error, total.error)))

    def sketch(self, task: Task) -> list[tuple[str, str]]:
        """Words in their order: from the first variable of a sentence to each later one."""
        names = list(read_story(self.shown.story, (), task.inputs["variables"]).variables)
        pairs: dict[tuple[int, int], None] = {}
        for sentence in sentences(mask(self.shown.story, names)):
            marks = [int(mark) for mark in MARK.findall(sentence)]
            pairs |= {(marks[0], other): None for other in marks[1:] if other != marks[0]}
        return [(names[a], names[b]) for a, b in pairs]

    def label(self, value: float, zero: str) -> str:
        """Nothing is ever exactly zero."""
        return "+" if value >= 0 else "-"

    def _correlations(self, names: tuple[str, ...]) -> FloatArray:
        data = self.scene.data
        return correlations(data, names, np.ones((1, len(data[names[0]]))))


def _within(value: float, half: float) -> Estimate:
    """A value with half the width of its interval, which stands for its error."""
    return Estimate(value, half, value - half, value + half)


Solve = Callable[[Task, NaiveDesk], Answer]


def make_solver(scene: ShownScene) -> Callable[[Task], Answer]:
    """The analyst at work on one scene."""
    desk = NaiveDesk(scene)
    return lambda task: SOLVERS.get(task.spec.key, _unexamined)(task, desk)


# --- prediction -------------------------------------------------------------------------------


def _prediction(task: Task, desk: NaiveDesk) -> Answer:
    """Linear or logistic regression on everything; bounds from in-sample residual quantiles."""
    scene, y = desk.scene, desk.scene.data[task.inputs["outcome"]]
    test = {name: v for name, v in scene.test.items() if name != task.inputs["outcome"]}
    features = {name: scene.data[name] for name in test}
    basis = make_basis(features, term_ladder(features)[0])
    binary = is_binary(y)
    beta = fit(basis(features), y, np.ones((1, len(y))), binary)
    inside, point = (predict(basis(part), beta, binary)[0] for part in (features, test))
    columns: dict[str, FloatArray] = {"prediction": point}
    if task.shape.name == "prediction_interval_csv":
        alpha = task.inputs["alpha"]
        low, high = np.quantile(y - inside, [alpha / 2, 1 - alpha / 2])
        columns["lower"], columns["upper"] = point + low, point + high
        if binary:
            columns = {name: np.clip(values, 0, 1) for name, values in columns.items()}
    return csv_text(**columns)


# --- what is asked once: tests, sets of controls, comparisons ----------------------------------


def _induced(task: Task, desk: NaiveDesk) -> Answer:
    """Whether a test at the 5% level rejects that the partial correlation is zero."""
    rows = len(desk.scene.data[task.inputs["treatment"]])
    found = desk.partial(task, third(task))
    return {"association_present": bool(abs(found) * np.sqrt(rows) > _NORMAL_975)}


def _always(**answer: Any) -> Solve:
    return lambda task, desk: answer


def _unexamined(task: Task, desk: NaiveDesk) -> Answer:
    """What is said to a question that no regression answers: yes, the first label, everything on
    offer; nothing but the floor where numbers or a graph are asked for."""
    kind, shape = task.shape.kind, task.shape
    match kind:
        case "boolean":
            return {shape.field: True}
        case "sign" | "label":
            return {shape.field: next(word for word in shape.labels if word != shape.abstention)}
        case "count":
            return {shape.field: 1}
        case "name":
            return {shape.field: task.inputs["candidates"][0]}
        case "set":
            return {shape.field: list(task.inputs["available"])}
        case "sets":
            return {shape.field: [list(task.inputs["available"])]}
        case "names":
            return {shape.field: []}
        case "predictions" | "signs" | "number" | "interval" | "edges":
            return first(task)
        case "units" | "quantities" | "deduction" | "program" | "alternative" | "session":
            return first(task)
        case _:
            assert_never(kind)


def _matches(task: Task, desk: NaiveDesk) -> Answer:
    signs = {desk.label(value, "0") for value in (desk.slope(task).value, desk.correlation(task))}
    return {"matches": len(signs) == 1}


def _dominance(task: Task, desk: NaiveDesk) -> Answer:
    direct, indirect = desk.slope(task).value, desk.indirect(task).value
    return {"dominant": "direct" if abs(direct) >= abs(indirect) else "indirect"}


SOLVERS: Final[Mapping[str, Solve]] = {
    **FORMS,
    "prediction.point_predictor": _prediction,
    "prediction.prediction_interval": _prediction,
    "collider_phenomenon.induced_association_boolean": _induced,
    "identification.method_label": _always(method="backdoor"),
    "identification.minimal_adjustment_set_size": lambda t, d: {"k": len(t.inputs["available"])},
    "effect_estimate.ate_vs_assoc_sign_match": _matches,
    "bias_diagnostic.collider_bias_boolean": _always(bias_present=False),
    "mediation_effect.direct_vs_indirect_dominance": _dominance,
}
"""By ``family.variant``; the others are answered by kind."""
