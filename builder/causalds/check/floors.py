"""Answers that know nothing of the scenes, and the points they deserve.

Derived from the truths by the published rules, independently of the grader's scorers.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from builder.causalds.complete import SHAPES, one_each
from builder.seeds import pick, shuffled
from builder.track import Guess
from grader.io.jsonio import canonical
from grader.model import Truth
from grader.shape import Task
from grader.tracks.causalds.shapes import ASSOCIATION_SIGNS

_FILE: Final = Path(__file__).with_name("floors.toml")

_ANSWERS: Final[Mapping[str, tuple[object, str]]] = {
    shape: (row.get("constant"), row["why"])
    for row in tomllib.loads(_FILE.read_text(encoding="utf-8"))["answers"]
    for shape in row["shapes"]
}
"""By answer shape: what the constant answer says (None where that depends on the task), and why it
scores what it scores."""

_CONSTANT: Final = one_each(
    _ANSWERS, SHAPES, "constant answer", "builder/causalds/check/floors.toml"
)

WHY: Final = {shape: why for shape, (_, why) in _CONSTANT.items()}
"""Why a constant answer scores what it scores, by answer shape."""

_BOTH_SIGNS: Final = {"sign_before": "accepted_before", "sign_after": "accepted_after"}
_LARGEST_COUNT: Final = 4


def uninformed_answer(kind: Guess, task: Task, truth: Truth, rng: np.random.Generator) -> str:
    """The text of an answer file. ``truth`` lends the names that the story tells, nothing else."""
    if task.shape.kind == "predictions":
        return _csv(kind, task, rng)
    found = _constant(task) if kind == "constant" else _random(task, truth, rng)
    return canonical(found)


def _constant(task: Task) -> dict[str, object]:
    field, (content, _) = task.shape.field, _CONSTANT[task.shape.name]
    match task.shape.kind:
        case "signs":
            return dict.fromkeys(_BOTH_SIGNS, content)
        case "name":
            return {field: task.inputs["candidates"][0]}
        case "interval":
            return {field: content, "ci_lower": -1.0, "ci_upper": 1.0}
        case _:
            return {field: content}


def _random(task: Task, truth: Truth, rng: np.random.Generator) -> dict[str, object]:
    kind, field = task.shape.kind, task.shape.field
    match kind:
        case "sign" | "label":
            return {field: pick(rng, _different_labels(task))}
        case "signs":
            return {name: pick(rng, _different_labels(task)) for name in _BOTH_SIGNS}
        case "boolean":
            return {field: bool(rng.integers(2))}
        case "count":
            return {field: int(rng.integers(_LARGEST_COUNT))}
        case "name":
            return {field: pick(rng, task.inputs["candidates"])}
        case "edges":
            return {field: _random_edges(sorted(truth.target["nodes"]), _ends(task), rng)}
        case "set" | "sets" | "names":
            found = _random_set(sorted(task.inputs["available"]), rng)
            return {field: [found] if kind == "sets" and isinstance(found, list) else found}
        case "interval":
            lower, middle, upper = np.sort(rng.normal(size=3)).tolist()
            return {field: middle, "ci_lower": lower, "ci_upper": upper}
        case "number":
            bounded = task.shape.name == "value"
            return {field: float(rng.uniform(-1, 1) if bounded else rng.normal())}
        case "predictions" | "units" | "quantities" | "deduction" | "program" | "alternative":
            raise _not_read_here(task)
        case "session":
            raise _not_read_here(task)
        case _:
            assert_never(kind)


def _different_labels(task: Task) -> tuple[str, ...]:
    """The labels that a prompt lists: of two words for one thing, as beside "0", only one."""
    if task.shape.labels == ASSOCIATION_SIGNS:
        return tuple(label for label in task.shape.labels if label != "unknown")
    return task.shape.labels


def _not_read_here(task: Task) -> ValueError:
    return ValueError(f"{task.task_id}: no scene is asked for an answer of kind {task.shape.kind}")


def _ends(task: Task) -> tuple[str, str]:
    """The members of one edge."""
    return ("from", "to") if task.shape.name == "edges" else ("a", "b")


def _random_edges(
    names: Sequence[str], ends: tuple[str, str], rng: np.random.Generator
) -> list[dict[str, str]]:
    """Each pair of a random order joined forwards with probability a half."""
    order = shuffled(rng, names)
    return [
        dict(zip(ends, (cause, effect), strict=True))
        for place, cause in enumerate(order)
        for effect in order[place + 1 :]
        if rng.random() < 0.5
    ]


def _random_set(names: Sequence[str], rng: np.random.Generator) -> list[str] | str:
    """Half of the time a word for why there is no set."""
    drawn = int(rng.integers(4))
    if drawn < 2:
        return ("no_backdoor", "non_id")[drawn]
    return [name for name in names if rng.random() < 0.5]


def _csv(kind: Guess, task: Task, rng: np.random.Generator) -> str:
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
    told = zip(*(column.tolist() for column in columns[:width]), strict=True)
    lines = (",".join(map(repr, row)) for row in told)
    return "\n".join([",".join(header[:width]), *lines]) + "\n"


def floor_points(task: Task, truth: Truth, answer: str) -> float:
    """The points in [0, 1] that ``answer`` deserves by the variant's published rule."""
    if task.shape.kind == "predictions":
        return _csv_points(task, truth, answer)
    content = json.loads(answer)
    abstains = task.shape.abstainable and content[task.shape.field] == task.shape.abstention
    if truth.should_abstain or abstains:
        return float(truth.should_abstain and abstains)
    return _content_points(task, truth, content)


def _csv_points(task: Task, truth: Truth, answer: str) -> float:
    labels = np.asarray(truth.labels, dtype=np.float64)
    header, *rows = answer.split()
    columns = np.array([row.split(",") for row in rows], dtype=np.float64).T
    values = dict(zip(header.split(","), columns, strict=True))
    scale = 1 + float(labels.std())
    if task.shape.pool == "nrel_interval":
        alpha = float(task.inputs["alpha"])
        loss = _interval_score(values["lower"], values["upper"], labels, alpha).mean()
    else:
        loss = np.sqrt(((values["prediction"] - labels) ** 2).mean())
    return scale / (scale + float(loss))


def _content_points(task: Task, truth: Truth, content: Mapping[str, Any]) -> float:
    kind, target, answer = task.shape.kind, truth.target, content.get(task.shape.field)
    match kind:
        case "sign" | "label" | "boolean" | "count" | "name":
            return float(answer in target["accepted"])
        case "signs":
            both = (("sign_before", "accepted_before"), ("sign_after", "accepted_after"))
            return float(all(content[told] in target[right] for told, right in both))
        case "edges":
            given = [tuple(edge[end] for end in _ends(task)) for edge in content[task.shape.field]]
            if task.shape.name == "edges":
                return _overlap(set(given), set(map(tuple, target["edges"])))
            return _overlap(set(map(frozenset, given)), set(map(frozenset, target["edges"])))
        case "set" | "sets" | "names":
            return _set_points(kind, target, answer)
        case "number":
            return _scaled(truth, abs(content[task.shape.field] - _value(truth)))
        case "interval":
            lower, upper, value = np.array([content["ci_lower"], content["ci_upper"], truth.value])
            alpha = float(task.inputs["alpha"])
            return _scaled(truth, float(_interval_score(lower, upper, value, alpha)))
        case _:
            raise _not_read_here(task)


def _value(truth: Truth) -> float:
    assert truth.value is not None
    return truth.value


def _scaled(truth: Truth, loss: float) -> float:
    scale = 1 + abs(_value(truth))
    return scale / (scale + loss)


def _set_points(kind: Literal["set", "sets", "names"], target: Any, answer: Any) -> float:
    if isinstance(answer, str) or target["category"] != "set":
        return float(answer == target["category"])
    if kind == "names":
        return _overlap(set(answer), set(target["names"]))
    sets = {frozenset(names) for names in target["sets"]}
    if kind == "set":
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
