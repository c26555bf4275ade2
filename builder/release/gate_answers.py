"""Answers that know nothing, and what they must score: the floors of the gate.

*Constant* gives one fixed answer per variant, *random* a seeded guess; neither looks at data or
story. What each must score is derived here from the truths, by the published rule of the variant
and independently of the grader's scorers, so that the two check each other.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from grader.jsonio import canonical
from grader.model import Task, Truth

Kind = Literal["constant", "random"]

WHY: Final[Mapping[str, str]] = {
    "prediction_csv": "0 (or probability 0.5): (1 + sd) / (1 + sd + RMSE); "
    "near a half, since labels differ from a constant by about one sd",
    "prediction_interval_csv": "0 ± 1 (or 0.5 ± 0.5): (1 + sd) / (1 + sd + mean interval score)",
    "sign": "always +: the share of positive truths",
    "value": "0: (1 + |r|) / (1 + 2|r|), never under 2/3, since |r| ≤ 1",
    "edges": "no edge: F1 is 0",
    "method": "always backdoor: the share of back-door truths",
    "adjustment_sets": "always the empty set alone: F1 against the minimal sets",
    "ate": "0 where identifiable: (1 + |ATE|) / (1 + 2|ATE|); nothing where it had to abstain",
    "ate_interval": "0 ± 1 where identifiable: (1 + |ATE|) / (1 + |ATE| + interval score)",
    "effect_value": "0 where identifiable: (1 + |ETT|) / (1 + 2|ETT|); nothing elsewhere",
}
"""Why a constant answer scores what it scores, by answer shape."""

CEILING: Final[Mapping[str, float]] = {"pass": 0.8, "f1": 0.8}
"""Points a guess may reach on labels and sets: above, one answer is nearly always right.

Numeric pools have no ceiling but 1: zero is an honest guess of a small effect, and its points
say how small the effects are.
"""

CEILING_TASKS: Final = 20
"""Tasks a variant needs before its ceiling is applied."""

TRACK_FLOORS: Final[Mapping[str, str]] = {
    "causalab": "builder.causalab.floors",
    "ccr": "builder.ccr.floors",
    "replayscm": "builder.replayscm.floors",
}
"""Track to a module of its own with ``WHY``, ``uninformed_answer`` and ``floor_points``."""

_SIGNS: Final = ("+", "-", "unknown")
_METHODS: Final = ("trivial_zero", "backdoor", "frontdoor", "other_id", "none")


def _own(task: Task) -> Any:
    return import_module(TRACK_FLOORS[task.track])


def why(task: Task) -> str:
    """What the constant answer to this kind of task scores, and why."""
    reasons: Mapping[str, str] = _own(task).WHY if task.track in TRACK_FLOORS else WHY
    return reasons[task.spec.shape]


def uninformed_answer(kind: Kind, task: Task, truth: Truth, rng: np.random.Generator) -> str:
    """The text of an answer file. ``truth`` lends the names that the story tells, nothing else."""
    if task.track in TRACK_FLOORS:
        return str(_own(task).uninformed_answer(kind, task, truth, rng))
    shape = task.spec.shape
    if shape.endswith("_csv"):
        return _csv(kind, task, rng)
    return canonical(_constant(shape) if kind == "constant" else _random(shape, task, truth, rng))


def floor_points(task: Task, truth: Truth, answer: str) -> float:
    """The points in [0, 1] that ``answer`` deserves by the variant's published rule."""
    if task.track in TRACK_FLOORS:
        return float(_own(task).floor_points(task, truth, answer))
    if task.spec.shape.endswith("_csv"):
        return _csv_points(task, truth, answer)
    content = json.loads(answer)
    abstains = content.get(task.spec.field) in (None, "none", "non_id")
    if truth.should_abstain or (abstains and task.spec.abstainable):
        return float(truth.should_abstain and abstains)
    return _content_points(task, truth, content)


def _constant(shape: str) -> dict[str, object]:
    answers: dict[str, dict[str, object]] = {
        "sign": {"sign": "+"},
        "value": {"value": 0.0},
        "edges": {"edges": []},
        "method": {"method": "backdoor"},
        "adjustment_sets": {"adjustment_sets": [[]]},
        "ate": {"ate": 0.0},
        "ate_interval": {"ate": 0.0, "ci_lower": -1.0, "ci_upper": 1.0},
        "effect_value": {"value": 0.0},
    }
    return answers[shape]


def _random(shape: str, task: Task, truth: Truth, rng: np.random.Generator) -> dict[str, object]:
    if shape in ("sign", "method"):
        return {task.spec.field: str(rng.choice(_SIGNS if shape == "sign" else _METHODS))}
    if shape == "edges":
        return {"edges": _random_edges(sorted(truth.target["nodes"]), rng)}
    if shape == "adjustment_sets":
        return {"adjustment_sets": _random_sets(sorted(task.inputs["available"]), rng)}
    if shape == "ate_interval":
        lower, middle, upper = np.sort(rng.normal(size=3)).tolist()
        return {"ate": middle, "ci_lower": lower, "ci_upper": upper}
    return {task.spec.field: float(rng.uniform(-1, 1) if shape == "value" else rng.normal())}


def _random_edges(names: Sequence[str], rng: np.random.Generator) -> list[dict[str, str]]:
    """Each pair of a random order joined forwards with probability a half."""
    order = [names[i] for i in rng.permutation(len(names))]
    return [
        {"from": cause, "to": effect}
        for place, cause in enumerate(order)
        for effect in order[place + 1 :]
        if rng.random() < 0.5
    ]


def _random_sets(names: Sequence[str], rng: np.random.Generator) -> object:
    drawn = int(rng.integers(4))
    if drawn < 2:
        return ("no_backdoor", "non_id")[drawn]
    return [[name for name in names if rng.random() < 0.5]]


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
    width = 3 if task.spec.pool == "nrel_interval" else 1
    lines = (
        ",".join(repr(float(value)) for value in row) for row in zip(*columns[:width], strict=True)
    )
    return "\n".join([",".join(header[:width]), *lines]) + "\n"


def _csv_points(task: Task, truth: Truth, answer: str) -> float:
    labels = np.asarray(truth.labels, dtype=np.float64)
    rows = list(csv.DictReader(io.StringIO(answer)))
    values = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    scale = 1 + float(labels.std())
    if task.spec.pool == "nrel_interval":
        alpha = float(task.inputs["alpha"])
        loss = _interval_score(values["lower"], values["upper"], labels, alpha).mean()
    else:
        loss = np.sqrt(((values["prediction"] - labels) ** 2).mean())
    return scale / (scale + float(loss))


def _content_points(task: Task, truth: Truth, content: Mapping[str, Any]) -> float:
    shape = task.spec.shape
    if shape in ("sign", "method"):
        return float(content[task.spec.field] in truth.target["accepted"])
    if shape == "edges":
        given = {(edge["from"], edge["to"]) for edge in content["edges"]}
        return _overlap(given, {(a, b) for a, b in truth.target["edges"]})
    if shape == "adjustment_sets":
        answer = content["adjustment_sets"]
        if isinstance(answer, str) or truth.target["category"] != "set":
            return float(answer == truth.target["category"])
        sets = {frozenset(names) for names in truth.target["sets"]}
        return _overlap({frozenset(names) for names in answer}, sets)
    assert truth.value is not None
    scale = 1 + abs(truth.value)
    if shape == "ate_interval":
        lower, upper, value = np.array([content["ci_lower"], content["ci_upper"], truth.value])
        loss = float(_interval_score(lower, upper, value, float(task.inputs["alpha"])))
    else:
        loss = abs(content[task.spec.field] - truth.value)
    return scale / (scale + loss)


def _overlap(given: set[Any], target: set[Any]) -> float:
    """F1 as the Dice coefficient."""
    total = len(given) + len(target)
    return 2 * len(given & target) / total if total else 1.0


Floats = NDArray[np.float64]


def _interval_score(lower: Floats, upper: Floats, y: Floats, alpha: float) -> Floats:
    """Interval score (Gneiting & Raftery 2007, eq. 43), elementwise."""
    outside = np.clip(lower - y, 0, None) + np.clip(y - upper, 0, None)
    return np.asarray(upper - lower + 2 / alpha * outside)
