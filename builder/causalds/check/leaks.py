"""What nothing public may give away of a scene, for the leak test."""

import json
from collections.abc import Mapping
from typing import Any

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.causalds.plan.tellings import FIRST
from builder.track import HiddenFacts


def leak_facts(world_row: Mapping[str, Any]) -> HiddenFacts | None:
    """The private facts in a row of ``causalds_worlds``.

    None for a scene that only tells another one again: it shares that scene's world, and counted
    as a scene of its own it would look like a leak.
    """
    record = json.loads(world_row["world_json"])
    if record.get("plan", {}).get("telling") not in (None, FIRST):
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
