"""A world: a causal graph with a structural equation and a noise law for every node.

Noise is explicit, so that several worlds can be run on the same units: the noise of a continuous
node is its standardised innovation ``e`` (mean 0, sd 1), the noise of a binary node a uniform
``u``. The structural equations are

    continuous:  V = mean(parents) + scale * e          binary:  V = 1 if u < mean(parents) else 0

(Pearl 2009, Definition 7.1.1). Counterfactuals are runs of the same noise under another ``do``.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from builder.equations.equation import Array, Kind, Parameters
from builder.equations.mechanisms import MECHANISMS
from builder.equations.noise import Noise
from builder.graphs.graph import LatentDAG

Values = Mapping[str, Array]
Intervention = Mapping[str, float | Array]
"""Node -> value, one number for all units or an array with one value per unit."""


@dataclass(frozen=True, slots=True)
class Node:
    """One variable: kind, direct causes (in the order of its parameters), mechanism and noise.
    ``mechanism`` names a row of ``MECHANISMS``. ``noise`` is None for binary nodes. With a ``grid``
    the value is rounded to its nearest multiple, after the noise."""

    name: str
    kind: Kind
    parents: tuple[str, ...]
    mechanism: str
    parameters: Parameters
    noise: Noise | None
    grid: float | None = None

    @property
    def coefficients(self) -> tuple[float, ...] | None:
        """The weights of an affine equation, None for another, a grid or varying noise."""
        varies = self.noise is not None and self.noise.spread is not None
        affine = MECHANISMS[self.mechanism].affine and self.grid is None and not varies
        return self.parameters["weights"] if affine else None


@dataclass(frozen=True)
class World:
    """A structural causal model over ``graph``; ``nodes`` are in the order of ``graph.nodes``."""

    graph: LatentDAG
    nodes: tuple[Node, ...]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Return the names of the nodes, causes first."""
        return self.graph.topological_order()

    @cached_property
    def _by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    def node(self, name: str) -> Node:
        """Return the node called ``name``. Raises KeyError."""
        return self._by_name[name]

    def draw_noise(self, rng: np.random.Generator, n: int) -> dict[str, Array]:
        """Draw the noise of ``n`` units: node -> array (n,), in the order of ``nodes``."""
        return {
            node.name: rng.random(n) if node.noise is None else node.noise.draw(rng, n)
            for node in self.nodes
        }

    def run(
        self, noise: Values, do: Intervention | None = None, only: Collection[str] | None = None
    ) -> dict[str, Array]:
        """Return each node's values (n,) under ``do``, binary ones 0.0 and 1.0, in node order.

        ``noise`` maps nodes to arrays (n,); nodes under ``do`` need none, and without any there is
        one unit. An array in ``do`` sets each unit to its own value: a nested Y(x1, M(x0)) is
        ``run(noise, {x: x1, m: run(noise, {x: x0})[m]})``. ``only`` these nodes are evaluated,
        which must hold their parents not under ``do``.
        """
        do = do or {}
        n = next((len(column) for column in noise.values()), 1)
        values: dict[str, Array] = {}
        for name in self.order:
            if only is not None and name not in only:
                continue
            if name in do:
                values[name] = np.full(n, do[name], dtype=np.float64)
                continue
            mean = self.conditional_mean(name, values)
            if self._by_name[name].noise is None:
                values[name] = np.asarray(noise[name] < mean, dtype=np.float64)
            else:
                value = mean + self.noise_scale(name, values) * noise[name]
                values[name] = on_grid(value, self._by_name[name].grid)
        return {name: values[name] for name in self.graph.nodes if name in values}

    def simulate(
        self, rng: np.random.Generator, n: int, do: Intervention | None = None
    ) -> dict[str, Array]:
        """Draw ``n`` independent units of all nodes, latent ones included: node -> array (n,)."""
        return self.run(self.draw_noise(rng, n), do)

    def conditional_mean(self, name: str, values: Values) -> Array:
        """Return E[V | parents] for V = ``name``, (n,), scalar for a root; P(1) of a binary V."""
        node = self._by_name[name]
        columns = [values[parent] for parent in node.parents]
        return MECHANISMS[node.mechanism].mean(node.parameters, columns)

    def noise_scale(self, name: str, values: Values) -> Array:
        """Return the noise scale of a continuous node given its parents, (n,) or a scalar."""
        node = self._by_name[name]
        assert node.noise is not None, name
        return node.noise.scale_at([values[parent] for parent in node.parents])

    def conditional_density(self, name: str, value: Array | float, values: Values) -> Array:
        """Return the density (binary: probability) of V = ``name`` at ``value``, (n,)."""
        law, mean = self._by_name[name].noise, self.conditional_mean(name, values)
        if law is None:
            return np.where(np.asarray(value) == 1.0, mean, 1.0 - mean)
        scale = self.noise_scale(name, values)
        return law.density((value - mean) / scale) / scale

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values, without a ``grid`` of None."""
        return {
            "nodes": [
                {key: value for key, value in asdict(node).items() if key != "grid" or value}
                | {"noise": node.noise and node.noise.to_json()}
                for node in self.nodes
            ],
            "edges": [list(edge) for edge in self.graph.edges],
            "latent": [name for name in self.graph.nodes if name in self.graph.latent],
        }


def on_grid(values: Array, grid: float | None) -> Array:
    """Return values (n,) rounded to the nearest multiples of ``grid``, as they are for None."""
    return values if grid is None else grid * np.rint(values / grid)
