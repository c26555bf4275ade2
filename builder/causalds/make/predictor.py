"""The best predictor of a scene's outcome: one that knows its world (and what it then earns).

It knows every equation and the values of all observed variables but the outcome, not the noise:
what it says of a row is the conditional distribution of the outcome given that row. With y the
outcome and u the unmeasured variables that matter, the density of y is the integral over u of the
product of the equations' densities in which y or u takes part (a Bayesian network's posterior).
Both are integrated over grids: unmeasured variables over the normal score of their noise.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import special

from builder.causalds.make.quadrature import quadrature
from builder.scm.equation import Array
from builder.scm.world import World
from grader.tracks.causalds.shapes import PREDICTION_ALPHA

_GRID: Final = 96
_REACH: Final = 7.0
"""The grid covers so many noise scales beyond the extreme conditional means."""
_NODES: Final = (24, 13, 9)
"""Quadrature nodes of every unmeasured variable: as many as ``_ROW`` allows, or the last."""
_ROW: Final = 20_000
"""Numbers that a row may take."""
_CELLS: Final = 100_000
"""Numbers held at once: what stays in a processor's cache."""
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the unmeasured variables that matter are integrated out: nodes of each with what they
    count, in the order of their axes; these axes in the order of summing; the most numbers at once
    for a row."""

    nodes: Mapping[str, tuple[Array, Array]]
    order: Sequence[int]
    cells: int


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
        size, plan = len(self.rows[self.outcome]), self._plan
        step = max(1, _CELLS // plan.cells)
        parts = [
            self._posterior(slice(start, start + step), plan) for start in range(0, size, step)
        ]
        means, low, high = (np.concatenate(column) for column in zip(*parts, strict=True))
        return means, low, high

    @cached_property
    def _plan(self) -> _Plan:
        """The finest quadrature that a row may take."""
        hidden = relevant_latents(self.world, self.outcome)
        scopes = _scopes(self.world, hidden, self.outcome)
        ends = 2 if self.world.node(self.outcome).kind == "binary" else _GRID
        for nodes in _NODES:
            placed = {name: self._nodes(name, nodes) for name in hidden}
            sizes = {name: len(values) for name, (values, _) in placed.items()}
            order, cells = _elimination(scopes, {**sizes, self.outcome: ends}, hidden)
            if cells <= _ROW:
                break
        return _Plan(placed, [hidden.index(name) + 1 for name in order], cells)

    def _nodes(self, name: str, count: int) -> tuple[Array, Array]:
        """Where an unmeasured variable is looked at: standardised noise and its weights, or the two
        values that a binary one takes."""
        law = self.world.node(name).noise
        if law is None:
            return np.array([0.0, 1.0]), np.ones(2)
        scores, weights = quadrature(self.world, name, count)
        return law.from_uniform(special.ndtr(scores)), weights

    def _posterior(self, rows: slice, plan: _Plan) -> tuple[Array, Array, Array]:
        """The same for some rows. Axes: row, one for every unmeasured variable, grid of y."""
        inner = (1,) * (len(plan.nodes) + 1)
        known = {
            name: np.asarray(column[rows], dtype=np.float64).reshape(-1, *inner)
            for name, column in self.rows.items()
            if name != self.outcome
        }
        grid = self._grid(known, plan)
        factors = list(self._densities({**known, self.outcome: grid}, plan))
        y = grid.reshape(len(grid), -1)
        total = np.broadcast_to(_integrated(factors, plan.order), y.shape)
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

    def _grid(self, known: Mapping[str, Array], plan: _Plan) -> Array:
        """Values of the outcome that can matter in each row: (rows, 1, ..., grid)."""
        size = len(next(iter(known.values())))
        inner = (1,) * len(plan.nodes)
        if self.world.node(self.outcome).kind == "binary":
            return np.broadcast_to(np.array([0.0, 1.0]), (size, *inner, 2))
        values = dict(known)
        for name in plan.nodes:
            if self.outcome not in self.world.ancestors((name,)):
                self._spread(name, values, plan)
        mean, scale = self._moments(self.outcome, values)
        low, high = (mean - _REACH * scale), (mean + _REACH * scale)
        ends = (low.reshape(len(low), -1).min(axis=1), high.reshape(len(high), -1).max(axis=1))
        first, last = (np.broadcast_to(end, size) for end in ends)
        points = np.linspace(first, last, _GRID, axis=1)
        return points.reshape(size, *inner, _GRID)

    def _densities(self, values: dict[str, Array], plan: _Plan) -> Iterator[Array]:
        """Gives the unmeasured their values, then the weights of nodes and the densities of what
        y or they take part in, each over the axes that it depends on and to be multiplied."""
        free = {*plan.nodes, self.outcome}
        for name in self.world.order:
            if name in plan.nodes:
                yield self._spread(name, values, plan)
            elif free.intersection((name, *self.world.node(name).parents)):
                yield self._density(name, values)

    def _spread(self, name: str, values: dict[str, Array], plan: _Plan) -> Array:
        """Puts the quadrature values of an unmeasured variable on its axis; their weights."""
        noise, weights = plan.nodes[name]
        axis = [noise.size if one == name else 1 for one in plan.nodes]
        if self.world.node(name).noise is None:
            values[name] = noise.reshape(1, *axis, 1)
            return self._density(name, values)
        mean, scale = self._moments(name, values)
        values[name] = mean + scale * noise.reshape(1, *axis, 1)
        return weights.reshape(1, *axis, 1)

    def _density(self, name: str, values: Mapping[str, Array]) -> Array:
        """Density or probability of a node's value, over the axes of it and of its parents."""
        law = self.world.node(name).noise
        if law is None:
            chance = self._over(self.world.conditional_mean, name, values)
            return np.where(values[name] == 1.0, chance, 1.0 - chance)
        mean, scale = self._moments(name, values)
        return law.density((values[name] - mean) / scale) / scale

    def _moments(self, name: str, values: Mapping[str, Array]) -> tuple[Array, Array]:
        """Conditional mean and noise scale of a continuous node, over the axes of its parents."""
        equations = self.world.conditional_mean, self.world.noise_scale
        mean, scale = (self._over(equation, name, values) for equation in equations)
        return mean, scale

    def _over(
        self,
        equation: Callable[[str, Mapping[str, Array]], Array],
        name: str,
        values: Mapping[str, Array],
    ) -> Array:
        """``equation`` of a node over the axes of its parents alone, which it takes as columns: a
        network is not run again for every value of the node itself."""
        parents = self.world.node(name).parents
        columns = np.broadcast_arrays(*(values[parent] for parent in parents))
        shape = columns[0].shape if columns else (1,) * next(iter(values.values())).ndim
        flat = {one: column.ravel() for one, column in zip(parents, columns, strict=True)}
        return np.broadcast_to(equation(name, flat), math.prod(shape)).reshape(shape)


def _integrated(factors: Sequence[Array], order: Sequence[int]) -> Array:
    """The product of ``factors`` summed over the axes in ``order``, all but the first and the last;
    a factor has size 1 along an axis on which it does not depend. (rows, grid), either may be 1."""
    left = list(factors)
    for axis in order:
        along = sorted((one for one in left if one.shape[axis] > 1), key=lambda one: one.size)
        summed = reduce(np.multiply, along).sum(axis=axis, keepdims=True)
        left = [*(one for one in left if one.shape[axis] == 1), summed]
    total = reduce(np.multiply, left)
    return total.reshape(len(total), -1)


def _elimination(
    scopes: Sequence[frozenset[str]], sizes: Mapping[str, int], hidden: Sequence[str]
) -> tuple[list[str], int]:
    """An order in which to sum over ``hidden`` (variable elimination: what makes the smallest
    product goes first), and the most numbers that one product has."""
    left, most = list(scopes), 1
    order: list[str] = []

    def product(name: str) -> frozenset[str]:
        return frozenset().union(*(scope for scope in left if name in scope))

    def cells(name: str) -> int:
        return math.prod(sizes[one] for one in product(name))

    while len(order) < len(hidden):
        name = min((one for one in hidden if one not in order), key=cells)
        most = max(most, cells(name))
        left = [*(scope for scope in left if name not in scope), product(name) - {name}]
        order.append(name)
    return order, max(most, *(math.prod(sizes[one] for one in scope) for scope in left))


def _scopes(world: World, hidden: Sequence[str], outcome: str) -> list[frozenset[str]]:
    """What each equation depends on, of ``hidden`` and the outcome, where the row is known."""
    axes: dict[str, frozenset[str]] = {}
    scopes = []
    for name in world.order:
        above = frozenset().union(*(axes[parent] for parent in world.node(name).parents))
        scope = above | {name} if name in hidden or name == outcome else above
        scopes.append(scope)
        axes[name] = scope if name in hidden else scope & {name}
    return scopes


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
