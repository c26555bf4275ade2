"""Random discrete models of a scene's graph, on which estimand formulas are evaluated.

Measured variables are binary, unmeasured ones have :data:`LATENT_LEVELS` levels; every conditional
probability is a whole number of thousandths from 0.1 to 0.9, so that no event has probability 0.
Sums are taken cell by cell in a fixed order: the same numbers on every CPU.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from builder.causal.graph import LatentDAG
from builder.seeds import stream
from grader.io.jsonio import canonical

COUNT: Final = 3
LATENT_LEVELS: Final = 4
LEAST: Final = 100
"""Thousandths: the smallest conditional probability."""
WHOLE: Final = 1000
DIGITS: Final = 12
"""Significant digits of what is published."""
MOST_MEASURED: Final = 10
MOST_LATENT: Final = 5
"""Variables of a graph that has models: its joint tables are long."""

Floats = NDArray[np.float64]
Tables = Mapping[str, NDArray[np.int64]]
"""By node the thousandths of its levels given its parents, shape (levels of each parent in node
order ..., levels)."""


@dataclass(frozen=True, slots=True)
class DiscreteModels:
    """The models of a graph: their conditional probabilities and what follows from them.

    ``joints`` are P(measured), each of 2^n numbers, bit i of a cell being the value of the i-th
    node of ``measured``; ``effects`` are P(y | do(x)), by model, x and y.
    """

    measured: tuple[str, ...]
    tables: tuple[Tables, ...]
    joints: tuple[tuple[float, ...], ...]
    effects: tuple[tuple[tuple[float, ...], ...], ...]

    def to_labels(self, names: Mapping[str, str]) -> str:
        """The text in a row of ``causalds_labels``; ``names`` are those of the story."""
        variables = [names[node] for node in self.measured]
        return canonical({"variables": variables, "tables": [list(t) for t in self.joints]})

    def to_world(self, graph: LatentDAG) -> list[dict[str, dict[str, Sequence[object]]]]:
        """The conditional probabilities for the world row: by node its ``parents``, and the
        ``thousandths`` of its levels given theirs, the node's own level changing fastest."""
        return [
            {
                node: {"parents": [*graph.parents(node)], "thousandths": table.reshape(-1).tolist()}
                for node, table in tables.items()
            }
            for tables in self.tables
        ]


def has_models(graph: LatentDAG) -> bool:
    """Whether a graph is small enough for joint tables."""
    return len(graph.observed) <= MOST_MEASURED and len(graph.latent) <= MOST_LATENT


@lru_cache(maxsize=4)
def models_of(graph: LatentDAG, x: str, y: str, world: str) -> DiscreteModels:
    """The models of a scene; they depend on its hidden world (as text) and on nothing else."""
    rng = stream(hashlib.sha256(world.encode()).digest(), "discrete models")
    tables = tuple(draw_tables(graph, rng) for _ in range(COUNT))
    return DiscreteModels(
        graph.observed,
        tables,
        tuple(_rounded(joint(graph, one).reshape(-1, order="F")) for one in tables),
        tuple(tuple(_rounded(row) for row in interventional(graph, one, x, y)) for one in tables),
    )


def draw_tables(graph: LatentDAG, rng: np.random.Generator) -> Tables:
    """One model: uniform among what is allowed, every row of its own."""
    return {node: _table(graph, node, rng) for node in graph.nodes}


def levels(graph: LatentDAG, node: str) -> int:
    """The number of levels of a node."""
    return LATENT_LEVELS if node in graph.latent else 2


def _table(graph: LatentDAG, node: str, rng: np.random.Generator) -> NDArray[np.int64]:
    own, shape = levels(graph, node), [levels(graph, p) for p in graph.parents(node)]
    spare = WHOLE - own * LEAST
    cuts = np.sort(rng.integers(0, spare + 1, size=(*shape, own - 1)), axis=-1)
    ends = [np.zeros((*shape, 1), np.int64), cuts, np.full((*shape, 1), spare)]
    return LEAST + np.diff(np.concatenate(ends, axis=-1), axis=-1)


def joint(graph: LatentDAG, tables: Tables) -> Floats:
    """P(measured), one axis per measured node in node order."""
    return _marginal(graph, _product(graph, tables, graph.nodes), graph.observed)


def interventional(graph: LatentDAG, tables: Tables, x: str, y: str) -> Floats:
    """P(y | do(x)), shape (levels of x, levels of y): the product without the factor of x."""
    kept = [node for node in graph.nodes if node != x]
    found = _marginal(graph, _product(graph, tables, kept), (x, y))
    found = found if graph.index[x] < graph.index[y] else found.T
    return np.broadcast_to(found, (levels(graph, x), levels(graph, y)))


def _product(graph: LatentDAG, tables: Tables, nodes: Sequence[str]) -> Floats:
    """The product of the factors of some nodes, an axis for every node of the graph."""
    found: Floats = np.ones((1,) * len(graph.nodes))
    for node in nodes:
        axes = [graph.index[one] for one in (*graph.parents(node), node)]
        order = np.argsort(axes)
        factor = np.transpose(tables[node] / WHOLE, order)
        shape = np.ones(len(graph.nodes), np.int64)
        shape[np.sort(axes)] = factor.shape
        found = found * factor.reshape(shape)
    return found


def _marginal(graph: LatentDAG, table: Floats, kept: Sequence[str]) -> Floats:
    """The sum over every node but those of ``kept``, which keep their order."""
    for node in reversed(graph.nodes):
        if node not in kept:
            slices = np.moveaxis(table, graph.index[node], 0)
            table = slices[0]
            for one in slices[1:]:
                table = table + one
    return table


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(float(f"{value:.{DIGITS}g}") for value in values.tolist())
