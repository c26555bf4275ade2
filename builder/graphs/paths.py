"""Collider bias, decided by looking at paths one at a time."""

from builder.graphs.bits import members
from builder.graphs.graph import LatentDAG, endpoints


def opens_collider_bias(g: LatentDAG, x: str, y: str, z: str) -> bool:
    """Tell whether controlling for `z` opens a blocked non-causal path between `x` and `y`.

    True iff some path between the two (latent nodes included) that is not directed from `x` to `y`
    is blocked given nothing and open given {z} (Pearl 2009, def. 1.2.3). Such a path has at least
    one collider, every collider on it is an ancestor of `z` or `z`, and `z` is no other inner node.
    Closing a causal path, or part of one, is over-control and not collider bias.

    Raises ValueError when `z` is unknown, latent, or one of `x` and `y`, and for an unknown or
    latent `x` or `y`.
    """
    x_index, y_index = endpoints(g, x, y)
    z_bit = g.mask(z)
    if z in g.latent:
        raise ValueError(f"the control {z!r} is latent; it must be an observed node")
    if z in (x, y):
        raise ValueError(f"the control {z!r} is the treatment or the outcome")
    opened = g.ancestor_mask(z_bit)

    def extend(node: int, seen: int, arrived_by_arrow: bool, collided: bool) -> bool:
        """Follow every path onwards from `node` that is still open given {z}."""
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
