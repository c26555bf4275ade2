"""A world row taken apart, as every audit of its scene looks at it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from builder.causalds.check import graph as audit_graph
from builder.causalds.check.numbers import DRAWS, Population
from builder.seeds import stream

_AGAIN: Final = 4
"""How many times as many units a second look takes."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """The parsed ``world_json`` (``record``) with its graph and simulated units; names map nodes to
    story names."""

    instance_id: str
    record: Mapping[str, Any]
    graph: audit_graph.Graph
    latent: frozenset[str]
    x: str
    y: str
    names: Mapping[str, str]
    levels: tuple[float, float]
    binary_treatment: bool
    population: Population

    @staticmethod
    def read(instance_id: str, world_json: str) -> "Hidden":
        """The scene of a world row. Raises KeyError, TypeError and ValueError for another text."""
        record = json.loads(world_json)
        world, x = record["world"], record["treatment"]
        kinds = {node["name"]: node["kind"] for node in world["nodes"]}
        seed = hashlib.sha256(instance_id.encode()).digest()
        return Hidden(
            instance_id=instance_id,
            record=record,
            graph=audit_graph.graph_of([(a, b) for a, b in world["edges"]], kinds),
            latent=frozenset(world["latent"]),
            x=x,
            y=record["outcome"],
            names={node: record["variables"][node]["name"] for node in kinds},
            levels=(float(record["levels"][0]), float(record["levels"][1])),
            binary_treatment=kinds[x] == "binary",
            population=Population(world, stream(seed, "audit")),
        )

    def again(self) -> "Hidden":
        """The same scene for a second look, with other simulated units and more of them."""
        seed = hashlib.sha256(self.instance_id.encode()).digest()
        world, rng = self.population.world, stream(seed, "audit again")
        return replace(self, population=Population(world, rng, _AGAIN * DRAWS))

    def identifiable(self, effect: str) -> bool:
        """Whether the effect ("ate", "ett", "nde" or "nie") is identifiable."""
        return self._verdicts[effect]

    @cached_property
    def _verdicts(self) -> Mapping[str, bool]:
        ends = self.graph, self.x, self.y, self.latent
        return {
            effect: audit_graph.identifiable(*ends, effect, binary_treatment=self.binary_treatment)
            for effect in ("ate", "ett", "nde", "nie")
        }

    @cached_property
    def valid_sets(self) -> tuple[frozenset[str], ...]:
        """Every valid adjustment set, by size."""
        return tuple(audit_graph.valid_sets(self.graph, self.x, self.y, self.latent))

    def others(self) -> list[str]:
        """The observed nodes other than treatment and outcome, in table order."""
        return [node for node in self.record["columns"] if node not in (self.x, self.y)]
