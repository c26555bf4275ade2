"""The best predictor of a scene's outcome: one that knows its world (and what it then earns).

It knows every equation and the values of all observed variables but the outcome, not the noise:
what it says of a row is the conditional distribution of the outcome given that row. With y the
outcome and u the unmeasured variables that matter, the density of y is the integral over u of the
product of the equations' densities in which y or u takes part (a Bayesian network's posterior).
Both are integrated over grids: unmeasured variables over the normal score of their noise.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import special

from builder.scm.equation import Array
from builder.scm.world import World
from grader.tracks.causalds.shapes import PREDICTION_ALPHA

_GRID: Final = 96
_REACH: Final = 7.0
"""The grid covers so many noise scales beyond the extreme conditional means."""
_NODES: Final = {0: 0, 1: 24, 2: 13, 3: 9}
"""Quadrature nodes of an unmeasured variable by how many there are; of more, 7 each."""
_SCORES: Final = 4.8
"""They are equally spaced in the normal score of its noise, up to this."""
_CELLS: Final = 2_000_000
"""Numbers held at once."""
_DIGITS: Final = 6


@dataclass(frozen=True)
class BestPredictor:
    """What knowing ``world`` earns on rows of ``outcome``.

    ``rows`` maps every observed node, the outcome included, to its values of shape (rows,).
    """

    world: World
    outcome: str
    rows: Mapping[str, npt.NDArray[np.floating[Any]]]

    @cached_property
    def points(self) -> tuple[float, float | None]:
        """Shares of the points of a number, and of an interval (None for a binary outcome)."""
        y = np.asarray(self.rows[self.outcome], dtype=np.float64)
        means, low, high = self.predictions
        scale = 1.0 + float(y.std())
        error = math.sqrt(float(np.mean((means - y) ** 2)))
        number = round(scale / (scale + error), _DIGITS)
        if self.world.node(self.outcome).kind == "binary":
            return number, None
        outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
        width = float(np.mean(high - low + 2.0 / PREDICTION_ALPHA * outside))
        return number, round(scale / (scale + width), _DIGITS)

    @cached_property
    def predictions(self) -> tuple[Array, Array, Array]:
        """Conditional means and the ends of the central interval, each (rows,)."""
        hidden = relevant_latents(self.world, self.outcome)
        size = len(self.rows[self.outcome])
        # An unmeasured binary variable takes two values, whatever the number of nodes.
        each = [
            2 if self.world.node(name).kind == "binary" else _NODES.get(len(hidden), 7)
            for name in hidden
        ]
        step = max(1, _CELLS // (math.prod(each) * _GRID))
        parts = [
            self._posterior(slice(start, start + step), hidden, each)
            for start in range(0, size, step)
        ]
        means, low, high = (np.concatenate(column) for column in zip(*parts, strict=True))
        return means, low, high

    def _posterior(
        self, rows: slice, hidden: Sequence[str], each: Sequence[int]
    ) -> tuple[Array, Array, Array]:
        """The same for some rows. Axes: row, combination of unmeasured values, grid of y."""
        known = {
            name: np.asarray(column[rows], dtype=np.float64)[:, None, None]
            for name, column in self.rows.items()
            if name != self.outcome
        }
        grid = self._grid(known, hidden, each)
        values = {**known, self.outcome: grid}
        weight = np.ones((grid.shape[0], math.prod(each), grid.shape[2]))
        for density in self._densities(values, hidden, each):
            weight = weight * density
        total = weight.sum(axis=1)
        y = grid[:, 0, :]
        if self.world.node(self.outcome).kind == "binary":
            chance = total[:, 1] / total.sum(axis=1)
            return chance, chance, chance
        mass = total.sum(axis=1, keepdims=True)
        means = (total * y).sum(axis=1) / mass[:, 0]
        shares = (np.cumsum(total, axis=1) - 0.5 * total) / mass
        # Between grid points a quantile is nearly linear in the normal score, not in the share.
        scores = special.ndtri(np.clip(shares, 1e-12, 1.0 - 1e-12))
        end = float(special.ndtri(1.0 - PREDICTION_ALPHA / 2))
        low, high = (
            np.array([np.interp(at, row, value) for row, value in zip(scores, y, strict=True)])
            for at in (-end, end)
        )
        return means, low, high

    def _grid(
        self, known: Mapping[str, Array], hidden: Sequence[str], each: Sequence[int]
    ) -> Array:
        """Values of the outcome that can matter in each row: (rows, 1, grid)."""
        size = next((len(column) for column in known.values()), 1)
        if self.world.node(self.outcome).kind == "binary":
            return np.broadcast_to(np.array([0.0, 1.0]), (size, 1, 2))
        parents = self.world.node(self.outcome).parents
        before = [name for name in hidden if self.outcome not in self.world.ancestors((name,))]
        values = dict(known)
        for _ in self._densities(values, before, each[: len(before)]):
            pass
        mean, scale = self._moments(self.outcome, {name: values[name] for name in parents})
        shape = (size, math.prod(each[: len(before)]), 1)
        mean, scale = (np.broadcast_to(part, shape)[:, :, 0] for part in (mean, scale))
        low = (mean - _REACH * scale).min(axis=1)
        high = (mean + _REACH * scale).max(axis=1)
        return np.linspace(low, high, _GRID, axis=1)[:, None, :]

    def _densities(
        self, values: dict[str, Array], hidden: Sequence[str], each: Sequence[int]
    ) -> Iterator[Array]:
        """Gives ``hidden`` their values, then the weights of nodes and the densities of what y or
        they take part in, each to be multiplied."""
        free = {*hidden, self.outcome}
        for name in self.world.order:
            node = self.world.node(name)
            if name in hidden:
                place = list(hidden).index(name)
                yield self._spread(name, values, place, each)
            elif free.intersection((name, *node.parents)) and values.keys() >= {
                name,
                *node.parents,
            }:
                yield self._density(name, values)

    def _spread(
        self, name: str, values: dict[str, Array], place: int, each: Sequence[int]
    ) -> Array:
        """Puts the quadrature values of an unmeasured variable on its axis; their weights."""
        count = each[place]
        inner = (math.prod(each[:place]), count, math.prod(each[place + 1 :]))

        def along(column: Array) -> Array:
            return np.broadcast_to(column[None, :, None], inner).reshape(1, -1, 1)

        law = self.world.node(name).noise
        if law is None:
            values[name] = along(np.array([0.0, 1.0]))
            return self._density(name, values)
        scores = np.linspace(-_SCORES, _SCORES, count)
        noise = law.from_uniform(special.ndtr(scores))
        mean, scale = self._moments(name, values)
        values[name] = mean + scale * along(np.asarray(noise))
        return along(np.exp(-0.5 * scores * scores))

    def _moments(self, name: str, values: Mapping[str, Array]) -> tuple[Array, Array]:
        """Conditional mean and noise scale of a continuous node over all axes."""
        flat, shape = self._flat(name, values)
        mean = self.world.conditional_mean(name, flat)
        scale = self.world.noise_scale(name, flat)
        return tuple(np.broadcast_to(p, math.prod(shape)).reshape(shape) for p in (mean, scale))  # type: ignore[return-value]

    def _density(self, name: str, values: Mapping[str, Array]) -> Array:
        """Density or probability of a node's value over all axes."""
        flat, shape = self._flat(name, values, itself=True)
        density = self.world.conditional_density(name, flat[name], flat)
        return np.broadcast_to(density, math.prod(shape)).reshape(shape)

    def _flat(
        self, name: str, values: Mapping[str, Array], *, itself: bool = False
    ) -> tuple[dict[str, Array], tuple[int, ...]]:
        """The parents (and the node) as plain columns, which is what equations take."""
        names = [*self.world.node(name).parents, *([name] if itself else [])]
        if not names:
            return {}, (1, 1, 1)
        columns = np.broadcast_arrays(*(values[one] for one in names))
        flat = {one: column.ravel() for one, column in zip(names, columns, strict=True)}
        return flat, columns[0].shape


def relevant_latents(world: World, outcome: str) -> tuple[str, ...]:
    """The unmeasured nodes that share an equation with the outcome, or with one that does: given
    the observed ones, all others say nothing of it. In causal order, descendants of the outcome
    last."""
    scopes = [{node.name, *node.parents} for node in world.nodes]
    found = {outcome}
    while True:
        reached = {name for scope in scopes if scope & found for name in scope}
        more = found | (reached & world.graph.latent)
        if more == found:
            hidden = [name for name in world.order if name in found and name != outcome]
            return tuple(sorted(hidden, key=lambda name: outcome in world.ancestors((name,))))
        found = more
