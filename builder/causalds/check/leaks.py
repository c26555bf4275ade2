"""What nothing public may give away of a scene and its tasks, for the leak test."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.causalds.plan.tellings import FIRST
from builder.gate.tables import TaskRow
from builder.track import LeakFacts
from grader.tracks import variant

Row = Mapping[str, Any]


def leak_facts(task: TaskRow, truth: Row, world: Row) -> LeakFacts | None:
    """Return the facts of a task.

    It may tell its declared inputs: lengths of lists, kinds, alpha, which effect it is about (each
    is identifiable in another share of scenes); no name, no contrast. None for a scene that only
    tells another one again: it shares that scene's world.
    """
    told = _of_scene(world["world_json"])
    if told is None:
        return None
    counts, hidden = told
    inputs = task.inputs
    lists = {name: tuple(value) for name, value in sorted(inputs.items()) if _is_list(value)}
    scalars = ("alpha", "estimand", "outcome_kind", "rows", "variables")
    return LeakFacts(
        hidden={"structure": world["structure"], "motif": world["motif"], **hidden},
        facts=_answers(task, truth),
        of_instance=counts,
        of_task=(
            [(name, len(value)) for name, value in lists.items()],
            [inputs.get(name) for name in scalars],
            {inputs.get("x0"), inputs.get("x1")} == {0, 1},
        ),
        ends=(str(inputs.get("treatment", "")), str(inputs.get("outcome", ""))),
        orders=tuple(lists.values()),
    )


@lru_cache(maxsize=8)
def _of_scene(world_json: str) -> tuple[tuple[int, ...], dict[str, str]] | None:
    """Return what the story may tell, numbers of nodes, edges and latents, and what it may not."""
    record = json.loads(world_json)
    telling = record.get("plan", {}).get("telling", {}).get("arm")
    if telling is not None and telling not in FIRST:
        return None
    world, ends = record["world"], (record["treatment"], record["outcome"])
    nodes = tuple(node["name"] for node in world["nodes"])
    graph = LatentDAG(nodes, tuple(map(tuple, world["edges"])), frozenset(world["latent"]))
    binary = next(node["kind"] == "binary" for node in world["nodes"] if node["name"] == ends[0])
    ett = is_identifiable(graph, *ends, "ett", binary_treatment=binary)
    return (len(nodes), len(graph.edges), len(graph.latent)), {
        "ATE identifiable": str(is_identifiable(graph, *ends, "ate")),
        "ETT identifiable": str(ett),
    }


def _answers(task: TaskRow, truth: Row) -> dict[str, str]:
    """Return what the answers to all variants have in common, and the structure asked about."""
    shape, target = variant("causalds", task.key).shape, json.loads(truth["target_json"])
    facts = {"asked structure": truth["structure"]}
    if shape.abstainable:
        facts["should abstain"] = str(truth["should_abstain"])
    if truth["value"] is not None:
        facts["sign"] = "-" if truth["value"] < 0 else "+" if truth["value"] > 0 else "0"
    if "category" in target:
        empty = [] in target.get("sets", ()) or target.get("names") == []
        facts["category"] = "empty set" if empty else target["category"]
    if "accepted" in target and shape.kind != "name":
        name = {"sign": "sign", "boolean": "yes or no"}.get(shape.kind, "label")
        facts[name] = str(target["accepted"][0])
    return facts


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)
