"""Not identifiable, and not for the reason that one looks for first."""

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.causal.paths import has_bow


def hedge_elsewhere(g: LatentDAG, x: str, y: str) -> bool:
    """Whether the ATE is not identifiable and no latent variable affects both ends directly."""
    return not has_bow(g, x, y) and not is_identifiable(g, x, y, "ate")
