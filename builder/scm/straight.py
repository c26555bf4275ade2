"""Sketches of a world before it is drawn: every equation a line, its signs and weights at random.

Weights and noise are of the sizes that ``builder.scm.sampling`` draws. What paths make of signs is
then a matter of covariances (Wright 1934), hundreds of sketches at once: a scene that needs its
association to point the other way than its effect takes signs with which sketches do that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from builder.causal.graph import LatentDAG
from builder.scm.equation import Array, summary

Edge = tuple[str, str]

_LOGISTIC_SD: Final = 1.8
"""Of the standard logistic distribution: the noise of what decides a binary variable."""


@dataclass(frozen=True, slots=True)
class Sketches:
    """Sketches of one graph: weights by edge, each (count,), and the covariances of all nodes
    (count, k, k) in the order of ``graph.nodes``. A binary node stands for what decides it."""

    graph: LatentDAG
    weights: Mapping[Edge, Array]
    covariances: Array

    def effect(self, x: str, y: str, *, direct: bool = True) -> Array:
        """The total effect of one unit of ``x`` on ``y``, (count,); without ``direct``, what does
        not run along the edge between the two."""
        count = len(self.covariances)
        found = {node: np.zeros(count) for node in self.graph.nodes} | {x: np.ones(count)}
        for node in self.graph.topological_order():
            for parent in self.graph.parents(node):
                if node != x and (direct or (parent, node) != (x, y)):
                    found[node] = found[node] + self.weights[parent, node] * found[parent]
        return found[y]

    def signs(self, which: int) -> dict[Edge, int]:
        """The sign of every edge in one sketch."""
        return {edge: 1 if w[which] > 0 else -1 for edge, w in self.weights.items()}

    def strengths(self, which: int) -> dict[Edge, float]:
        """The standardised coefficient of every edge in one sketch."""
        place = self.graph.index
        spread = np.sqrt(np.diagonal(self.covariances[which]))
        return {
            (a, b): summary(float(w[which] * spread[place[a]] / spread[place[b]]))
            for (a, b), w in self.weights.items()
        }


def sketch(
    rng: np.random.Generator,
    graph: LatentDAG,
    count: int,
    *,
    binary: frozenset[str] = frozenset(),
    signs: Mapping[Edge, int] | None = None,
) -> Sketches:
    """``count`` sketches of a graph with these ``binary`` nodes; edges that ``signs`` lists have
    these, the others have random ones."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    covariances = np.zeros((count, len(place), len(place)))
    weights: dict[Edge, Array] = {}
    for node in graph.topological_order():
        i, parents = place[node], graph.parents(node)
        for parent in parents:
            spread = np.sqrt(covariances[:, place[parent], place[parent]])
            usual = (1.0, 0.6) if node in binary else (0.8, 0.4)
            size = np.abs(rng.normal(*usual, count)) / np.maximum(1.0, spread)
            sign = rng.choice((-1.0, 1.0), count)
            known = (signs or {}).get((parent, node))
            weights[parent, node] = (sign if known is None else known) * size
            covariances[:, i] += weights[parent, node][:, None] * covariances[:, place[parent]]
        noise = rng.uniform(0.5, 1.0, count) if parents else rng.uniform(0.8, 1.5, count)
        variance = np.full(count, _LOGISTIC_SD**2) if node in binary and parents else noise**2
        for parent in parents:
            variance = variance + weights[parent, node] * covariances[:, i, place[parent]]
        covariances[:, :, i] = covariances[:, i]
        covariances[:, i, i] = variance
    return Sketches(graph, weights, covariances)
