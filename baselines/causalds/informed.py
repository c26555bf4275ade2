"""An analyst who reads the story first: graph, identification, then the estimator it calls for.

The graph comes from :mod:`baselines.reader`; the identification theory from :mod:`builder.causal`;
numbers from the tables, by :mod:`baselines.causalds.desk`. Where an effect is not identifiable the
answer is the documented abstention. One function per variant.

Variables that are seen through measurements are predicted from them (regression calibration).
``informed`` takes the predictions for the variables; ``double-sampling`` corrects its estimates by
the calibration rows. The step between the two is the price of measurement error.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from baselines.causalds.desk import Desk
from baselines.causalds.estimators import Contrast, Estimate
from baselines.causalds.identified import identifiable
from baselines.causalds.prediction import Forecast, forecast
from baselines.release import FloatArray, ShownScene
from baselines.seeded import generator
from baselines.writing import Answer, Predictions
from builder.causal import (
    LatentDAG,
    ate_identifiable,
    forbidden_controls,
    identification_method,
    minimal_adjustment_sets,
    opens_collider_bias,
    valid_adjustment_sets,
)
from builder.scm import TIE_BAND
from grader.shape import Task

Solve = Callable[[Task, Desk], Answer]


def informed(task: Task, scene: ShownScene) -> Answer:
    """The informed analyst's answer to one task about a scene as it is released."""
    return make_solver(scene)(task)


def make_solver(scene: ShownScene, *, corrected: bool = False) -> Callable[[Task], Answer]:
    """The analyst at work on one scene: answers its tasks, reading and fitting once.

    ``corrected`` takes out of every estimate what the calibration rows show of measurement error.
    """
    desk = Desk(scene, corrected)
    return lambda task: SOLVERS[task.spec.key](task, desk)


# --- prediction -------------------------------------------------------------------------------


def _forecast(task: Task, desk: Desk) -> Forecast:
    """Predict from measurements and what they say; by calibration rows where Y is measured."""
    y, alpha = task.inputs["outcome"], float(task.inputs.get("alpha", 0.1))
    shown, whole = desk.shown, desk.whole
    train: dict[str, FloatArray] = {**shown.data, **whole.data}
    test = {name: v for name, v in {**shown.test, **whole.test}.items() if name != y}
    target = train[y]
    if y in desk.tables.measured:
        places = desk.tables.places
        train = {name: values[places] for name, values in train.items()}
        target = desk.tables.known[y]
    features = {name: train[name] for name in test}
    core = [name for name in whole.test if name != y]
    return forecast(features, target, test, alpha, generator(f"folds/{task.task_id}"), core)


def _point_predictor(task: Task, desk: Desk) -> Answer:
    return Predictions({"prediction": _forecast(task, desk).prediction})


def _prediction_interval(task: Task, desk: Desk) -> Answer:
    found = _forecast(task, desk)
    return Predictions({"prediction": found.prediction, "lower": found.lower, "upper": found.upper})


# --- associations -----------------------------------------------------------------------------


def _label(found: Estimate, zero: str) -> str:
    return zero if found.value == 0 else "+" if found.value > 0 else "-"


def _plain(task: Task, desk: Desk) -> Estimate:
    return desk.associations(*_ends(task)).plain


def _partial(task: Task, desk: Desk) -> Estimate:
    return desk.associations(*_ends(task)).partial[_third(task)]


def _change(task: Task, desk: Desk) -> Estimate:
    return desk.associations(*_ends(task)).change[_third(task)]


def _sign_before_after(task: Task, desk: Desk) -> Answer:
    return {
        "sign_before": _label(_plain(task, desk), "unknown"),
        "sign_after": _label(_partial(task, desk), "unknown"),
        "conditioning_var": _third(task),
    }


def _delta_point(task: Task, desk: Desk) -> Answer:
    return {"conditioning_var": _third(task), "delta": _change(task, desk).value}


def _delta_sign(task: Task, desk: Desk) -> Answer:
    return {"conditioning_var": _third(task), "sign": _label(_change(task, desk), "0")}


def _argmax_change(task: Task, desk: Desk) -> Answer:
    changes = desk.associations(*_ends(task)).change
    largest = max(task.inputs["candidates"], key=lambda name: abs(changes[name].value))
    return {"conditioning_var": largest}


# --- the graph itself -------------------------------------------------------------------------


def _edges(task: Task, desk: Desk) -> Answer:
    edges = desk.sketch(task.inputs["variables"])
    return {"edges": [{"from": a, "to": b} for a, b in edges]}


def _skeleton(task: Task, desk: Desk) -> Answer:
    edges = desk.sketch(task.inputs["variables"])
    return {"skeleton_edges": [{"a": a, "b": b} for a, b in edges]}


def _query(task: Task, desk: Desk) -> tuple[LatentDAG, str, str]:
    """The graph over the variables that the task says are measured, treatment and outcome."""
    x, y = _ends(task)
    named = task.inputs.get("observed") or task.inputs.get("available") or []
    return desk.graph([x, y, *named]), x, y


def _method(task: Task, desk: Desk) -> Answer:
    return {"method": identification_method(*_query(task, desk))}


def _ate_identifiable(task: Task, desk: Desk) -> Answer:
    return {"identifiable": ate_identifiable(*_query(task, desk))}


def _counterfactual_identifiable(task: Task, desk: Desk) -> Answer:
    # The two levels are all that a story task tells of the treatment's kind.
    binary = (task.inputs["x0"], task.inputs["x1"]) == (0, 1)
    query = _query(task, desk)
    return {"identifiable": identifiable(*query, task.inputs["estimand"], binary=binary)}


def _word(query: tuple[LatentDAG, str, str]) -> str | None:
    """What takes the place of a set: None where there are valid sets."""
    if valid_adjustment_sets(*query):
        return None
    return "no_backdoor" if ate_identifiable(*query) else "non_id"


def _one_set(task: Task, desk: Desk) -> Answer:
    query = _query(task, desk)
    return {"adjust": _word(query) or sorted(minimal_adjustment_sets(*query)[0])}


def _smallest_set(task: Task, desk: Desk) -> Answer:
    query = _query(task, desk)
    return {"k": _word(query) or len(valid_adjustment_sets(*query)[0])}


def _number_of_sets(task: Task, desk: Desk) -> Answer:
    query = _query(task, desk)
    return {"n": _word(query) or len(valid_adjustment_sets(*query))}


def _minimal_sets(task: Task, desk: Desk) -> Answer:
    query = _query(task, desk)
    sets = [sorted(names) for names in minimal_adjustment_sets(*query)]
    return {"adjustment_sets": _word(query) or sets}


def _forbidden(task: Task, desk: Desk) -> Answer:
    query = _query(task, desk)
    return {"forbidden": _word(query) or sorted(forbidden_controls(*query))}


def _collider_bias(task: Task, desk: Desk) -> Answer:
    return {"bias_present": opens_collider_bias(desk.graph(), *_ends(task), _third(task))}


# --- effects ----------------------------------------------------------------------------------


def _effect(task: Task, desk: Desk, name: str | None = None) -> Estimate | None:
    inputs = task.inputs
    kind = name or inputs["estimand"]
    contrast = Contrast(*_ends(task), float(inputs["x0"]), float(inputs["x1"]), kind == "ETT")
    return desk.effect(kind, contrast)


def _value(field: str, name: str | None = None) -> Solve:
    def solve(task: Task, desk: Desk) -> Answer:
        found = _effect(task, desk, name)
        return {field: None if found is None else found.value}

    return solve


def _interval(field: str, name: str | None = None) -> Solve:
    def solve(task: Task, desk: Desk) -> Answer:
        found = _effect(task, desk, name)
        if found is None:
            return {field: None, "ci_lower": None, "ci_upper": None}
        return {field: found.value, "ci_lower": found.low, "ci_upper": found.high}

    return solve


def _sign(name: str | None = None) -> Solve:
    def solve(task: Task, desk: Desk) -> Answer:
        found = _effect(task, desk, name)
        return {"sign": "unknown" if found is None else _label(found, "0")}

    return solve


def _matches(task: Task, desk: Desk) -> Answer:
    effect, r = _effect(task, desk, "ATE"), _plain(task, desk)
    return {"matches": None if effect is None else bool(effect.value * r.value > 0)}


def _dominance(task: Task, desk: Desk) -> Answer:
    direct, indirect = _effect(task, desk, "NDE"), _effect(task, desk, "NIE")
    if direct is None or indirect is None:
        return {"dominant": None}
    return {"dominant": larger(direct.value, indirect.value)}


def larger(direct: float, indirect: float) -> str:
    """ "direct", "indirect", or "tie" within the band that the prompt states."""
    sizes = np.abs([direct, indirect])
    if abs(sizes[0] - sizes[1]) <= TIE_BAND * sizes.max():
        return "tie"
    return "direct" if sizes[0] > sizes[1] else "indirect"


def _ends(task: Task) -> tuple[str, str]:
    return task.inputs["treatment"], task.inputs["outcome"]


def _third(task: Task) -> Any:
    """The variable to condition on."""
    return task.inputs.get("collider") or task.inputs["conditioning_var"]


SOLVERS: Final[Mapping[str, Solve]] = {
    "prediction.point_predictor": _point_predictor,
    "prediction.prediction_interval": _prediction_interval,
    "association.sign_only": lambda t, d: {"sign": _label(_plain(t, d), "unknown")},
    "association.effect_size_point": lambda t, d: {"value": _plain(t, d).value},
    "association.sign_before_after": _sign_before_after,
    "association.delta_point": _delta_point,
    "association.delta_sign_only": _delta_sign,
    "association.argmax_change": _argmax_change,
    "collider_phenomenon.induced_association_boolean": lambda t, d: {
        "association_present": _partial(t, d).value != 0
    },
    "collider_phenomenon.induced_association_sign_only": lambda t, d: {
        "sign": _label(_partial(t, d), "unknown")
    },
    "collider_phenomenon.induced_association_strength_point": lambda t, d: {
        "value": _partial(t, d).value
    },
    "causal_sketch.edges_only": _edges,
    "causal_sketch.skeleton_edges": _skeleton,
    "identification.one_valid_adjustment_set": _one_set,
    "identification.method_label": _method,
    "identification.identifiable_boolean": _ate_identifiable,
    "identification.minimal_adjustment_set_size": _smallest_set,
    "identification.n_valid_adjustment_sets": _number_of_sets,
    "identification.all_minimal_adjustment_sets": _minimal_sets,
    "effect_estimate.ate_point": _value("ate", "ATE"),
    "effect_estimate.ate_uq_95": _interval("ate", "ATE"),
    "effect_estimate.ate_sign_only": _sign("ATE"),
    "effect_estimate.ate_vs_assoc_sign_match": _matches,
    "bias_diagnostic.collider_bias_boolean": _collider_bias,
    "bias_diagnostic.forbidden_controls_list": _forbidden,
    "counterfactual_identification.identifiable_boolean": _counterfactual_identifiable,
    "counterfactual_effect.effect_point": _value("value", "ETT"),
    "counterfactual_effect.effect_uq_95": _interval("value", "ETT"),
    "counterfactual_effect.sign_only": _sign("ETT"),
    "mediation_effect.effect_point": _value("value"),
    "mediation_effect.effect_uq_95": _interval("value"),
    "mediation_effect.sign_only": _sign(),
    "mediation_effect.direct_vs_indirect_dominance": _dominance,
}
"""By ``family.variant``."""
