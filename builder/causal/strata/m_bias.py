"""The obvious covariate must be left alone."""

from builder.causal.adjustment import forbidden_controls, valid_adjustment_sets
from builder.causal.graph import LatentDAG
from builder.causal.paths import opens_collider_bias


def m_bias(g: LatentDAG, x: str, y: str) -> bool:
    """Whether some measured variable looks like a confounder and is in no valid adjustment set.

    It looks like one when `x` does not affect it and it is associated with `x`, and with `y` even
    where `x` is held; controlling for it opens a path (Greenland, Pearl & Robins 1999).
    """
    return bool(valid_adjustment_sets(g, x, y)) and any(
        opens_collider_bias(g, x, y, z) for z in tempting(g, x, y)
    )


def tempting(g: LatentDAG, x: str, y: str) -> tuple[str, ...]:
    """The variables that are in no valid set and yet precede `x` and go with both ends."""
    later = g.descendants(x)
    return tuple(
        z
        for z in g.observed
        if z in forbidden_controls(g, x, y)
        and z not in later
        and not g.d_separated(z, x)
        and not g.d_separated(z, y, x)
    )
