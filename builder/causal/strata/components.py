"""Identifiable, but neither by adjustment nor by the front door."""

from builder.causal.graph import LatentDAG
from builder.causal.method import identification_method


def components(g: LatentDAG, x: str, y: str) -> bool:
    """Whether the ID algorithm alone identifies the effect: its c-components are needed."""
    return identification_method(g, x, y) == "other_id"
