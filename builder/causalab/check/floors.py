"""Answers that know nothing of the causalab track, and the points they deserve.

The rule is implemented here a second time, independently of the grader's scorers. Sessions without
experiments follow from what the agent is told, so no laboratory is needed to write one.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, Final, Literal

import numpy as np

from builder.causalab.plan.config import Config
from grader.io.jsonio import canonical
from grader.laboratory.session import ENGINE_VERSION
from grader.laboratory.transcript import seal, write_line
from grader.model import Truth
from grader.shape import Task

WHY: Final[Mapping[str, str]] = {
    "laboratory_jsonl": "0 and an empty graph: half a point where the frequency is within the "
    "tolerance of 0",
}
"""Why a constant answer scores what it scores, by answer shape."""


def uninformed_answer(
    kind: Literal["constant", "random"], task: Task, _: Truth | None, rng: np.random.Generator
) -> str:
    """The transcript of a session without experiments: a blind hypothesis and prediction."""
    inputs = task.inputs
    target = inputs["target"]["name"]
    names = [entry["name"] for entry in inputs["variables"]]
    if kind == "constant":
        return _transcript(task, _hypothesis(target, [], 0.0), 0.0)
    order = [names[int(i)] for i in rng.permutation(len(names))] + [target]
    edges = [
        (cause, effect)
        for place, cause in enumerate(order)
        for effect in order[place + 1 :]
        if rng.random() < 0.5
    ]
    hypothesis = _hypothesis(target, edges, round(float(rng.uniform(0, 50)), 2))
    low, high = inputs["reactor_range"]
    return _transcript(task, hypothesis, round(float(rng.uniform(low, high)), 2))


def _hypothesis(target: str, edges: list[tuple[str, str]], base: float) -> dict[str, Any]:
    causes = [cause for cause, effect in edges if effect == target]
    return {
        "edges": [{"from": cause, "to": effect} for cause, effect in edges],
        "freq_equation": " + ".join(["base", *(f"c_{cause}*{cause}" for cause in causes)]),
        "coefficients": {"base": base, **{f"c_{cause}": 1.0 for cause in causes}},
    }


def _transcript(task: Task, hypothesis: Mapping[str, Any], prediction: float) -> str:
    """The lines of such a session, each with the digest of what precedes it."""
    inputs = task.inputs
    told = canonical({"task_id": task.task_id, "public": inputs})
    events: list[dict[str, Any]] = [
        {
            "event": "opened",
            "engine": ENGINE_VERSION,
            "task_id": task.task_id,
            "episode": hashlib.sha256(told.encode("utf-8")).hexdigest(),
            "submission": "",
            "mode": inputs["mode"],
            "budget": inputs["budget"],
            "opening": inputs["opening"],
        },
        {"event": "hypothesis", "step": 0, "record": hypothesis},
        {"event": "reactor", "properties": inputs["reactor"]},
        {"event": "prediction", "value": prediction},
        {"event": "closed", "lines": 5},
    ]
    text = digest = ""
    for index, event in enumerate(events):
        line = seal({"index": index, **event}, digest, None)
        digest = line["digest"]
        text += write_line(line)
    return text


def floor_points(task: Task, truth: Truth, answer: str) -> float:
    """Half a point for the prediction, half the F1 of the edges."""
    lines = [json.loads(line) for line in answer.splitlines()]
    stated = next(line["record"] for line in lines if line["event"] == "hypothesis")
    prediction = next(line["value"] for line in lines if line["event"] == "prediction")
    near = abs(prediction - truth.target["frequency"]) <= task.inputs["tolerance"]
    given = {(edge["from"], edge["to"]) for edge in stated["edges"]}
    right = {
        (term["parent"], node)
        for node, terms in truth.target["equations"].items()
        for term in terms
    }
    shared = 2 * len(given & right)
    edges = shared / (len(given) + len(right)) if given or right else 1.0
    return 0.5 * float(near) + 0.5 * float(edges)


# --- Every way of answering without an experiment, for the floors of an exam ----------------------

_FREQUENCIES: Final = (0.0, 25.0, 50.0, 100.0, 200.0, 500.0)
_BATCH: Final = 10
"""Episodes of a suite in a batch of a twin, each of a graph of its own."""


def twin(config: Config, _: object, variants: frozenset[str]) -> Config:
    """A batch of a twin: the same suites and settings, as far as their variants are asked."""
    episodes = tuple(one for one in config.episodes if one[0].variant in variants)
    return Config(0, _BATCH, episodes, config.mode)


def policies(task: Task, _: Truth) -> Iterator[tuple[str, Sequence[str]]]:
    """The policies for an episode by name: a graph and a number, both stated blindly."""
    for (graph, edges), frequency in product(_graphs(task).items(), _FREQUENCIES):
        stated = _hypothesis(task.inputs["target"]["name"], edges, frequency)
        yield f"{graph}, always {frequency:g}", [_transcript(task, stated, frequency)]


def _graphs(task: Task) -> dict[str, list[tuple[str, str]]]:
    """Graphs that anybody can draw: properties count in the order in which they are listed."""
    target = task.inputs["target"]["name"]
    names = [entry["name"] for entry in task.inputs["variables"]]
    order = [*names, target]
    chain = list(pairwise(order))
    star = [(name, target) for name in names]
    pairs = [(a, b) for place, a in enumerate(order) for b in order[place + 1 :]]
    return {
        "no edge": [],
        "every property acts on the target": star,
        "a chain": chain,
        "a chain and every property on the target": list(dict.fromkeys([*chain, *star])),
        "every pair forwards": pairs,
    }
