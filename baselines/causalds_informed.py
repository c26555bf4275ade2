"""An analyst who reads the story first: graph, identification, then the estimator it calls for.

The graph comes from :mod:`baselines.reader`; the identification theory from
:mod:`builder.causal`. Where the effect is not identifiable the answer is an abstention.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from baselines.estimators import (
    ZERO,
    Contrast,
    Estimate,
    backdoor,
    bootstrap_weights,
    frontdoor,
    unadjusted_guess,
)
from baselines.prediction import forecast
from baselines.reader import Reading, read_story
from baselines.regression import is_binary
from baselines.release import Scene
from baselines.trivial import generator
from baselines.writing import Answer, Table
from builder.causal import (
    LatentDAG,
    ate_identifiable,
    ett_identifiable,
    frontdoor_sets,
    identification_method,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from grader.model import Task


def informed(task: Task, scene: Scene) -> Answer:
    """The informed analyst's answer to any causalds task."""
    inputs = task.inputs
    match task.spec.shape:
        case "prediction_csv" | "prediction_interval_csv":
            return _prediction(task, scene)
        case "sign" | "value":
            return _association(task, scene)
        case "edges":
            reading = read_story(scene.story, (), inputs["variables"])
            return {"edges": [{"from": a, "to": b} for a, b in reading.edges]}
        case "method":
            x, y = inputs["treatment"], inputs["outcome"]
            graph = graph_of(scene.story, _sorted({x, y, *inputs["observed"]}))
            return {"method": identification_method(graph, x, y)}
        case "adjustment_sets":
            return {"adjustment_sets": _adjustment_sets(task, scene)}
        case "ate":
            effect = _effect(task, scene)
            return {"ate": effect and effect.value}
        case "ate_interval":
            effect = _effect(task, scene)
            if effect is None:
                return {"ate": None, "ci_lower": None, "ci_upper": None}
            return {"ate": effect.value, "ci_lower": effect.low, "ci_upper": effect.high}
        case "effect_value":
            effect = _effect(task, scene, treated=True)
            return {"value": effect and effect.value}
    raise KeyError(task.spec.shape)


@lru_cache(maxsize=64)
def graph_of(story: str, observed: tuple[str, ...]) -> LatentDAG:
    """The graph the story tells, over the observed names and the unmeasured ones it mentions."""
    reading: Reading = read_story(story, observed)
    return LatentDAG(reading.variables, reading.edges, reading.unmeasured)


def _sorted(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _prediction(task: Task, scene: Scene) -> Table:
    y = scene.data[task.inputs["outcome"]]
    features = {name: scene.data[name] for name in scene.test}
    alpha = float(task.inputs.get("alpha", 0.1))
    result = forecast(features, y, scene.test, alpha, generator(task, "folds/"))
    columns = {"prediction": result.prediction}
    if task.spec.shape == "prediction_interval_csv":
        columns |= {"lower": result.lower, "upper": result.upper}
    return Table(columns)


def _association(task: Task, scene: Scene) -> dict[str, Any]:
    """The sample correlation, or exactly none where the graph separates the two variables.

    The data overrule the reading where they contradict it by four standard errors.
    """
    x, y = task.inputs["treatment"], task.inputs["outcome"]
    graph = graph_of(scene.story, _sorted(set(scene.data)))
    r = float(np.corrcoef(scene.data[x], scene.data[y])[0, 1])
    if graph.d_separated(x, y) and abs(r) * np.sqrt(len(scene.data[x])) < 4:
        r = 0.0
    if task.spec.shape == "value":
        return {"value": r}
    return {"sign": "unknown" if r == 0 else "+" if r > 0 else "-"}


def _adjustment_sets(task: Task, scene: Scene) -> str | list[list[str]]:
    x, y = task.inputs["treatment"], task.inputs["outcome"]
    graph = graph_of(scene.story, _sorted({x, y, *task.inputs["available"]}))
    minimal = minimal_adjustment_sets(graph, x, y)
    if not ate_identifiable(graph, x, y):
        return "non_id"
    return [sorted(names) for names in minimal] if minimal else "no_backdoor"


def _effect(task: Task, scene: Scene, *, treated: bool = False) -> Estimate | None:
    """The ATE or, ``treated``, the ETT with its interval; ``None`` where it is not identifiable."""
    inputs = task.inputs
    x, y = inputs["treatment"], inputs["outcome"]
    graph = graph_of(scene.story, _sorted(set(scene.data)))
    binary = is_binary(scene.data[x])
    identifiable = (
        ett_identifiable(graph, x, y, binary_treatment=binary)
        if treated
        else ate_identifiable(graph, x, y)
    )
    if not identifiable:
        return None
    if y not in graph.descendants((x,)):
        return ZERO
    contrast = Contrast(x, y, float(inputs["x0"]), float(inputs["x1"]), treated)
    weights = bootstrap_weights(generator(task, "bootstrap/"), len(scene.data[x]))
    if valid_adjustment_sets(graph, x, y):
        return backdoor(scene.data, contrast, efficient_set(graph, x, y), weights)
    through = frontdoor_sets(graph, x, y)
    if through:
        mediators = sorted(through[0])
        return frontdoor(scene.data, contrast, mediators, weights)
    below = graph.descendants((x,))
    controls = [name for name in scene.data if name not in below]
    return unadjusted_guess(scene.data, contrast, controls, weights)


def efficient_set(graph: LatentDAG, x: str, y: str) -> list[str]:
    """The adjustment set of least asymptotic variance, sorted; a minimal one where it is not valid.

    That set is the parents of the nodes on causal paths, less those nodes and x (Henckel, Perković
    & Maathuis 2022, Theorem 3.10), provided all of them are observed.
    """
    on_paths = (graph.descendants((x,)) & graph.ancestors((y,))) - {x}
    parents = {parent for node in on_paths for parent in graph.parents(node)} - on_paths - {x}
    valid = valid_adjustment_sets(graph, x, y)
    best = frozenset(parents)
    return sorted(best if best in valid else minimal_adjustment_sets(graph, x, y)[0])
