"""An analyst who regresses and reports: every association is an effect, every graph identifies.

The usual mistakes on purpose: all other columns as controls, no reading of who causes whom beyond
the order of words, measured variables taken for what the measurements predict, and never an
abstention. One function per variant.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy.stats import norm

from baselines.causalds.calibration import completed
from baselines.causalds.correlation import correlations, partial
from baselines.causalds.regression import fit, is_binary, make_basis, predict, term_ladder
from baselines.reader.names import MARK, discover, mask, sentences
from baselines.release import FloatArray, ShownScene
from baselines.writing import Answer, Predictions
from grader.shape import Task

_NORMAL_975: Final = float(norm.ppf(0.975))


@dataclass
class NaiveDesk:
    """A scene as the naive analyst sees it."""

    shown: ShownScene

    @cached_property
    def scene(self) -> ShownScene:
        """The scene with a predicted column in place of measurements."""
        return completed(self.shown)


Solve = Callable[[Task, NaiveDesk], Answer]


def naive(task: Task, scene: ShownScene) -> Answer:
    """The naive analyst's answer to one task about a scene as it is released."""
    return make_solver(scene)(task)


def make_solver(scene: ShownScene) -> Callable[[Task], Answer]:
    """The analyst at work on one scene."""
    desk = NaiveDesk(scene)
    return lambda task: SOLVERS[task.spec.key](task, desk)


def edges_in_reading_order(story: str, count: int) -> list[tuple[str, str]]:
    """One edge from the first variable of each sentence to each later one in it."""
    names = discover(story, (), count)
    pairs: dict[tuple[int, int], None] = {}
    for sentence in sentences(mask(story, names)):
        marks = [int(mark) for mark in MARK.findall(sentence)]
        pairs |= {(marks[0], other): None for other in marks[1:] if other != marks[0]}
    return [(names[a], names[b]) for a, b in pairs]


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
    return Predictions(columns)


# --- associations -----------------------------------------------------------------------------


def _correlation(task: Task, desk: NaiveDesk) -> float:
    data = desk.scene.data
    ones = np.ones((1, len(data[task.inputs["treatment"]])))
    return float(correlations(data, _ends(task), ones)[0, 0, 1])


def _partial(task: Task, desk: NaiveDesk, third: str | None = None) -> float:
    data, (x, y) = desk.scene.data, _ends(task)
    found = correlations(data, (x, y, third or _third(task)), np.ones((1, len(data[x]))))
    return float(partial(found[:, 0, 1], found[:, 0, 2], found[:, 1, 2])[0])


def _change(task: Task, desk: NaiveDesk, third: str | None = None) -> float:
    return _partial(task, desk, third) - _correlation(task, desk)


def _label(value: float) -> str:
    return "+" if value >= 0 else "-"


def _sign_before_after(task: Task, desk: NaiveDesk) -> Answer:
    return {
        "sign_before": _label(_correlation(task, desk)),
        "sign_after": _label(_partial(task, desk)),
        "conditioning_var": _third(task),
    }


def _delta_point(task: Task, desk: NaiveDesk) -> Answer:
    return {"conditioning_var": _third(task), "delta": _change(task, desk)}


def _delta_sign(task: Task, desk: NaiveDesk) -> Answer:
    return {"conditioning_var": _third(task), "sign": _label(_change(task, desk))}


def _argmax_change(task: Task, desk: NaiveDesk) -> Answer:
    candidates: list[str] = task.inputs["candidates"]
    return {"conditioning_var": max(candidates, key=lambda z: abs(_change(task, desk, z)))}


def _induced(task: Task, desk: NaiveDesk) -> Answer:
    """Whether a test at the 5% level rejects that the partial correlation is zero."""
    rows = len(desk.scene.data[task.inputs["treatment"]])
    return {"association_present": bool(abs(_partial(task, desk)) * np.sqrt(rows) > _NORMAL_975)}


# --- the graph: words in their order, and all columns as controls -----------------------------


def _edges(task: Task, desk: NaiveDesk) -> Answer:
    edges = edges_in_reading_order(desk.shown.story, task.inputs["variables"])
    return {"edges": [{"from": a, "to": b} for a, b in edges]}


def _skeleton(task: Task, desk: NaiveDesk) -> Answer:
    edges = edges_in_reading_order(desk.shown.story, task.inputs["variables"])
    return {"skeleton_edges": [{"a": a, "b": b} for a, b in edges]}


def _always(**answer: Any) -> Solve:
    return lambda task, desk: answer


# --- effects: regression coefficients ---------------------------------------------------------


def _slope(task: Task, desk: NaiveDesk, leaving: Sequence[str] = ()) -> tuple[float, float]:
    """Coefficient of the treatment with every other column as control, times the contrast.

    Columns named in ``leaving`` are no controls. Returns the effect and half the width of its 95%
    interval under constant error variance.
    """
    data, (x, y) = desk.scene.data, _ends(task)
    others = [name for name in data if name not in (x, y, *leaving)]
    outcome = data[y]
    design = np.column_stack([np.ones(len(outcome)), *(data[name] for name in [x, *others])])
    inverse = np.linalg.pinv(design.T @ design)
    beta = inverse @ design.T @ outcome
    spread = float(np.mean((outcome - design @ beta) ** 2))
    step = float(task.inputs["x1"]) - float(task.inputs["x0"])
    half = _NORMAL_975 * float(np.sqrt(spread * inverse[1, 1])) * abs(step)
    return float(beta[1]) * step, half


def _indirect(task: Task, desk: NaiveDesk) -> tuple[float, float]:
    """By how much the coefficient moves once the mediators are controls (Baron & Kenny 1986)."""
    direct, half = _slope(task, desk)
    total, wider = _slope(task, desk, task.inputs["mediators"])
    return total - direct, float(np.hypot(half, wider))


def _effect(task: Task, desk: NaiveDesk) -> tuple[float, float]:
    """Any effect is the coefficient but the indirect one."""
    indirect = task.inputs.get("estimand") == "NIE"
    return _indirect(task, desk) if indirect else _slope(task, desk)


def _value(task: Task, desk: NaiveDesk) -> Answer:
    return {task.shape.field: _effect(task, desk)[0]}


def _interval(task: Task, desk: NaiveDesk) -> Answer:
    value, half = _effect(task, desk)
    return {task.shape.field: value, "ci_lower": value - half, "ci_upper": value + half}


def _sign(task: Task, desk: NaiveDesk) -> Answer:
    return {"sign": _label(_effect(task, desk)[0])}


def _matches(task: Task, desk: NaiveDesk) -> Answer:
    return {"matches": _label(_slope(task, desk)[0]) == _label(_correlation(task, desk))}


def _dominance(task: Task, desk: NaiveDesk) -> Answer:
    direct, indirect = _slope(task, desk)[0], _indirect(task, desk)[0]
    return {"dominant": "direct" if abs(direct) >= abs(indirect) else "indirect"}


def _ends(task: Task) -> tuple[str, str]:
    return task.inputs["treatment"], task.inputs["outcome"]


def _third(task: Task) -> str:
    return str(task.inputs.get("collider") or task.inputs["conditioning_var"])


SOLVERS: Final[Mapping[str, Solve]] = {
    "prediction.point_predictor": _prediction,
    "prediction.prediction_interval": _prediction,
    "association.sign_only": lambda t, d: {"sign": _label(_correlation(t, d))},
    "association.effect_size_point": lambda t, d: {"value": _correlation(t, d)},
    "association.sign_before_after": _sign_before_after,
    "association.delta_point": _delta_point,
    "association.delta_sign_only": _delta_sign,
    "association.argmax_change": _argmax_change,
    "collider_phenomenon.induced_association_boolean": _induced,
    "collider_phenomenon.induced_association_sign_only": lambda t, d: {
        "sign": _label(_partial(t, d))
    },
    "collider_phenomenon.induced_association_strength_point": lambda t, d: {
        "value": _partial(t, d)
    },
    "causal_sketch.edges_only": _edges,
    "causal_sketch.skeleton_edges": _skeleton,
    "identification.one_valid_adjustment_set": lambda t, d: {"adjust": list(t.inputs["available"])},
    "identification.method_label": _always(method="backdoor"),
    "identification.identifiable_boolean": _always(identifiable=True),
    "identification.minimal_adjustment_set_size": lambda t, d: {"k": len(t.inputs["available"])},
    "identification.n_valid_adjustment_sets": _always(n=1),
    "identification.all_minimal_adjustment_sets": lambda t, d: {
        "adjustment_sets": [list(t.inputs["available"])]
    },
    "effect_estimate.ate_point": _value,
    "effect_estimate.ate_uq_95": _interval,
    "effect_estimate.ate_sign_only": _sign,
    "effect_estimate.ate_vs_assoc_sign_match": _matches,
    "bias_diagnostic.collider_bias_boolean": _always(bias_present=False),
    "bias_diagnostic.forbidden_controls_list": _always(forbidden=[]),
    "counterfactual_identification.identifiable_boolean": _always(identifiable=True),
    "counterfactual_effect.effect_point": _value,
    "counterfactual_effect.effect_uq_95": _interval,
    "counterfactual_effect.sign_only": _sign,
    "mediation_effect.effect_point": _value,
    "mediation_effect.effect_uq_95": _interval,
    "mediation_effect.sign_only": _sign,
    "mediation_effect.direct_vs_indirect_dominance": _dominance,
}
"""By ``family.variant``."""
