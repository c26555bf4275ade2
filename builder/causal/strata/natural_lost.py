"""The average effect is identifiable, the natural effects are not."""

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable


def natural_lost(g: LatentDAG, x: str, y: str) -> bool:
    """Whether the ATE is identifiable, and neither the NDE nor the NIE is, though neither is zero
    by the graph."""
    return is_identifiable(g, x, y, "ate") and not any(
        is_identifiable(g, x, y, effect) for effect in ("nde", "nie")
    )
