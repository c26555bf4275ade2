"""Named graphs: who acts on whom, over the properties and frequency.

Edge counts are spread evenly over ``[k - 1, min(k (k - 1) / 2, 2 k)]``, which reproduces the edge
means and variances of the paper's Table 1; the edges are a uniform draw among the forward pairs of
a random order in which frequency is last (or, where it may act, anywhere but first).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Final

import numpy as np

FREQUENCY: Final = "frequency"

PROPERTIES: Final[tuple[str, ...]] = (
    "density", "moisture", "ph", "temperature", "quantum_size", "radiation", "conductivity",
    "pressure",
)  # fmt: skip
"""The eight properties; an episode has k - 1 of them (the reference's vocabulary)."""

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Topology:
    """A directed acyclic graph over ``names``, in the order in which an episode lists them.

    ``frequency`` is the last name. ``edges`` are sorted.
    """

    names: tuple[str, ...]
    edges: tuple[Edge, ...]

    @property
    def properties(self) -> tuple[str, ...]:
        """All names but frequency."""
        return self.names[:-1]

    @property
    def key(self) -> tuple[frozenset[str], tuple[Edge, ...]]:
        """Equal for graphs that differ in nothing but the order of listing."""
        return frozenset(self.names), self.edges

    def parents(self, name: str) -> tuple[str, ...]:
        """The causes of ``name``, in the order of listing."""
        return tuple(cause for cause in self.names if (cause, name) in self.edges)

    def order(self) -> tuple[str, ...]:
        """A causal order: causes first, ties in the order of listing."""
        placed: list[str] = []
        while len(placed) < len(self.names):
            placed.append(
                next(
                    name
                    for name in self.names
                    if name not in placed and all(p in placed for p in self.parents(name))
                )
            )
        return tuple(placed)


def edge_counts(size: int) -> range:
    """The edge counts of graphs with ``size`` nodes."""
    return range(size - 1, min(size * (size - 1) // 2, 2 * size) + 1)


def sample_topology(size: int, edges: int, acts: bool, rng: np.random.Generator) -> Topology:
    """A graph of ``size`` nodes and ``edges`` edges in which something acts on frequency."""
    chosen = rng.choice(len(PROPERTIES), size - 1, replace=False)
    properties = tuple(PROPERTIES[int(i)] for i in chosen)
    causal = [properties[int(i)] for i in rng.permutation(size - 1)]
    place = int(rng.integers(1, size)) if acts else size - 1
    causal.insert(place, FREQUENCY)
    pairs = [(a, b) for i, a in enumerate(causal) for b in causal[i + 1 :]]
    while True:
        drawn = tuple(sorted(pairs[int(i)] for i in rng.choice(len(pairs), edges, replace=False)))
        if any(effect == FREQUENCY for _, effect in drawn):
            return Topology((*properties, FREQUENCY), drawn)


def sample_topologies(
    size: int, count: int, acts: bool, rng: np.random.Generator, seen: set[object] | None = None
) -> list[Topology]:
    """``count`` different named graphs, edge counts taking turns in a random order.

    ``seen`` holds the keys of graphs drawn before, and gets those of these.
    """
    turns = edge_counts(size)
    seen = set() if seen is None else seen
    found: list[Topology] = []
    while len(found) < count:
        if len(found) % len(turns) == 0:
            order = rng.permutation(len(turns))
        wanted = turns[int(order[len(found) % len(turns)])]
        topology = sample_topology(size, wanted, acts, rng)
        if topology.key not in seen:
            seen.add(topology.key)
            found.append(topology)
    return found


def forks(edges: Sequence[Edge]) -> int:
    """Pairs of effects of one cause (Table 1's fork count)."""
    causes = [cause for cause, _ in edges]
    return sum(comb(causes.count(cause), 2) for cause in set(causes))


def colliders(edges: Sequence[Edge]) -> int:
    """Pairs of causes of one effect (Table 1's collider count)."""
    return forks([(effect, cause) for cause, effect in edges])
