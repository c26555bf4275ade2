"""Finite structural causal models, computed by running every combination of noise levels.

Nothing here knows about identification: joint distributions, interventions and nested
counterfactuals follow from the definitions (Pearl 2009, chapter 7) alone. Where an effect is
identified, its functional must return the value found here.

Where it is not, two models that agree on everything observed prove it. Their search is guided by
the verdict and proved by arithmetic: whatever pair comes out has the same P(observed) and different
effects by enumeration, whether or not the verdict was right. Finding none proves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import Effect, is_identifiable

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
LATENT_LEVELS = (2, 3, 4, 6, 8)
MAX_RUNS = 200_000
"""Noise combinations that one search may enumerate."""


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


Pair = tuple[FiniteSCM, FiniteSCM]


def random_scm(rng, graph: LatentDAG, levels: Mapping[str, int], noise_levels) -> FiniteSCM:
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


def contrast(scm: FiniteSCM, x: str, y: str, effect: Effect, x0: int, x1: int):
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
    levels = tuple(world[name] for name in scm.graph.observed_nodes)
    return np.ravel_multi_index(levels, observed_shape(scm))


def twins_differ(
    rng, graph: LatentDAG, x: str, y: str, effect: Effect, treated_levels: int
) -> bool:
    """Return whether two models were found with equal P(observed) (to 1e-12) and other effects.

    Observed variables are binary but for the treatment, latent ones have up to eight levels. The
    models ignore edges that the effect does not need to be unidentifiable: fewer observed proxies
    of a latent variable make a small one enough.
    """
    core = _prune(graph, x, y, effect, treated_levels == 2)
    for latent_levels in LATENT_LEVELS:
        levels = {v: latent_levels if v in graph.latent else 2 for v in graph.nodes}
        levels[x] = treated_levels
        for _ in range(8):
            pair = _search(rng, core, x, y, effect, levels)
            if pair is None:
                continue
            first, second = (_lift(scm, graph) for scm in pair)
            apart = np.abs(joint_distribution(first) - joint_distribution(second)).max()
            effects = [true_effect(scm, x, y, effect) for scm in (first, second)]
            if apart < 1e-12 and abs(effects[0] - effects[1]) >= 1e-4:
                return True
    return False


def _prune(g: LatentDAG, x: str, y: str, effect: Effect, binary: bool) -> LatentDAG:
    """Drop edges one by one as long as the effect stays unidentifiable."""
    for edge in g.edges:
        smaller = LatentDAG(g.nodes, tuple(e for e in g.edges if e != edge), g.latent)
        if not is_identifiable(smaller, x, y, effect, binary_treatment=binary):
            g = smaller
    return g


def _lift(scm: FiniteSCM, graph: LatentDAG) -> FiniteSCM:
    """Write the same model on the whole graph, its tables constant in the added parents."""
    tables = {}
    for name, table in scm.tables.items():
        kept = set(scm.graph.parents(name))
        parents = graph.parents(name)
        narrow = [scm.levels[p] if p in kept else 1 for p in parents]
        shape = (*(scm.levels[p] for p in parents), table.shape[-1])
        tables[name] = np.broadcast_to(table.reshape(*narrow, table.shape[-1]), shape)
    return replace(scm, graph=graph, tables=tables)


def _search(rng, graph: LatentDAG, x: str, y: str, effect: Effect, levels) -> Pair | None:
    """Try the noise of every node in turn, the outcome's first, latent nodes last. P(observed) and
    the effect are both linear in it. A direction in the null space of the first along which the
    second changes gives the pair, one step each way."""
    order = sorted(graph.nodes, key=lambda name: (name != y, name in graph.latent))
    for name in order:
        if name not in graph.ancestors((x, y)):
            continue
        configurations = int(np.prod([levels[parent] for parent in graph.parents(name)]))
        counts = {node: 3 if graph.parents(node) else levels[node] for node in graph.nodes}
        counts[name] = max(counts[name], configurations * (levels[name] - 1) + 2)
        if float(np.prod([float(count) for count in counts.values()])) > MAX_RUNS:
            continue
        pair = _step_both_ways(random_scm(rng, graph, levels, counts), name, x, y, effect)
        if pair is not None:
            return pair
    return None


def _step_both_ways(scm: FiniteSCM, name: str, x: str, y: str, effect: Effect) -> Pair | None:
    own = noise_grid(scm)[name]
    own_noise = scm.noise[name]
    width = len(own_noise)
    rest = noise_weights(scm) / own_noise[own]
    observed = np.zeros((int(np.prod(observed_shape(scm))), width))
    np.add.at(observed, (observed_cells(scm, run(scm, {})), own), rest)
    change, selected = contrast(scm, x, y, effect, 0, 1)
    gradient = np.bincount(own, weights=rest * change * selected, minlength=width)
    constraints = np.vstack([observed, np.ones((1, width))])
    _, singular, basis = np.linalg.svd(constraints, full_matrices=True)
    null = basis[int((singular > 1e-10 * singular[0]).sum()) :]
    direction = null.T @ (null @ gradient)
    size = np.abs(direction)
    if float(size.max()) < 1e-6 * max(1.0, float(np.abs(gradient).max())):
        return None
    step = 0.9 * float((own_noise / np.maximum(size, 1e-300)).min())
    moved = [own_noise + sign * step * direction for sign in (1, -1)]
    up, down = (replace(scm, noise={**scm.noise, name: own}) for own in moved)
    return up, down
