"""Answers that know nothing of the causalds track, and the points they deserve.

Derived from the truths by the published rules, independently of the grader's scorers.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task

Kind = Literal["constant", "random"]

_NUMBER: Final = "0: (1 + |t|) / (1 + 2|t|) for a truth of t"
_EFFECT: Final = "0 where identifiable: (1 + |t|) / (1 + 2|t|); nothing where it had to abstain"
_WIDE: Final = "0 ± 1 where identifiable: (1 + |t|) / (1 + |t| + interval score)"

WHY: Final[Mapping[str, str]] = {
    "prediction_csv": "0 (or probability 0.5): (1 + sd) / (1 + sd + RMSE); "
    "near a half, since labels differ from a constant by about one sd",
    "prediction_interval_csv": "0 ± 1 (or 0.5 ± 0.5): (1 + sd) / (1 + sd + mean interval score)",
    "sign": "always +: the share of positive truths",
    "change_sign": "always +: the share of positive truths",
    "effect_sign": "always +: the share of positive truths",
    "signs_before_after": "always + and +: the share of truths with both",
    "value": f"{_NUMBER}, never under 2/3, since |r| ≤ 1",
    "delta": _NUMBER,
    "conditioning_var": "the first candidate: their order is random",
    "association_present": "always true: the share of truths that are",
    "bias_present": "always true: the share of truths that are",
    "identifiable": "always true: the share of identifiable effects",
    "matches": "always true: the share of truths that are",
    "dominant": "always direct: the share of truths that are",
    "set_size": "always 0: the share of scenes that need no adjustment",
    "set_count": "always 1: the share of scenes with one valid set",
    "edges": "no edge: F1 is 0",
    "skeleton_edges": "no edge: F1 is 0",
    "method": "always backdoor: the share of back-door truths",
    "adjustment_set": "always the empty set: the share of scenes where it is valid",
    "adjustment_sets": "always the empty set alone: F1 against the minimal sets",
    "forbidden": "always none: the share of scenes where every variable is in some valid set",
    "ate": _EFFECT,
    "effect_value": _EFFECT,
    "ate_interval": _WIDE,
    "effect_interval": _WIDE,
}
"""Why a constant answer scores what it scores, by answer shape."""

_CONSTANT: Final[Mapping[str, Mapping[str, object]]] = {
    "sign": {"sign": "+"},
    "change_sign": {"sign": "+"},
    "effect_sign": {"sign": "+"},
    "signs_before_after": {"sign_before": "+", "sign_after": "+"},
    "value": {"value": 0.0},
    "delta": {"delta": 0.0},
    "association_present": {"association_present": True},
    "bias_present": {"bias_present": True},
    "identifiable": {"identifiable": True},
    "matches": {"matches": True},
    "dominant": {"dominant": "direct"},
    "set_size": {"k": 0},
    "set_count": {"n": 1},
    "edges": {"edges": []},
    "skeleton_edges": {"skeleton_edges": []},
    "method": {"method": "backdoor"},
    "adjustment_set": {"adjust": []},
    "adjustment_sets": {"adjustment_sets": [[]]},
    "forbidden": {"forbidden": []},
    "ate": {"ate": 0.0},
    "effect_value": {"value": 0.0},
    "ate_interval": {"ate": 0.0, "ci_lower": -1.0, "ci_upper": 1.0},
    "effect_interval": {"value": 0.0, "ci_lower": -1.0, "ci_upper": 1.0},
}
_BOOLEANS: Final = ("association_present", "bias_present", "identifiable", "matches")
_INTERVALS: Final = ("ate_interval", "effect_interval")
_LARGEST_COUNT: Final = 4


def uninformed_answer(kind: Kind, task: Task, truth: Truth, rng: np.random.Generator) -> str:
    """The text of an answer file. ``truth`` lends the names that the story tells, nothing else."""
    if task.shape.suffix == ".csv":
        return _csv(kind, task, rng)
    found = dict(_constant(task) if kind == "constant" else _random(task, truth, rng))
    if "conditioning_var" in task.inputs:
        found["conditioning_var"] = task.inputs["conditioning_var"]
    return canonical(found)


def _constant(task: Task) -> Mapping[str, object]:
    if task.shape.name == "conditioning_var":
        return {"conditioning_var": task.inputs["candidates"][0]}
    return _CONSTANT[task.shape.name]


def _random(task: Task, truth: Truth, rng: np.random.Generator) -> Mapping[str, object]:
    shape, field = task.shape.name, task.shape.field
    if shape == "signs_before_after":
        return {name: _pick(task.shape.labels, rng) for name in ("sign_before", "sign_after")}
    if shape in _BOOLEANS:
        return {field: bool(rng.integers(2))}
    if shape in ("set_size", "set_count"):
        return {field: int(rng.integers(_LARGEST_COUNT))}
    if shape == "conditioning_var":
        return {field: _pick(task.inputs["candidates"], rng)}
    if shape in ("edges", "skeleton_edges"):
        ends = ("from", "to") if shape == "edges" else ("a", "b")
        return {field: _random_edges(sorted(truth.target["nodes"]), ends, rng)}
    if shape in ("adjustment_set", "adjustment_sets", "forbidden"):
        return {field: _random_sets(shape, sorted(task.inputs["available"]), rng)}
    if task.shape.labels:
        return {field: _pick(task.shape.labels, rng)}
    if shape in _INTERVALS:
        lower, middle, upper = np.sort(rng.normal(size=3)).tolist()
        return {field: middle, "ci_lower": lower, "ci_upper": upper}
    return {field: float(rng.uniform(-1, 1) if shape == "value" else rng.normal())}


def _pick(labels: Sequence[str], rng: np.random.Generator) -> str:
    return str(labels[int(rng.integers(len(labels)))])


def _random_edges(
    names: Sequence[str], ends: tuple[str, str], rng: np.random.Generator
) -> list[dict[str, str]]:
    """Each pair of a random order joined forwards with probability a half."""
    order = [names[i] for i in rng.permutation(len(names))]
    return [
        dict(zip(ends, (cause, effect), strict=True))
        for place, cause in enumerate(order)
        for effect in order[place + 1 :]
        if rng.random() < 0.5
    ]


def _random_sets(shape: str, names: Sequence[str], rng: np.random.Generator) -> object:
    drawn = int(rng.integers(4))
    if drawn < 2:
        return ("no_backdoor", "non_id")[drawn]
    found = [name for name in names if rng.random() < 0.5]
    return [found] if shape == "adjustment_sets" else found


def _csv(kind: Kind, task: Task, rng: np.random.Generator) -> str:
    rows, binary = int(task.inputs["rows"]), task.inputs["outcome_kind"] == "binary"
    centre, half = (0.5, 0.5) if binary else (0.0, 1.0)
    if kind == "constant":
        columns = [
            np.full(rows, centre),
            np.full(rows, centre - half),
            np.full(rows, centre + half),
        ]
    else:
        draws = rng.random((rows, 3)) if binary else rng.normal(size=(rows, 3))
        lower, middle, upper = np.sort(draws, axis=1).T
        columns = [middle, lower, upper]
    header = ["prediction", "lower", "upper"]
    width = 3 if task.shape.pool == "nrel_interval" else 1
    lines = (
        ",".join(repr(float(value)) for value in row) for row in zip(*columns[:width], strict=True)
    )
    return "\n".join([",".join(header[:width]), *lines]) + "\n"


def floor_points(task: Task, truth: Truth, answer: str) -> float:
    """The points in [0, 1] that ``answer`` deserves by the variant's published rule."""
    if task.shape.suffix == ".csv":
        return _csv_points(task, truth, answer)
    content = json.loads(answer)
    abstains = task.shape.abstainable and content[task.shape.field] == task.shape.abstention
    if truth.should_abstain or abstains:
        return float(truth.should_abstain and abstains)
    return _content_points(task, truth, content)


def _csv_points(task: Task, truth: Truth, answer: str) -> float:
    labels = np.asarray(truth.labels, dtype=np.float64)
    rows = list(csv.DictReader(io.StringIO(answer)))
    values = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    scale = 1 + float(labels.std())
    if task.shape.pool == "nrel_interval":
        alpha = float(task.inputs["alpha"])
        loss = _interval_score(values["lower"], values["upper"], labels, alpha).mean()
    else:
        loss = np.sqrt(((values["prediction"] - labels) ** 2).mean())
    return scale / (scale + float(loss))


def _content_points(task: Task, truth: Truth, content: Mapping[str, Any]) -> float:
    shape, target, answer = task.shape.name, truth.target, content.get(task.shape.field)
    if shape == "signs_before_after":
        both = (("sign_before", "accepted_before"), ("sign_after", "accepted_after"))
        return float(all(content[told] in target[right] for told, right in both))
    if "accepted" in target:
        return float(answer in target["accepted"])
    if shape == "edges":
        given = {(edge["from"], edge["to"]) for edge in content["edges"]}
        return _overlap(given, {(a, b) for a, b in target["edges"]})
    if shape == "skeleton_edges":
        pairs = {frozenset((edge["a"], edge["b"])) for edge in content["skeleton_edges"]}
        return _overlap(pairs, {frozenset(edge) for edge in target["edges"]})
    if "category" in target:
        return _set_points(shape, target, answer)
    assert truth.value is not None
    scale = 1 + abs(truth.value)
    if shape in _INTERVALS:
        lower, upper, value = np.array([content["ci_lower"], content["ci_upper"], truth.value])
        loss = float(_interval_score(lower, upper, value, float(task.inputs["alpha"])))
    else:
        loss = abs(content[task.shape.field] - truth.value)
    return scale / (scale + loss)


def _set_points(shape: str, target: Mapping[str, Any], answer: Any) -> float:
    if isinstance(answer, str) or target["category"] != "set":
        return float(answer == target["category"])
    if shape == "forbidden":
        return _overlap(set(answer), set(target["names"]))
    sets = {frozenset(names) for names in target["sets"]}
    if shape == "adjustment_set":
        return float(frozenset(answer) in sets)
    return _overlap({frozenset(names) for names in answer}, sets)


def _overlap(given: set[Any], target: set[Any]) -> float:
    """F1 as the Dice coefficient; 1 where there is nothing to find and nothing was given."""
    total = len(given) + len(target)
    return 2 * len(given & target) / total if total else 1.0


Floats = NDArray[np.float64]


def _interval_score(lower: Floats, upper: Floats, y: Floats, alpha: float) -> Floats:
    """Interval score (Gneiting & Raftery 2007, eq. 43), elementwise."""
    outside = np.clip(lower - y, 0, None) + np.clip(y - upper, 0, None)
    return np.asarray(upper - lower + 2 / alpha * outside)
