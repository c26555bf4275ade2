"""Finite structural causal models, computed by running every combination of noise levels.

Nothing here knows about identification: joint distributions, interventions and nested
counterfactuals follow from the definitions (Pearl 2009, chapter 7) alone. Where an effect is
identified, its functional must return the value found here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import Effect

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FiniteSCM:
    """A structural causal model in which every variable and every noise has finitely many levels.

    `levels[v]` is the number of levels of v; `noise[v]`, shape (L_v,), the distribution of its
    independent noise; `tables[v]`, shape (levels of each parent in node order ..., L_v), the level
    of v for each combination of parent levels and noise.
    """

    graph: LatentDAG
    levels: Mapping[str, int]
    noise: Mapping[str, Array]
    tables: Mapping[str, Codes]


def random_scm(
    rng: np.random.Generator,
    graph: LatentDAG,
    levels: Mapping[str, int],
    noise_levels: Mapping[str, int] | int = 4,
) -> FiniteSCM:
    """Draw a model whose observed distribution is strictly positive: every parent combination gives
    each level of the child to at least one of its `noise_levels`, which are raised to that."""
    noise: dict[str, Array] = {}
    tables: dict[str, Codes] = {}
    for name in graph.nodes:
        own = levels[name]
        wanted = noise_levels if isinstance(noise_levels, int) else noise_levels[name]
        count = max(own, wanted)
        noise[name] = 0.2 / count + 0.8 * rng.dirichlet(np.ones(count))
        shape = tuple(levels[parent] for parent in graph.parents(name))
        every, other = np.broadcast_to(np.arange(own), (*shape, own)), (*shape, count - own)
        rows = np.concatenate([every, rng.integers(own, size=other)], axis=-1)
        tables[name] = rng.permuted(rows, axis=-1) if shape else rows
    return FiniteSCM(graph, dict(levels), noise, tables)


def joint_distribution(scm: FiniteSCM) -> Array:
    cells = observed_cells(scm, run(scm, {}))
    shape = observed_shape(scm)
    table = np.zeros(int(np.prod(shape)))
    np.add.at(table, cells, noise_weights(scm))
    return table.reshape(shape)


def true_effect(scm: FiniteSCM, x: str, y: str, effect: Effect, x0: int = 0, x1: int = 1) -> float:
    """Return an effect from its definition, levels of `y` standing for the numbers 0, 1, ..."""
    weights = noise_weights(scm)
    change, selected = contrast(scm, x, y, effect, x0, x1)
    return float(weights @ (change * selected) / (weights @ selected))


def run(scm: FiniteSCM, do: Mapping[str, Codes | int]) -> dict[str, Codes]:
    """Return every node's level in every noise combination, shape (product of L_v,), under `do`.

    A value in `do` is one level, or one per noise combination (a response from another world).
    """
    grid = noise_grid(scm)
    world: dict[str, Codes] = {}
    for name in scm.graph.topological_order():
        if name in do:
            world[name] = np.broadcast_to(np.asarray(do[name], dtype=np.int64), grid[name].shape)
        else:
            parents = tuple(world[parent] for parent in scm.graph.parents(name))
            world[name] = scm.tables[name][(*parents, grid[name])]
    return world


def contrast(
    scm: FiniteSCM, x: str, y: str, effect: Effect, x0: int, x1: int
) -> tuple[Array, Array]:
    """Return the contrast of each noise combination, and 1 where it counts (0 elsewhere)."""
    at_x0 = run(scm, {x: x0})
    everyone = np.ones(len(at_x0[y]))
    match effect:
        case "ate":
            high, selected = run(scm, {x: x1})[y], everyone
        case "ett":
            high, selected = run(scm, {x: x1})[y], (run(scm, {})[x] == x1).astype(float)
        case "nde":
            held = {m: at_x0[m] for m in scm.graph.mediators(x, y)}
            high, selected = run(scm, {x: x1, **held})[y], everyone
        case "nie":
            at_x1 = run(scm, {x: x1})
            moved = {m: at_x1[m] for m in scm.graph.mediators(x, y)}
            high, selected = run(scm, {x: x0, **moved})[y], everyone
    return (high - at_x0[y]).astype(float), selected


def noise_grid(scm: FiniteSCM) -> dict[str, Codes]:
    shape = tuple(len(scm.noise[name]) for name in scm.graph.nodes)
    return dict(zip(scm.graph.nodes, np.indices(shape).reshape(len(shape), -1), strict=True))


def noise_weights(scm: FiniteSCM) -> Array:
    weights = np.ones(())
    for name in scm.graph.nodes:
        weights = np.multiply.outer(weights, scm.noise[name])
    return weights.reshape(-1)


def observed_shape(scm: FiniteSCM) -> tuple[int, ...]:
    return tuple(scm.levels[name] for name in scm.graph.observed_nodes)


def observed_cells(scm: FiniteSCM, world: Mapping[str, Codes]) -> Codes:
    """Return the index of each noise combination's observed levels in the flattened joint."""
    cells: Codes = np.ravel_multi_index(
        tuple(world[name] for name in scm.graph.observed_nodes), observed_shape(scm)
    )
    return cells
