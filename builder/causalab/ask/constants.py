"""The constant answers that floors are the best of, and the episodes that they are graded on.

Sessions without experiments follow from what the agent is told, so no laboratory is needed to
write one.
"""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import Any, Final

from builder.causalab.plan.config import Config
from grader.io.jsonio import canonical
from grader.laboratory.session import ENGINE_VERSION
from grader.laboratory.transcript import seal, write_line
from grader.model import Truth
from grader.shape import Task

_FREQUENCIES: Final = (0.0, 50.0, 100.0, 200.0)


def twin(config: Config, tasks: int) -> Config:
    """Return the settings of the episodes that floors are measured on: ``tasks`` of each suite and
    setting, each with a graph of its own."""
    return config.model_copy(update={"graphs": 0, "per_suite": tasks})


def constants(task: Task, _: Truth) -> Iterator[tuple[str, str]]:
    """Yield each constant answer to an episode, its name and the transcript: a graph and a number,
    both stated blindly."""
    for (graph, edges), frequency in product(_graphs(task).items(), _FREQUENCIES):
        stated = _hypothesis(task.inputs["target"]["name"], edges, frequency)
        yield f"{graph}, always {frequency:g}", _transcript(task, stated, frequency)


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
