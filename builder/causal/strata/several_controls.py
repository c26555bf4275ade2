"""Identifiable by adjustment, and one control is never enough."""

from builder.causal.adjustment import minimal_adjustment_sets
from builder.causal.graph import LatentDAG


def several_controls(g: LatentDAG, x: str, y: str) -> bool:
    """Whether there is a valid adjustment set and every minimal one has two members or more."""
    found = minimal_adjustment_sets(g, x, y)
    return bool(found) and all(len(one) > 1 for one in found)
