"""An analyst who reads the story first: graph, identification, then the estimator it calls for.

The graph comes from :mod:`builder.reader`, the identification theory from :mod:`builder.graphs`,
and numbers from the tables, by :mod:`baselines.causalds.analysis`. Where an effect is not
identifiable the answer is the documented abstention. One function per variant.

Variables that are seen through measurements are predicted from them (regression calibration).
``informed`` takes the predictions for the variables; ``double-sampling`` corrects its estimates by
the calibration rows. The step between the two is the price of measurement error.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Final

import numpy as np

from baselines.causalds.analysis import FORMS, SceneAnalysis, ends, third
from baselines.causalds.effect_plan import is_effect_identifiable
from baselines.causalds.naive_analyst import make_solver as naive_solver
from baselines.causalds.regression import Forecast, forecast
from baselines.exam import Answer, FloatArray, ShownScene, csv_text
from builder.equations.quantities import TIE_BAND
from builder.graphs.graph import LatentDAG
from builder.graphs.identification import (
    forbidden_controls,
    identification_method,
    is_identifiable,
    minimal_adjustment_sets,
    opens_collider_bias,
    valid_adjustment_sets,
)
from grader.scoring.shape import Task

Solve = Callable[[Task, SceneAnalysis], Answer]


def make_solver(scene: ShownScene, *, corrected: bool = False) -> Callable[[Task], Answer]:
    """Return a scene's solver, ``corrected`` or not; by ``naive`` for variants without one."""
    import sklearn.ensemble  # noqa: F401  # loaded now: a limit of threads holds for what is loaded

    analysis = SceneAnalysis(scene, corrected)
    naive = naive_solver(scene)
    return lambda task: (
        SOLVERS[task.spec.key](task, analysis) if task.spec.key in SOLVERS else naive(task)
    )


def _forecast(task: Task, analysis: SceneAnalysis) -> Forecast:
    return _forecast_of(analysis, task.inputs["outcome"], float(task.inputs.get("alpha", 0.1)))


@lru_cache(maxsize=1)
def _forecast_of(analysis: SceneAnalysis, y: str, alpha: float) -> Forecast:
    """Return held-out Y with bounds at ``alpha``; fitted on calibration rows if Y is measured."""
    shown, whole = analysis.shown, analysis.predicted_scene
    train: dict[str, FloatArray] = {**shown.data, **whole.data}
    test = {name: v for name, v in {**shown.test, **whole.test}.items() if name != y}
    target = train[y]
    if y in analysis.tables.measured:
        places = analysis.tables.places
        train = {name: values[places] for name, values in train.items()}
        target = analysis.tables.known[y]
    features = {name: train[name] for name in test}
    core = [name for name in whole.test if name != y]
    return forecast(features, target, test, alpha, core)


def _query(task: Task, analysis: SceneAnalysis) -> tuple[LatentDAG, str, str]:
    """Return the graph over the measured variables, others of the story latent, and x and y."""
    x, y = ends(task)
    named = task.inputs.get("observed") or task.inputs.get("available") or []
    return analysis.graph([x, y, *named]), x, y


def _counterfactual_identifiable(task: Task, analysis: SceneAnalysis) -> Answer:
    """Answer whether the estimand is identifiable; levels 0 and 1 mean a binary treatment."""
    # The two levels are all that a story task tells of the treatment's kind.
    binary = (task.inputs["x0"], task.inputs["x1"]) == (0, 1)
    query = _query(task, analysis)
    return {"identifiable": is_effect_identifiable(*query, task.inputs["estimand"], binary=binary)}


def _sets(field: str, find: Callable[[LatentDAG, str, str], object]) -> Solve:
    """Return a solver that fills ``field`` by ``find(graph, x, y)``, or the word for no set."""

    def solve_by_sets(task: Task, analysis: SceneAnalysis) -> Answer:
        query = _query(task, analysis)
        if valid_adjustment_sets(*query):
            return {field: find(*query)}
        return {field: "no_backdoor" if is_identifiable(*query, "ate") else "non_id"}

    return solve_by_sets


def _minimal(graph: LatentDAG, x: str, y: str) -> list[list[str]]:
    return [sorted(names) for names in minimal_adjustment_sets(graph, x, y)]


def _matches(task: Task, analysis: SceneAnalysis) -> Answer:
    """Answer whether ATE and correlation have the same sign; null where there is no ATE."""
    effect = analysis.effect(task, "ATE")
    if effect is None:
        return {"matches": None}
    return {"matches": bool(effect.value * analysis.association(task)[0] > 0)}


def _dominance(task: Task, analysis: SceneAnalysis) -> Answer:
    """Answer which of NDE and NIE is larger in size, or "tie"; null without both effects."""
    direct, indirect = analysis.effect(task, "NDE"), analysis.effect(task, "NIE")
    if direct is None or indirect is None:
        return {"dominant": None}
    return {"dominant": larger(direct.value, indirect.value)}


def larger(direct: float, indirect: float) -> str:
    """Return the larger of direct and indirect in size, "tie" within ``TIE_BAND`` of it."""
    sizes = np.abs([direct, indirect])
    if abs(sizes[0] - sizes[1]) <= TIE_BAND * sizes.max():
        return "tie"
    return "direct" if sizes[0] > sizes[1] else "indirect"


SOLVERS: Final[Mapping[str, Solve]] = {
    **FORMS,
    "prediction.point_predictor": lambda t, d: csv_text(prediction=_forecast(t, d).prediction),
    "prediction.prediction_interval": lambda t, d: csv_text(**asdict(_forecast(t, d))),
    "collider_phenomenon.induced_association_boolean": lambda t, d: {
        "association_present": d.association(t, third(t))[0] != 0
    },
    "identification.one_valid_adjustment_set": _sets("adjust", lambda *q: _minimal(*q)[0]),
    "identification.method_label": lambda t, d: {"method": identification_method(*_query(t, d))},
    "identification.identifiable_boolean": lambda t, d: {
        "identifiable": is_identifiable(*_query(t, d), "ate")
    },
    "identification.minimal_adjustment_set_size": _sets(
        "k", lambda *q: len(valid_adjustment_sets(*q)[0])
    ),
    "identification.n_valid_adjustment_sets": _sets("n", lambda *q: len(valid_adjustment_sets(*q))),
    "identification.all_minimal_adjustment_sets": _sets("adjustment_sets", _minimal),
    "effect_estimate.ate_vs_assoc_sign_match": _matches,
    "bias_diagnostic.collider_bias_boolean": lambda t, d: {
        "bias_present": opens_collider_bias(d.graph(), *ends(t), third(t))
    },
    "bias_diagnostic.forbidden_controls_list": _sets(
        "forbidden", lambda *q: sorted(forbidden_controls(*q))
    ),
    "counterfactual_identification.identifiable_boolean": _counterfactual_identifiable,
    "mediation_effect.direct_vs_indirect_dominance": _dominance,
}
"""By ``family.variant``."""
