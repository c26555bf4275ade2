"""The average effect is not identifiable, a natural effect is."""

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable


def natural_kept(g: LatentDAG, x: str, y: str) -> bool:
    """Whether the NDE is identifiable and the ATE is not.

    That is so only where the treatment has no direct effect, so that the NDE is 0: where it has
    one, whatever identifies the NDE identifies the ATE, too (Shpitser 2013, theorem 4).
    """
    return is_identifiable(g, x, y, "nde") and not is_identifiable(g, x, y, "ate")
