"""A scene's graph as the model sees it: fragment by fragment, under ids without meaning.

The roles of a motif ("M", "U") would suggest names, so nodes are called v1, v2 … in a seeded order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from builder.causal.graph import LatentDAG
from builder.words.types import Kind

_FRAGMENT: Final = re.compile(r"AUX(\d+)_")
_MOST_STATEMENTS: Final = 12


@dataclass(frozen=True, slots=True)
class Sketch:
    """A graph to be named: under public ids, with the kind of every variable."""

    graph: LatentDAG
    kinds: Mapping[str, Kind]

    @property
    def non_edges(self) -> list[tuple[str, str]]:
        """Unordered pairs without a direct effect between them, in node order."""
        joined = {frozenset(edge) for edge in self.graph.edges}
        pairs = combinations(self.graph.nodes, 2)
        return [pair for pair in pairs if frozenset(pair) not in joined]

    @property
    def independencies(self) -> list[str]:
        """Statements "a and b, given c": for non-edges, by a smallest separating set of two at
        most; no more than a dozen."""
        found = []
        for a, b in self.non_edges:
            others = [v for v in self.graph.observed if v not in (a, b)]
            if {a, b} & self.graph.latent:
                continue
            sets = (given for size in range(3) for given in combinations(others, size))
            given = next((s for s in sets if self.graph.d_separated(a, b, s)), None)
            if given is not None:
                found.append(f"{a} and {b}" + (f", given {' and '.join(given)}" if given else ""))
        return found[:_MOST_STATEMENTS]

    def part(self, nodes: Sequence[str]) -> "Sketch":
        """The sub-graph that some nodes induce."""
        kept = [node for node in self.graph.nodes if node in nodes]
        edges = tuple((a, b) for a, b in self.graph.edges if a in kept and b in kept)
        graph = LatentDAG(tuple(kept), edges, self.graph.latent & set(kept))
        return Sketch(graph, {node: self.kinds[node] for node in kept})

    def to_json(self) -> dict[str, object]:
        """What prompts show."""
        return {
            "variables": [
                {"id": node, "kind": self.kinds[node], "observed": node not in self.graph.latent}
                for node in self.graph.nodes
            ],
            "direct_effects": [f"{a} -> {b}" for a, b in self.graph.edges],
            "no_direct_effect": [f"{a}, {b}" for a, b in self.non_edges],
        }


@dataclass(frozen=True, slots=True)
class Stage:
    """A fragment to be named. ``anchors`` are its nodes that earlier stages have named."""

    sketch: Sketch
    anchors: frozenset[str]


def aliases(rng: np.random.Generator, nodes: Sequence[str]) -> dict[str, str]:
    """Node to public id, in a random order."""
    order = rng.permutation(len(nodes)).tolist()
    return {nodes[place]: f"v{number}" for number, place in enumerate(order, 1)}


def sketch(graph: LatentDAG, kinds: Mapping[str, Kind], names: Mapping[str, str]) -> Sketch:
    """The graph under public ids, its nodes and edges in the order of those."""
    by_id = sorted(graph.nodes, key=lambda node: int(names[node][1:]))
    renamed = LatentDAG(
        tuple(names[node] for node in by_id),
        tuple((names[a], names[b]) for a, b in graph.edges),
        frozenset(names[node] for node in graph.latent),
    )
    return Sketch(renamed, {names[node]: kinds[node] for node in by_id})


def stages(graph: LatentDAG, whole: Sketch, names: Mapping[str, str]) -> list[Stage]:
    """The stage plan of a grafted graph: the host motif first, then every graft with the nodes that
    it shares with what is there; a graph without grafts is one stage."""
    number = _stage_numbers(graph)
    found = []
    for stage in sorted(set(number.values())):
        own = {node for node in graph.nodes if number[node] == stage}
        shared = {
            node
            for edge in graph.edges
            for node, other in (edge, edge[::-1])
            if other in own and number[node] < stage
        }
        part = whole.part([names[node] for node in graph.nodes if node in own | shared])
        found.append(Stage(part, frozenset(names[node] for node in shared)))
    return found


def _stage_numbers(graph: LatentDAG) -> dict[str, int]:
    """0 for the host's nodes, k for those of the k-th graft; a variable that was added to grafted
    fragments alone comes with the last of them."""
    number = {
        node: int(match[1]) if (match := _FRAGMENT.match(node)) else 0 for node in graph.nodes
    }
    for node in graph.latent:
        near = [number[other] for other in (*graph.parents(node), *graph.children(node))]
        if number[node] == 0 and near and 0 not in near:
            number[node] = max(near)
    return number
