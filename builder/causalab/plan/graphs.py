"""Planning: which named graph carries which episodes.

An instance is one named graph. With public truth its matched suites, settings and regimes are
episodes of the same instance (they share the graph and, in one family and setting, coefficients);
with private truth every episode has a graph of its own, different from all others of its size.
Graphs are drawn here because they must differ from each other; everything else about an instance
comes from its own key.
"""

import json
from dataclasses import dataclass
from typing import Final

from builder.causal.graph import LatentDAG
from builder.causalab.plan.config import Config
from builder.causalab.plan.suites import Setting, Suite, label, read_label
from builder.causalab.plan.topology import sample_graphs
from builder.release.instance_keys import keyed_specs, plan_stream
from builder.seeds import hmac_key, shuffled, stream
from builder.track import Asked, InstanceSpec
from grader.errors import UsageError
from grader.io.jsonio import canonical
from grader.laboratory.model import Mode

TRACK_NAME: Final = "causalab"


@dataclass(frozen=True, slots=True)
class GraphPlan:
    """A named graph and its episodes; with ``fixed`` wide episodes bar a property from control."""

    graph: LatentDAG
    episodes: tuple[tuple[Suite, Setting], ...]
    fixed: bool
    mode: Mode = "shift"

    @property
    def asked(self) -> Asked:
        """What the release machinery reads of the plan: a task an episode."""
        count = len(self.episodes)
        if count > 1:
            return Asked((count, count))
        return Asked(levels=(("variant", self.episodes[0][0].variant),))

    def to_json(self) -> str:
        """Canonical JSON."""
        asked = self.asked
        return canonical(
            {
                "names": self.graph.nodes,
                "edges": sorted(self.graph.edges),
                "episodes": [label(*episode) for episode in self.episodes],
                "fixed": self.fixed,
                "mode": self.mode,
                "tasks": asked.tasks,
                **dict(asked.levels),
            }
        )

    @staticmethod
    def from_json(text: str) -> "GraphPlan":
        """What :meth:`to_json` wrote."""
        record = json.loads(text)
        return GraphPlan(
            LatentDAG(tuple(record["names"]), tuple((a, b) for a, b in record["edges"])),
            tuple(read_label(text) for text in record["episodes"]),
            record["fixed"],
            record["mode"],
        )


def plan_graphs(config: Config, split: str, count_root: bytes, private: bool) -> list[InstanceSpec]:
    """The instance specs of a split, in index order.

    The order is random, so the index carries no information about the suites.

    Raises ``UsageError`` for shared graphs in a private-truth split.
    """
    if private and config.graphs:
        raise UsageError(
            f"splits.{split}.{TRACK_NAME}.graphs: with private truth no graph is in two episodes, "
            "or one would give away another; write per_suite = 20 instead"
        )
    plans: list[GraphPlan] = []
    seen: set[object] = set()
    for size, acts in dict.fromkeys(suite.topology for suite, _ in config.episodes):
        key = hmac_key(count_root, f"{TRACK_NAME}/{split}/graphs/{size}/{acts}")
        rng = stream(key, "graphs")
        members = [e for e in config.episodes if e[0].topology == (size, acts)]
        count = config.graphs or config.per_suite * len(members)
        for turn, graph in enumerate(sample_graphs(size, count, acts, rng, seen)):
            own = members if config.graphs else members[turn // config.per_suite :][:1]
            plans.append(GraphPlan(graph, tuple(own), turn % 2 == 1, config.mode))
    ordered = shuffled(plan_stream(count_root, TRACK_NAME, split, "plan"), plans)
    return keyed_specs(ordered, (TRACK_NAME, split), ("graph", "graph"), count_root, private)
