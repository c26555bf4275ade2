"""Identifiable by adjustment, although a cause of the treatment was never measured."""

from builder.causal.adjustment import adjustable
from builder.causal.bits import closure, members
from builder.causal.graph import LatentDAG


def hidden_cause(g: LatentDAG, x: str, y: str) -> bool:
    """Whether a latent parent of `x` reaches `y` past `x`, and still a valid set exists.

    Such a parent opens a back door that its descendants must close: adjusting for the direct
    causes of `x` is out of reach.
    """
    x_bit, y_bit = 1 << g.index[x], 1 << g.index[y]
    latent = g.parent_masks[g.index[x]] & ~g.observed_mask
    past = any(closure(1 << u, g.child_masks, ~x_bit) & y_bit for u in members(latent))
    return past and adjustable(g, x, y)
