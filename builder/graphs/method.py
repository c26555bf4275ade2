"""Name the method that identifies an effect: the first criterion of the paper's list that holds."""

from collections.abc import Iterator
from itertools import combinations
from typing import Literal

from builder.graphs.adjustment import adjustable
from builder.graphs.bits import closure, members
from builder.graphs.graph import LatentDAG, connected_nodes, endpoints
from builder.graphs.identification import is_identifiable

Method = Literal["trivial_zero", "backdoor", "frontdoor", "other_id", "none"]


def identification_method(g: LatentDAG, x: str, y: str) -> Method:
    """Return the first label that applies to the ATE of `x` on `y` (paper, appendix A.16). They
    stand for: no directed path, a valid adjustment set, a front-door set, identified by the ID
    algorithm otherwise, not identifiable. Raises ValueError for unknown or latent ends."""
    endpoints(g, x, y)
    if y not in g.descendants(x):
        return "trivial_zero"
    if adjustable(g, x, y):
        return "backdoor"
    if any(_frontdoor(g, x, y)):
        return "frontdoor"
    return "other_id" if is_identifiable(g, x, y, "ate") else "none"


def frontdoor_sets(g: LatentDAG, x: str, y: str) -> tuple[frozenset[str], ...]:
    """Return the observed sets that satisfy the front-door criterion, smallest first.

    Pearl (2009), definition 3.3.3: the set meets every directed path from `x` to `y`, no back-door
    path from `x` to it is open, and `x` blocks every back-door path from it to `y`. No covariates
    are added. Empty when `x` is no cause of `y`. Raises ValueError for an unknown or latent
    treatment or outcome.
    """
    return tuple(frozenset(g.names(mask)) for mask in _frontdoor(g, x, y))


def _frontdoor(g: LatentDAG, x: str, y: str) -> Iterator[int]:
    """Yield the observed non-empty front-door sets as masks, smallest first."""
    x_index, y_index = endpoints(g, x, y)
    x_bit, y_bit = 1 << x_index, 1 << y_index
    if not g.descendant_mask(x_bit) & y_bit:
        return
    behind = _backdoor_reach(g, x_bit, 0)
    candidates = list(members(g.observed_mask & ~(x_bit | y_bit | behind)))
    for size in range(1, len(candidates) + 1):
        for chosen in combinations(candidates, size):
            mask = sum(1 << node for node in chosen)
            intercepted = not closure(x_bit, g.child_masks, ~mask) & y_bit
            if intercepted and not _backdoor_reach(g, mask, x_bit) & y_bit:
                yield mask


def _backdoor_reach(g: LatentDAG, source: int, given: int) -> int:
    """Return what open paths given `given` join to `source` without its outgoing edges (masks)."""
    parents = [mask & ~source for mask in g.parent_masks]
    children = [0 if source >> node & 1 else mask for node, mask in enumerate(g.child_masks)]
    return connected_nodes(source, parents, children, given)
