"""Random graphs with latent nodes, for checking identification over many of them."""

import numpy as np

from builder.graphs.graph import LatentDAG


def random_query(
    rng: np.random.Generator, nodes: tuple[int, int] = (4, 8), latent: tuple[int, int] = (0, 3)
) -> tuple[LatentDAG, str, str]:
    """Draw a graph, a treatment and an outcome; `nodes` and `latent` are inclusive count ranges.

    Each pair is joined with one probability per graph, between 0.2 and 0.6. In a third of the
    graphs the latent nodes may lie anywhere, in a third they have no parents (common causes), and
    in a third no parents and exactly two children (plain bidirected edges). At least two nodes are
    observed, and the treatment comes before the outcome in the order.
    """
    size = int(rng.integers(nodes[0], nodes[1] + 1))
    hidden = min(int(rng.integers(latent[0], latent[1] + 1)), size - 2)
    names = tuple(f"V{i}" for i in range(size))
    density = rng.uniform(0.2, 0.6)
    coins = rng.random((size, size)) < density
    edges = tuple(
        (names[a], names[b]) for a in range(size) for b in range(a + 1, size) if coins[a, b]
    )
    unobserved = set(names[:hidden])
    style = rng.integers(3)
    if style == 0:
        unobserved = {names[int(i)] for i in rng.permutation(size)[:hidden]}
    else:
        edges = tuple((a, b) for a, b in edges if b not in unobserved)
    if style == 2:
        edges = tuple((a, b) for a, b in edges if a not in unobserved)
        for cause in names[:hidden]:
            pair = rng.choice(size - hidden, 2, replace=False) + hidden
            edges += tuple((cause, names[int(i)]) for i in pair)
    graph = LatentDAG(names, edges, frozenset(unobserved))
    first, second = sorted(int(i) for i in rng.choice(len(graph.observed), 2, replace=False))
    return graph, graph.observed[first], graph.observed[second]
