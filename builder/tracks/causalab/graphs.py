"""Draw named graphs over the properties and frequency.

Spread edge counts evenly over ``[k - 1, min(k (k - 1) / 2, 2 k)]``, which reproduces the edge means
and variances of the paper's Table 1. Draw edges uniformly among the forward pairs of a random
order, in which frequency is last (where it may act, anywhere but first)."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from builder.graphs.graph import LatentDAG

FREQUENCY: Final = "frequency"

PROPERTIES: Final[tuple[str, ...]] = (
    "density", "moisture", "ph", "temperature", "quantum_size", "radiation", "conductivity",
    "pressure",
)  # fmt: skip
"""The eight properties; an episode has k - 1 of them (the reference's vocabulary)."""

TRIES: Final = 5_000
"""Give up after so many draws in a row without a new graph."""

Edge = tuple[str, str]


def properties(graph: LatentDAG) -> tuple[str, ...]:
    """Return all nodes but frequency, which is listed last."""
    return graph.nodes[:-1]


def edge_counts(size: int) -> range:
    """Return the numbers of edges that a graph of ``size`` nodes may have."""
    return range(size - 1, min(size * (size - 1) // 2, 2 * size) + 1)


def sample_graph(size: int, edges: int, acts: bool, rng: np.random.Generator) -> LatentDAG:
    """Draw a graph of so many nodes and edges: frequency, last, is acted on, may act if
    ``acts``."""
    chosen = [PROPERTIES[int(i)] for i in rng.choice(len(PROPERTIES), size - 1, replace=False)]
    causal = [chosen[int(i)] for i in rng.permutation(size - 1)]
    place = int(rng.integers(1, size)) if acts else size - 1
    causal.insert(place, FREQUENCY)
    pairs = list(combinations(causal, 2))
    while True:
        drawn = tuple(pairs[int(i)] for i in rng.choice(len(pairs), edges, replace=False))
        if any(effect == FREQUENCY for _, effect in drawn):
            return LatentDAG((*chosen, FREQUENCY), drawn)


def sample_graphs(
    size: int, count: int, acts: bool, rng: np.random.Generator, seen: set[object] | None = None
) -> list[LatentDAG]:
    """Return up to ``count`` different graphs, until ``TRIES`` draws give no new one. Edge counts
    take turns in random order. Graphs in ``seen`` are left out, and new ones added to it."""
    turns = edge_counts(size)
    seen = set() if seen is None else seen
    found: list[LatentDAG] = []
    tries = 0
    while len(found) < count and tries < TRIES:
        if len(found) % len(turns) == 0:
            order = rng.permutation(len(turns))
        wanted = turns[int(order[len(found) % len(turns)])]
        graph = sample_graph(size, wanted, acts, rng)
        key = (frozenset(graph.nodes), frozenset(graph.edges))
        tries += 1
        if key not in seen:
            seen.add(key)
            found.append(graph)
            tries = 0
    return found


def forks(edges: Sequence[Edge]) -> int:
    """Return the number of pairs of edges with the same cause (Table 1's fork count)."""
    causes = [cause for cause, _ in edges]
    return sum(comb(causes.count(cause), 2) for cause in set(causes))


def colliders(edges: Sequence[Edge]) -> int:
    """Return the number of pairs of edges with the same effect (Table 1's collider count)."""
    return forks([(effect, cause) for cause, effect in edges])
