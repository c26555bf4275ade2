"""Which effects of X on Y the observed distribution determines, and by which method.

All four effects reduce to c-factors of the latent projection (Tian & Pearl 2002; completeness by
Shpitser & Pearl 2006 and Huang & Valtorta 2006). The c-factor Q[S] of a set S of observed nodes is
P(S | do(everything else)).

- ATE: the ID algorithm (Tian & Pearl 2002; Shpitser & Pearl 2006), sound and complete.
- ETT: for a binary treatment E[Y(x0)] = E[Y | x0] P(x0) + E[Y(x0) | x1] P(x1), so it is identified
  exactly when the ATE is. Otherwise P(Y(x0), X) in the node-split graph (Shpitser & Pearl 2009;
  Richardson & Robins 2013): the treatment keeps its causes and loses its effects, which follow a
  fixed x0 instead.
- NDE, NIE: the edge-specific effect of X -> Y against all other paths, identified when no district
  recants and every district factor is identified (Shpitser 2013, theorem 4).

An effect along paths that do not exist is identified as zero.

Covariate adjustment follows the generalised adjustment criterion (Shpitser, VanderWeele & Robins
2010; Perković, Textor, Kalisch & Maathuis 2018, theorem 3.6): Z is valid for (X, Y) when it holds
no forbidden node (a descendant of a node on a proper causal path, X itself excluded) and blocks
every non-causal path: d-separates X and Y in the proper back-door graph, in which the first edges
of the causal paths are removed.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Literal

from builder.graphs.graph import (
    LatentDAG,
    Projection,
    closure,
    components,
    connected_nodes,
    endpoints,
    members,
    subsets,
)

Effect = Literal["ate", "ett", "nde", "nie"]
Method = Literal["trivial_zero", "backdoor", "frontdoor", "other_id", "none"]


def is_identifiable(
    g: LatentDAG, x: str, y: str, effect: Effect, *, binary_treatment: bool = False
) -> bool:
    """Tell whether an effect of `x` on `y` is identifiable from the observed distribution.
    Structural zeros are. With a `binary_treatment` the ETT is so exactly when the ATE is, otherwise
    in fewer graphs. Raises ValueError for unknown, latent or equal ends."""
    endpoints(g, x, y)
    if is_structural_zero(g, x, y, effect):
        return True
    if effect == "ate" or (effect == "ett" and binary_treatment):
        return not _has_hedge(g, x, y, response_districts(g, x, y))
    if effect == "ett":
        return _is_ett_identifiable(g, x, y)
    return _is_natural_identifiable(g, x, y)


def is_structural_zero(g: LatentDAG, x: str, y: str, effect: Effect) -> bool:
    """Tell whether the graph makes the effect zero, as no directed path carries it. The NDE needs
    the edge from `x` to `y`, the NIE a path of two edges or more, the others any path."""
    if effect == "nde":
        return x not in g.parents(y)
    if effect == "nie":
        return not g.mediators(x, y)
    return y not in g.descendants(x)


def _is_ett_identifiable(g: LatentDAG, x: str, y: str) -> bool:
    """Tell whether a non-binary treatment's ETT, not zero by the graph, is identifiable."""
    projection = g.projection()
    x_index = projection.nodes.index(x)
    districts = split_districts(g, x, y)
    own = next(district for district in districts if district >> x_index & 1)
    # The event X = x1 and a child's response to x0 cannot be separated in one district.
    return not _children(projection, x_index) & own and not _has_hedge(g, x, y, districts)


def _is_natural_identifiable(g: LatentDAG, x: str, y: str) -> bool:
    """Tell whether a natural effect that is not zero is identifiable (Shpitser 2013, thm 4)."""
    projection = g.projection()
    districts = response_districts(g, x, y)
    if g.child_masks[g.index[x]] >> g.index[y] & 1:
        hidden = ~g.observed_mask
        after_x = closure(g.child_masks[g.index[x]] & hidden, g.child_masks, hidden)
        if after_x & g.parent_masks[g.index[y]]:
            # Nothing observed tells the route through latent nodes alone from the edge.
            return False
        y_bit = 1 << projection.nodes.index(y)
        own = next(district for district in districts if district & y_bit)
        # A recanting district: the outcome responds to x1, another child in it to x0.
        if _children(projection, projection.nodes.index(x)) & own & ~y_bit:
            return False
    return not _has_hedge(g, x, y, districts)


def _has_hedge(g: LatentDAG, x: str, y: str, districts: list[int]) -> bool:
    """Tell whether some of these districts cannot be separated from a larger one that bidirected
    edges connect (Shpitser & Pearl 2006, definition 6), so that the effect is not identifiable."""
    projection = g.projection()
    relevant = relevant_nodes(projection, x, y)
    return any(
        _is_stuck(projection, target, closure(target, projection.sibling_masks, relevant))
        for target in districts
    )


def _is_stuck(projection: Projection, target: int, district: int) -> bool:
    """Tell whether Q[target] does not follow from Q[district], which must connect it by siblings.
    Where it is stuck, the last district forms a hedge with it (Shpitser & Pearl 2006, theorem 4):
    larger, connected by bidirected edges, everything in it an ancestor of the target."""
    while True:
        ancestral = closure(target, projection.parent_masks, district)
        if ancestral in (target, district):
            return ancestral != target
        district = closure(target, projection.sibling_masks, ancestral)


def relevant_nodes(projection: Projection, x: str, y: str) -> int:
    """Return the mask of `x`, `y` and their ancestors: nothing else bears on any effect."""
    ends = 1 << projection.nodes.index(x) | 1 << projection.nodes.index(y)
    return closure(ends, projection.parent_masks, -1)


def response_districts(g: LatentDAG, x: str, y: str) -> list[int]:
    """Return the districts of `y` and its ancestors, as masks, without `x` (Tian & Pearl 2002)."""
    projection = g.projection()
    everyone_else, y_bit = ~(1 << projection.nodes.index(x)), 1 << projection.nodes.index(y)
    response = closure(y_bit, projection.parent_masks, everyone_else)
    return components(response, projection.sibling_masks)


def split_districts(g: LatentDAG, x: str, y: str) -> list[int]:
    """Return the masks of the districts of the ancestors of {x, y}, both included, in the
    projection with `x` split in two: it keeps its parents and loses its children."""
    projection = g.projection()
    x_bit = 1 << projection.nodes.index(x)
    ends = x_bit | 1 << projection.nodes.index(y)
    split = [parents & ~x_bit for parents in projection.parent_masks]
    return components(closure(ends, split, -1), projection.sibling_masks)


def _children(projection: Projection, x_index: int) -> int:
    return sum(
        1 << node for node, parents in enumerate(projection.parent_masks) if parents >> x_index & 1
    )


def identification_method(g: LatentDAG, x: str, y: str) -> Method:
    """Return the first label that applies to the ATE of `x` on `y` (paper, appendix A.16); for
    "other_id" only the ID algorithm works. Raises ValueError for unknown or latent ends."""
    endpoints(g, x, y)
    if y not in g.descendants(x):
        return "trivial_zero"
    if adjustable(g, x, y):
        return "backdoor"
    if any(frontdoor_sets(g, x, y)):
        return "frontdoor"
    return "other_id" if is_identifiable(g, x, y, "ate") else "none"


def frontdoor_sets(g: LatentDAG, x: str, y: str) -> Iterator[frozenset[str]]:
    """Yield the observed non-empty sets that meet the front-door criterion (Pearl 2009, def.
    3.3.3), smallest first, without added covariates. None when `x` is no cause of `y`. Raises
    ValueError for an unknown or latent treatment or outcome."""
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
                yield frozenset(g.names(mask))


def _backdoor_reach(g: LatentDAG, source: int, given: int) -> int:
    """Return what open paths given `given` join to `source` without its outgoing edges (masks)."""
    parents = [mask & ~source for mask in g.parent_masks]
    children = [0 if source >> node & 1 else mask for node, mask in enumerate(g.child_masks)]
    return connected_nodes(source, parents, children, given)


def valid_adjustment_sets(g: LatentDAG, x: str, y: str) -> tuple[frozenset[str], ...]:
    """Return every valid adjustment set of observed nodes, smallest first, then in node order. All
    subsets are tried. Without a directed path the valid sets are those that d-separate `x` and `y`.
    Raises ValueError for an unknown or latent treatment or outcome."""
    endpoints(g, x, y)
    return tuple(frozenset(g.names(mask)) for mask in _valid_masks(g, x, y))


def adjustable(g: LatentDAG, x: str, y: str) -> bool:
    """Tell whether there is a valid adjustment set: if any usable set separates two nodes, all
    their usable ancestors do (van der Zander et al. 2014). Raises ValueError as above."""
    endpoints(g, x, y)
    usable, parents, children = _back_door(g, x, y)
    x_bit, y_bit = 1 << g.index[x], 1 << g.index[y]
    given = closure(x_bit | y_bit, parents, -1) & usable
    return not connected_nodes(x_bit, parents, children, given) & y_bit


def minimal_adjustment_sets(g: LatentDAG, x: str, y: str) -> tuple[frozenset[str], ...]:
    """Return the valid sets that contain no other valid set, smallest first, maybe of several
    sizes: `(frozenset(),)` if nothing needs adjusting, `()` if no adjustment works."""
    minimal: list[frozenset[str]] = []
    for valid in valid_adjustment_sets(g, x, y):  # smaller sets come first
        if not any(kept <= valid for kept in minimal):
            minimal.append(valid)
    return tuple(minimal)


def forbidden_controls(g: LatentDAG, x: str, y: str) -> frozenset[str]:
    """Return the observed nodes other than `x` and `y` that appear in no valid adjustment set.
    Without any valid set these are all others: callers must tell that case apart first."""
    usable = frozenset[str]().union(*valid_adjustment_sets(g, x, y))
    return frozenset(g.observed_nodes) - {x, y} - usable


def opens_collider_bias(g: LatentDAG, x: str, y: str, z: str) -> bool:
    """Tell whether some path between `x` and `y` (latent nodes included) that is not directed from
    `x` to `y` is blocked given nothing and open given {z} (Pearl 2009, def. 1.2.3). Closing a
    causal path is over-control and no collider bias. Raises ValueError when `x`, `y` or `z` is
    unknown or latent, or `z` is one of the others."""
    x_index, y_index = endpoints(g, x, y)
    z_bit = g.mask(z)
    if z in g.latent:
        raise ValueError(f"the control {z!r} is latent; it must be an observed node")
    if z in (x, y):
        raise ValueError(f"the control {z!r} is the treatment or the outcome")
    opened = g.ancestor_mask(z_bit)

    def extend(node: int, seen: int, arrived_by_arrow: bool, collided: bool) -> bool:
        """Tell whether some path onwards from `node` is open given {z} and reaches `y` past a
        collider. `seen` is the mask of the path so far, `collided` whether it had a collider."""
        if node == y_index:
            return collided
        onwards = 0
        controlled = z_bit >> node & 1
        if not controlled:
            onwards |= g.child_masks[node]
        # Two arrowheads meeting make the node a collider; otherwise leaving by a parent is like
        # leaving by a child.
        if opened >> node & 1 if arrived_by_arrow else not controlled:
            onwards |= g.parent_masks[node]
        for step in members(onwards & ~seen):
            down = bool(g.child_masks[node] >> step & 1)
            meets = arrived_by_arrow and not down
            if extend(step, seen | 1 << step, down, collided or meets):
                return True
        return False

    return extend(x_index, 1 << x_index, False, False)


@lru_cache(maxsize=4096)
def _valid_masks(g: LatentDAG, x: str, y: str) -> tuple[int, ...]:
    """Return every valid adjustment set as a mask, smallest first, then in node order."""
    usable, parents, children = _back_door(g, x, y)
    x_bit, y_bit = 1 << g.index[x], 1 << g.index[y]
    valid = [
        given
        for given in subsets(usable)
        if not connected_nodes(x_bit, parents, children, given) & y_bit
    ]
    return tuple(sorted(valid, key=lambda mask: (mask.bit_count(), tuple(members(mask)))))


def _back_door(g: LatentDAG, x: str, y: str) -> tuple[int, list[int], list[int]]:
    """Return the mask of the nodes that a valid set may hold, and the parent masks and child masks,
    by node index, of the proper back-door graph."""
    x_index, y_bit = g.index[x], 1 << g.index[y]
    x_bit = 1 << x_index
    causal = g.descendant_mask(x_bit) & g.ancestor_mask(y_bit) & ~x_bit
    forbidden = g.descendant_mask(causal)
    parents, children = list(g.parent_masks), list(g.child_masks)
    children[x_index] &= ~causal
    for node in members(causal):
        parents[node] &= ~x_bit
    return g.observed_mask & ~(x_bit | y_bit | forbidden), parents, children
