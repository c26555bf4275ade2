"""Proof that an effect is not identifiable: two models that agree on everything observed.

The search is guided by the verdict and proved by arithmetic: whatever pair comes out has the same
P(observed) and different effects by enumeration (`finite_models`), so a pair is a
proof, whether or not the verdict that asked for it was right. Finding none proves nothing.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from finite_models import (
    FiniteSCM,
    contrast,
    joint_distribution,
    noise_grid,
    noise_weights,
    observed_cells,
    observed_shape,
    random_scm,
    run,
    true_effect,
)

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import Effect, is_identifiable

LATENT_LEVELS = (2, 3, 4, 6, 8)
MAX_RUNS = 200_000
"""Noise combinations that one search may enumerate."""


def twins_differ(
    rng: np.random.Generator,
    graph: LatentDAG,
    x: str,
    y: str,
    effect: Effect,
    treatment_levels: int,
) -> bool:
    """Return whether two models were found with equal P(observed) (to 1e-12) and other effects.

    Observed variables are binary but for the treatment, latent ones have up to eight levels. The
    models ignore edges that the effect does not need to be unidentifiable: fewer observed proxies
    of a latent variable make a small one enough.
    """
    core = _prune(graph, x, y, effect, treatment_levels == 2)
    for latent_levels in LATENT_LEVELS:
        levels = {v: latent_levels if v in graph.latent else 2 for v in graph.nodes}
        levels[x] = treatment_levels
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
    """Drop edges one by one as long as the effect stays unidentifiable: a model that ignores a
    parent is still a model of the graph."""
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
        spread = table.reshape(
            *(scm.levels[p] if p in kept else 1 for p in parents), table.shape[-1]
        )
        shape = (*(scm.levels[p] for p in parents), table.shape[-1])
        tables[name] = np.broadcast_to(spread, shape)
    return replace(scm, graph=graph, tables=tables)


def _search(
    rng: np.random.Generator,
    graph: LatentDAG,
    x: str,
    y: str,
    effect: Effect,
    levels: Mapping[str, int],
) -> tuple[FiniteSCM, FiniteSCM] | None:
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


def _step_both_ways(
    scm: FiniteSCM, name: str, x: str, y: str, effect: Effect
) -> tuple[FiniteSCM, FiniteSCM] | None:
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
    up, down = (
        replace(scm, noise={**scm.noise, name: own_noise + sign * step * direction})
        for sign in (1, -1)
    )
    return up, down
