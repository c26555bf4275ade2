"""The front door is open, and variables stand about that look like a way through the back."""

from builder.causal.graph import LatentDAG
from builder.causal.method import frontdoor_sets, identification_method


def front_door(g: LatentDAG, x: str, y: str) -> bool:
    """Whether the front-door criterion identifies the effect, adjustment does not, and at least
    two measured variables are in none of its sets, one of them a cause of both ends."""
    if identification_method(g, x, y) != "frontdoor":
        return False
    used = frozenset().union(*frontdoor_sets(g, x, y))
    decoys = [z for z in g.observed if z not in used and z not in (x, y)]
    confounders = [z for z in decoys if {x, y} <= g.descendants(z)]
    return len(decoys) > 1 and bool(confounders)
