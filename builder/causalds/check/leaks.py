"""What nothing public may give away of a scene and its tasks, for the leak test."""

import json
from collections.abc import Mapping
from typing import Any, Final

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.causalds.plan.tellings import FIRST
from builder.gate.tables import TaskRow
from builder.track import AskedFacts, HiddenFacts, LeakFacts


def _hidden(world_row: Mapping[str, Any]) -> HiddenFacts | None:
    """The private facts in a row of ``causalds_worlds``.

    None for a scene that only tells another one again: it shares that scene's world, and counted
    as a scene of its own it would look like a leak.
    """
    record = json.loads(world_row["world_json"])
    telling = record.get("plan", {}).get("telling")
    if telling is not None and telling not in FIRST:
        return None
    world, treatment, outcome = record["world"], record["treatment"], record["outcome"]
    graph = LatentDAG(
        tuple(node["name"] for node in world["nodes"]),
        tuple((cause, effect) for cause, effect in world["edges"]),
        frozenset(world["latent"]),
    )
    kinds = {node["name"]: node["kind"] for node in world["nodes"]}
    binary = kinds[treatment] == "binary"
    return HiddenFacts(
        told=(len(graph.nodes), len(graph.edges), len(graph.latent)),
        facts={
            "structure": world_row["structure"],
            "motif": world_row["motif"],
            "ATE identifiable": str(is_identifiable(graph, treatment, outcome, "ate")),
            "ETT identifiable": str(
                is_identifiable(graph, treatment, outcome, "ett", binary_treatment=binary)
            ),
        },
    )


def _asked(task: TaskRow, truth: Mapping[str, Any], _world: Mapping[str, Any]) -> AskedFacts:
    """A task may tell its declared inputs: lengths of lists, kinds, alpha, which effect it is about
    (each is identifiable in another share of scenes); no name, no contrast.
    """
    inputs = task.inputs
    lengths = tuple((key, len(inputs[key])) for key in sorted(inputs) if _is_list(inputs[key]))
    scalars = tuple(
        (key, inputs[key])
        for key in ("alpha", "estimand", "outcome_kind", "rows", "variables")
        if key in inputs
    )
    binary = {inputs.get("x0"), inputs.get("x1")} == {0, 1}
    ends = str(inputs.get("treatment", "")), str(inputs.get("outcome", ""))
    return AskedFacts((lengths, scalars, binary), ends=ends)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


LEAK_FACTS: Final = LeakFacts(
    hidden=_hidden,
    asked=_asked,
    untested=(
        ("names of variables as answers", "no two scenes share them, so there is no class"),
        ("held-out rows", "they are data, and their values are meaning"),
    ),
)
