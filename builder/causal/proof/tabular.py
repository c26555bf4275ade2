"""Discrete models by their conditional tables, for graphs too large to run every noise level.

Joint distributions and effects are sums of products of tables, over all nodes at once: truncated
factorisations (Pearl 2009, equation 3.10). That suffices for every effect of
`builder.causal.proof.estimand` whose crossed world differs from a plain one in the outcome's own
equation alone, which is the case for all four.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.causal.graph import LatentDAG
from builder.causal.proof.estimand import Effect

Array = NDArray[np.float64]
_LETTERS = 40
"""Nodes at most: every cell of their joint distribution is held at once."""


@dataclass(frozen=True, slots=True)
class TabularModel:
    """`tables[v]` has the shape (levels of each parent in node order ..., levels of v); all entries
    are positive."""

    graph: LatentDAG
    levels: Mapping[str, int]
    tables: Mapping[str, Array]


def random_tables(
    rng: np.random.Generator, graph: LatentDAG, levels: Mapping[str, int]
) -> TabularModel:
    """Draw every conditional distribution, entries well away from 0."""
    tables = {}
    for name in graph.nodes:
        shape = tuple(levels[parent] for parent in graph.parents(name))
        drawn = rng.dirichlet(np.ones(levels[name]), size=shape)
        tables[name] = 0.1 / levels[name] + 0.9 * drawn
    return TabularModel(graph, dict(levels), tables)


def observed_joint(model: TabularModel) -> Array:
    """P(observed), one axis per observed node in node order."""
    whole = _product(model, {}, {})
    hidden = tuple(i for i, v in enumerate(model.graph.nodes) if v in model.graph.latent)
    return np.asarray(whole.sum(axis=hidden))


def effect(model: TabularModel, x: str, y: str, which: Effect, x0: int = 0, x1: int = 1) -> float:
    """An effect from its definition, levels of `y` standing for the numbers 0, 1, ..."""
    match which:
        case "ate":
            return _mean(model, y, {x: x1}, x1) - _mean(model, y, {x: x0}, x0)
        case "nde":
            return _mean(model, y, {x: x0}, x1) - _mean(model, y, {x: x0}, x0)
        case "nie":
            return _mean(model, y, {x: x1}, x0) - _mean(model, y, {x: x0}, x0)
        case "ett":
            own = _product(model, {x: x0}, {}, keep=x)[_level(model, x, x1)]
            seen = _product(model, {}, {})[_level(model, x, x1)]
            place = model.graph.nodes.index(y) - (model.graph.nodes.index(y) > _axis(model, x))
            return _expected(seen, place) - _expected(own, place)


def _mean(model: TabularModel, y: str, behind: Mapping[str, int], level: int) -> float:
    """E[Y] with everything but Y's own equation under do(`behind`), and X at `level` for Y."""
    (x,) = behind
    whole = _product(model, behind, {y: {x: level}})
    return _expected(whole, model.graph.nodes.index(y))


def _expected(table: Array, axis: int) -> float:
    others = tuple(i for i in range(table.ndim) if i != axis)
    chances = table.sum(axis=others)
    return float(np.dot(chances, np.arange(len(chances))) / chances.sum())


def _axis(model: TabularModel, x: str) -> int:
    return model.graph.nodes.index(x)


def _level(model: TabularModel, x: str, level: int) -> tuple[slice | int, ...]:
    return tuple(level if node == x else slice(None) for node in model.graph.nodes)


def _product(
    model: TabularModel,
    do: Mapping[str, int],
    instead: Mapping[str, Mapping[str, int]],
    keep: str | None = None,
) -> Array:
    """The product of all tables, an axis for each node: tables read nodes in `do` at their value,
    those in `instead` at that one; the table of a node in `do` is left out, but for `keep`."""
    nodes = model.graph.nodes
    assert len(nodes) <= _LETTERS
    whole = np.ones((1,) * len(nodes))
    for name in nodes:
        shape = [1] * len(nodes)
        table, parents = model.tables[name], model.graph.parents(name)
        fixed = {**do, **instead.get(name, {})}
        if name in do and name != keep:
            whole = whole * np.ones(shape)
            continue
        place = tuple(fixed.get(parent, slice(None)) for parent in parents)
        left = [parent for parent in parents if parent not in fixed]
        order = sorted([*left, name], key=nodes.index)
        moved = np.moveaxis(
            table[place], range(len(left) + 1), [order.index(v) for v in [*left, name]]
        )
        for node in order:
            shape[nodes.index(node)] = model.levels[node]
        whole = whole * moved.reshape(shape)
    return whole
