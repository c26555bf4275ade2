"""An analyst who regresses and reports: every association is an effect, every graph identifies.

The usual mistakes on purpose: all other columns as controls, no reading of who causes whom beyond
the order of words, never an abstention.
"""

from typing import Any

import numpy as np
from scipy.stats import norm

from baselines.reader_names import MARK, discover, mask, sentences
from baselines.regression import fit, is_binary, make_basis, predict, term_ladder
from baselines.release import FloatArray, Scene
from baselines.writing import Answer, Table
from grader.model import Task


def naive(task: Task, scene: Scene) -> Answer:
    """The naive analyst's answer to any causalds task."""
    inputs = task.inputs
    match task.spec.shape:
        case "prediction_csv" | "prediction_interval_csv":
            return _prediction(task, scene)
        case "sign":
            return {"sign": "+" if _correlation(task, scene) >= 0 else "-"}
        case "value":
            return {"value": _correlation(task, scene)}
        case "edges":
            return {"edges": edges_in_reading_order(scene.story, inputs["variables"])}
        case "method":
            return {"method": "backdoor"}
        case "adjustment_sets":
            return {"adjustment_sets": [list(inputs["available"])]}
        case "ate":
            return {"ate": _ols(task, scene)[0]}
        case "ate_interval":
            value, half = _ols(task, scene)
            return {"ate": value, "ci_lower": value - half, "ci_upper": value + half}
        case "effect_value":
            return {"value": _ols(task, scene)[0]}
    raise KeyError(task.spec.shape)


def edges_in_reading_order(story: str, count: int) -> list[dict[str, Any]]:
    """One edge from the first variable of each sentence to each later one in it."""
    names = discover(story, (), count)
    pairs: dict[tuple[int, int], None] = {}
    for sentence in sentences(mask(story, names)):
        marks = [int(mark) for mark in MARK.findall(sentence)]
        pairs |= {(marks[0], other): None for other in marks[1:] if other != marks[0]}
    return [{"from": names[a], "to": names[b]} for a, b in pairs]


def _correlation(task: Task, scene: Scene) -> float:
    x, y = scene.data[task.inputs["treatment"]], scene.data[task.inputs["outcome"]]
    return float(np.corrcoef(x, y)[0, 1]) if x.std() and y.std() else 0.0


def _prediction(task: Task, scene: Scene) -> Table:
    """Linear or logistic regression on everything; bounds from in-sample residual quantiles."""
    y = scene.data[task.inputs["outcome"]]
    features = {name: scene.data[name] for name in scene.test}
    basis = make_basis(features, term_ladder(features)[0])
    binary = is_binary(y)
    beta = fit(basis(features), y, np.ones((1, len(y))), binary)
    inside, point = (predict(basis(part), beta, binary)[0] for part in (features, scene.test))
    columns: dict[str, FloatArray] = {"prediction": point}
    if task.spec.shape == "prediction_interval_csv":
        alpha = task.inputs["alpha"]
        low, high = np.quantile(y - inside, [alpha / 2, 1 - alpha / 2])
        columns["lower"], columns["upper"] = point + low, point + high
        if binary:
            columns = {name: np.clip(values, 0, 1) for name, values in columns.items()}
    return Table(columns)


def _ols(task: Task, scene: Scene) -> tuple[float, float]:
    """Coefficient of the treatment with every other column as control, times the contrast.

    Returns the effect and half the width of its 95% interval under constant error variance.
    """
    x, y = task.inputs["treatment"], task.inputs["outcome"]
    others = [name for name in scene.data if name not in (x, y)]
    outcome = scene.data[y]
    design = np.column_stack([np.ones(len(outcome)), *(scene.data[name] for name in [x, *others])])
    inverse = np.linalg.pinv(design.T @ design)
    beta = inverse @ design.T @ outcome
    spread = float(np.mean((outcome - design @ beta) ** 2))
    step = float(task.inputs["x1"]) - float(task.inputs["x0"])
    half = float(norm.ppf(0.975)) * float(np.sqrt(spread * inverse[1, 1])) * abs(step)
    return float(beta[1]) * step, half
