"""Baselines that understand nothing: no answers, the same answer always, a legal random answer.

They fix the floor of the scale. None of them opens a table or reads a story.
"""

import hashlib
import json
from importlib import import_module
from typing import Any, Final

import numpy as np

from baselines.release import FloatArray
from baselines.writing import Answer, Table
from builder.release.gate_answers import TRACK_FLOORS
from grader.model import Task

SIGNS: Final = ("+", "-", "unknown")
METHODS: Final = ("trivial_zero", "backdoor", "frontdoor", "other_id", "none")


def generator(task: Task, stage: str = "") -> np.random.Generator:
    """A stream of a task's own: seeded by SHA-256 of ``stage`` and the task id."""
    digest = hashlib.sha256(f"{stage}{task.task_id}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def constant(task: Task) -> Answer:
    """The same answer to every task of a shape, from nothing but the task's declared inputs."""
    if task.track in TRACK_FLOORS:
        return _floor("constant", task)
    inputs = task.inputs
    shape = task.spec.shape
    if shape in ("prediction_csv", "prediction_interval_csv"):
        binary = inputs["outcome_kind"] == "binary"
        middle = np.full(inputs["rows"], 0.5 if binary else 0.0)
        low, high = (0.0, 1.0) if binary else (-1.0, 1.0)
        return _predictions(shape, middle, np.full_like(middle, low), np.full_like(middle, high))
    answers: dict[str, dict[str, Any]] = {
        "sign": {"sign": "+"},
        "value": {"value": 0.0},
        "edges": {"edges": _named_edge(task)},
        "method": {"method": "backdoor"},
        "adjustment_sets": {"adjustment_sets": [[]]},
        "ate": {"ate": 0.0},
        "ate_interval": {"ate": 0.0, "ci_lower": -1.0, "ci_upper": 1.0},
        "effect_value": {"value": 0.0},
    }
    return answers[shape]


def random(task: Task) -> Answer:
    """A legal answer drawn at random, reproducible from the task id alone."""
    if task.track in TRACK_FLOORS:
        return _floor("random", task)
    rng = generator(task, "random/")
    inputs = task.inputs
    shape = task.spec.shape
    if shape in ("prediction_csv", "prediction_interval_csv"):
        rows = inputs["rows"]
        binary = inputs["outcome_kind"] == "binary"
        columns = rng.random((3, rows)) if binary else rng.standard_normal((3, rows))
        low, middle, high = np.sort(columns, axis=0)
        return _predictions(shape, middle, low, high)
    if shape == "sign":
        return {"sign": str(rng.choice(SIGNS))}
    if shape == "value":
        return {"value": float(rng.uniform(-1, 1))}
    if shape == "edges":
        return {"edges": _named_edge(task) if rng.random() < 0.5 else []}
    if shape == "method":
        return {"method": str(rng.choice(METHODS))}
    if shape == "adjustment_sets":
        return {"adjustment_sets": _random_sets(rng, list(inputs["available"]))}
    if shape == "ate_interval":
        low, middle, high = (float(value) for value in np.sort(rng.standard_normal(3)))
        abstain = rng.random() < 0.2
        return (
            {"ate": None, "ci_lower": None, "ci_upper": None}
            if abstain
            else {"ate": middle, "ci_lower": low, "ci_upper": high}
        )
    value = float(rng.standard_normal())
    return {task.spec.field: None if rng.random() < 0.2 else value}


def _floor(kind: str, task: Task) -> Answer:
    """The uninformed answer that the release gate derives too, where a track has its own."""
    floors = import_module(TRACK_FLOORS[task.track])
    text: str = floors.uninformed_answer(kind, task, None, generator(task, f"{kind}/"))
    if task.spec.suffix != ".json":
        return text
    answer: dict[str, Any] = json.loads(text)
    return answer


def _named_edge(task: Task) -> list[dict[str, str]]:
    """The edge treatment -> outcome where the task names them, else no edge."""
    named = "treatment" in task.inputs and "outcome" in task.inputs
    return [{"from": task.inputs["treatment"], "to": task.inputs["outcome"]}] if named else []


def _random_sets(rng: np.random.Generator, names: list[str]) -> str | list[list[str]]:
    kind = str(rng.choice(("set", "no_backdoor", "non_id")))
    return [[name for name in names if rng.random() < 0.5]] if kind == "set" else kind


def _predictions(shape: str, middle: FloatArray, low: FloatArray, high: FloatArray) -> Table:
    if shape == "prediction_csv":
        return Table({"prediction": middle})
    return Table({"prediction": middle, "lower": low, "upper": high})
