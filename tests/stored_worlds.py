"""The world that a published record describes, read back for tests that run it again."""

from collections.abc import Mapping
from typing import Any

from builder.equations.noise import Noise, Spread
from builder.equations.world import Node, World
from builder.graphs.graph import LatentDAG


def world_from_json(record: Mapping[str, Any]) -> World:
    """The inverse of ``World.to_json``."""
    nodes = tuple(_node(item) for item in record["nodes"])
    edges = tuple((str(a), str(b)) for a, b in record["edges"])
    names = tuple(node.name for node in nodes)
    return World(LatentDAG(names, edges, frozenset(record["latent"])), nodes)


def _node(item: Mapping[str, Any]) -> Node:
    record, law = _tuples(item), item["noise"]
    record["parameters"] = _tuples(item["parameters"])
    if law is not None:
        noise = _tuples(law)
        if "spread" in law:
            noise["spread"] = Spread(**_tuples(law["spread"]))
        record["noise"] = Noise(**noise)
    return Node(**record)


def _tuples(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in record.items()}
