"""Covariate adjustment, by the generalised adjustment criterion, and collider bias.

Shpitser, VanderWeele & Robins (2010) and Perković, Textor, Kalisch & Maathuis (2018, theorem 3.6):
Z is valid for (X, Y) when it holds no forbidden node (a descendant of a node on a proper causal
path, X itself excluded) and blocks every non-causal path. The second condition is d-separation in
the proper back-door graph, in which the first edges of the causal paths are removed. A valid set is
one for which sum_z P(y | x, z) P(z) is P(y | do(x)) in every model of the graph.
"""

from functools import lru_cache

from builder.graphs.bits import closure, members, subsets
from builder.graphs.graph import LatentDAG, connected_nodes, endpoints


def valid_adjustment_sets(g: LatentDAG, x: str, y: str) -> tuple[frozenset[str], ...]:
    """Return every valid adjustment set of observed nodes, smallest first, then in node order. All
    subsets are tried. Without a directed path the valid sets are those that d-separate `x` and `y`.
    Raises ValueError for an unknown or latent treatment or outcome."""
    endpoints(g, x, y)
    return tuple(frozenset(g.names(mask)) for mask in _valid_masks(g, x, y))


def adjustable(g: LatentDAG, x: str, y: str) -> bool:
    """Tell whether there is a valid adjustment set: if any usable set separates two nodes, all
    their usable ancestors do (van der Zander et al. 2014). Raises ValueError as above."""
    endpoints(g, x, y)
    usable, parents, children = _back_door(g, x, y)
    x_bit, y_bit = 1 << g.index[x], 1 << g.index[y]
    given = closure(x_bit | y_bit, parents, -1) & usable
    return not connected_nodes(x_bit, parents, children, given) & y_bit


def minimal_adjustment_sets(g: LatentDAG, x: str, y: str) -> tuple[frozenset[str], ...]:
    """Return the valid sets that contain no other valid set, smallest first, maybe of several
    sizes: `(frozenset(),)` if nothing needs adjusting, `()` if no adjustment works."""
    endpoints(g, x, y)
    minimal: list[int] = []
    for mask in _valid_masks(g, x, y):  # smaller sets come first
        if not any(kept & ~mask == 0 for kept in minimal):
            minimal.append(mask)
    return tuple(frozenset(g.names(mask)) for mask in minimal)


def forbidden_controls(g: LatentDAG, x: str, y: str) -> frozenset[str]:
    """Return the observed nodes other than `x` and `y` that appear in no valid adjustment set.
    Without any valid set these are all others: callers must tell that case apart first."""
    endpoints(g, x, y)
    usable = 0
    for mask in _valid_masks(g, x, y):
        usable |= mask
    return frozenset(g.names(g.observed_mask & ~g.mask((x, y)) & ~usable))


def opens_collider_bias(g: LatentDAG, x: str, y: str, z: str) -> bool:
    """Tell whether controlling for `z` opens a blocked non-causal path between `x` and `y`.

    True iff some path between the two (latent nodes included) that is not directed from `x` to `y`
    is blocked given nothing and open given {z} (Pearl 2009, def. 1.2.3). Closing a causal path is
    over-control and no collider bias. Raises ValueError when `x`, `y` or `z` is unknown or latent,
    or `z` is one of the others.
    """
    x_index, y_index = endpoints(g, x, y)
    z_bit = g.mask(z)
    if z in g.latent:
        raise ValueError(f"the control {z!r} is latent; it must be an observed node")
    if z in (x, y):
        raise ValueError(f"the control {z!r} is the treatment or the outcome")
    opened = g.ancestor_mask(z_bit)

    def extend(node: int, seen: int, arrived_by_arrow: bool, collided: bool) -> bool:
        """Tell whether some path onwards from `node` is open given {z} and reaches `y` past a
        collider. `seen` is the mask of the nodes on the path so far, `collided` whether one was a
        collider."""
        if node == y_index:
            return collided
        onwards = 0
        controlled = z_bit >> node & 1
        if not controlled:
            onwards |= g.child_masks[node]
        # Two arrowheads meeting make the node a collider; otherwise leaving by a parent is like
        # leaving by a child.
        if opened >> node & 1 if arrived_by_arrow else not controlled:
            onwards |= g.parent_masks[node]
        for step in members(onwards & ~seen):
            down = bool(g.child_masks[node] >> step & 1)
            meets = arrived_by_arrow and not down
            if extend(step, seen | 1 << step, down, collided or meets):
                return True
        return False

    return extend(x_index, 1 << x_index, False, False)


@lru_cache(maxsize=4096)
def _valid_masks(g: LatentDAG, x: str, y: str) -> tuple[int, ...]:
    """Return every valid adjustment set as a mask, smallest first, then in node order."""
    usable, parents, children = _back_door(g, x, y)
    x_bit, y_bit = 1 << g.index[x], 1 << g.index[y]
    valid = [
        given
        for given in subsets(usable)
        if not connected_nodes(x_bit, parents, children, given) & y_bit
    ]
    return tuple(sorted(valid, key=lambda mask: (mask.bit_count(), tuple(members(mask)))))


def _back_door(g: LatentDAG, x: str, y: str) -> tuple[int, list[int], list[int]]:
    """Return the mask of the nodes that a valid set may hold, and the parent masks and child masks,
    by node index, of the proper back-door graph."""
    x_index, y_bit = g.index[x], 1 << g.index[y]
    x_bit = 1 << x_index
    causal = g.descendant_mask(x_bit) & g.ancestor_mask(y_bit) & ~x_bit
    forbidden = g.descendant_mask(causal)
    parents, children = list(g.parent_masks), list(g.child_masks)
    children[x_index] &= ~causal
    for node in members(causal):
        parents[node] &= ~x_bit
    return g.observed_mask & ~(x_bit | y_bit | forbidden), parents, children
