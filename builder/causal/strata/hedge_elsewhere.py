"""Not identifiable, and not for the reason that one looks for first."""

from builder.causal.bits import members
from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable


def hedge_elsewhere(g: LatentDAG, x: str, y: str) -> bool:
    """Whether the ATE is not identifiable and no latent variable affects both ends directly."""
    ends = 1 << g.index[x] | 1 << g.index[y]
    bow = any(g.child_masks[u] & ends == ends for u in members(~g.observed_mask & _all(g)))
    return not bow and not is_identifiable(g, x, y, "ate")


def _all(g: LatentDAG) -> int:
    return (1 << len(g.nodes)) - 1
