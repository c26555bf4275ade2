"""The obvious covariate must be left alone."""

from builder.causal.adjustment import adjustable, forbidden_controls
from builder.causal.graph import LatentDAG
from builder.causal.paths import opens_collider_bias


def m_bias(g: LatentDAG, x: str, y: str) -> bool:
    """Whether some measured variable looks like a confounder and is in no valid adjustment set.

    It looks like one when `x` does not affect it and it is associated with `x`, and with `y` even
    where `x` is held; controlling for it opens a path (Greenland, Pearl & Robins 1999).
    """
    return adjustable(g, x, y) and any(opens_collider_bias(g, x, y, z) for z in tempting(g, x, y))


def tempting(g: LatentDAG, x: str, y: str) -> tuple[str, ...]:
    """The variables that are in no valid set and yet precede `x` and go with both ends."""
    later = {*g.descendants(x), y}
    near = [
        z
        for z in g.observed
        if z not in later and not g.d_separated(z, x) and not g.d_separated(z, y, x)
    ]
    # Last, because it takes a look at all sets.
    unused = forbidden_controls(g, x, y) if near else frozenset()
    return tuple(z for z in near if z in unused)
