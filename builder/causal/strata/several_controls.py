"""Identifiable by adjustment, and one control is never enough."""

from builder.causal.adjustment import adjustable, one_is_enough
from builder.causal.graph import LatentDAG


def several_controls(g: LatentDAG, x: str, y: str) -> bool:
    """Whether there is a valid adjustment set and every minimal one has two members or more."""
    return adjustable(g, x, y) and not one_is_enough(g, x, y)
