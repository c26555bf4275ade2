"""Which effects of X on Y the observed distribution determines.

All four effects reduce to c-factors of the latent projection (Tian & Pearl 2002, *A general
identification condition for causal effects*; completeness by Shpitser & Pearl 2006 and Huang &
Valtorta 2006). The c-factor Q[S] of a set S of observed nodes is P(S | do(everything else)). The
effects differ in which districts matter and at which treatment level each of them is taken.

- ATE: the ID algorithm (Tian & Pearl 2002; Shpitser & Pearl 2006), sound and complete.
- ETT: for a binary treatment E[Y(x0)] = E[Y | x0] P(x0) + E[Y(x0) | x1] P(x1), so it is identified
  exactly when the ATE is. Otherwise P(Y(x0), X) in the node-split graph (Shpitser & Pearl 2009;
  Richardson & Robins 2013): the treatment keeps its causes and loses its effects, which follow a
  fixed x0 instead.
- NDE, NIE: the edge-specific effect of X -> Y against all other paths, identified when no district
  recants and every district factor is identified (Shpitser 2013, theorem 4).

An effect along paths that do not exist is identified as zero.
"""

from typing import Final, Literal

from builder.graphs.bits import closure, components
from builder.graphs.graph import LatentDAG, Projection, endpoints

Effect = Literal["ate", "ett", "nde", "nie"]
Obstacle = Literal["hedge", "treatment_district", "recanting_district", "latent_mediator"]
"""What keeps an effect from being identified.

- "hedge": P(F' | do(rest)) cannot be separated from a set F that bidirected edges connect, the
  treatment's side included (Shpitser & Pearl 2006, definition 6).
- "treatment_district": the treatment and one of its children share a district of the split graph,
  so the event X = x1 and the response to x0 cannot be separated.
- "recanting_district": one district holds the outcome and another child of the treatment; their
  two responses, to x1 and to x0, cannot be separated (Shpitser 2013, definition 4).
- "latent_mediator": the treatment reaches the outcome both by an edge and by a directed path whose
  inside is latent, so nothing observed tells the two apart.
"""

DEFINITIONS: Final = {
    "ate": "E[Y(x1)] - E[Y(x0)]",
    "ett": "E[Y(x1) - Y(x0) | X = x1]",
    "nde": "E[Y(x1, M(x0))] - E[Y(x0, M(x0))]",
    "nie": "E[Y(x0, M(x1))] - E[Y(x0, M(x0))]",
}
"""The four effects, M being all nodes strictly inside directed paths from X to Y."""


def is_identifiable(
    g: LatentDAG, x: str, y: str, effect: Effect, *, binary_treatment: bool = False
) -> bool:
    """Tell whether an effect (`DEFINITIONS`) is identifiable.

    With a `binary_treatment` the ETT is so exactly when the ATE is; for more levels, or a
    continuous treatment, fewer graphs qualify.
    """
    return obstacle(g, x, y, effect, binary_treatment=binary_treatment) is None


def obstacle(
    g: LatentDAG, x: str, y: str, effect: Effect, *, binary_treatment: bool = False
) -> Obstacle | None:
    """Return what blocks an effect, None where it is identifiable.

    Raises ValueError for a treatment or outcome that is unknown, latent, or the same node.
    """
    endpoints(g, x, y)
    if is_structural_zero(g, x, y, effect):
        return None
    if effect == "ate" or (effect == "ett" and binary_treatment):
        return _hedge(g, x, y, response_districts(g, x, y))
    if effect == "ett":
        return _ett_obstacle(g, x, y)
    return _natural_obstacle(g, x, y)


def is_structural_zero(g: LatentDAG, x: str, y: str, effect: Effect) -> bool:
    """Tell whether no path carries the effect."""
    x_bit, y_bit = 1 << g.index[x], 1 << g.index[y]
    if effect == "nde":
        return not g.child_masks[g.index[x]] & y_bit
    inside = g.descendant_mask(x_bit) & g.ancestor_mask(y_bit)
    if effect == "nie":
        return not inside & ~(x_bit | y_bit)
    return not inside


# --- obstacles ------------------------------------------------------------------------------


def _ett_obstacle(g: LatentDAG, x: str, y: str) -> Obstacle | None:
    projection = g.projection()
    x_index = projection.nodes.index(x)
    districts = split_districts(g, x, y)
    own = next(district for district in districts if district >> x_index & 1)
    if _children(projection, x_index) & own:
        return "treatment_district"
    return _hedge(g, x, y, districts)


def _natural_obstacle(g: LatentDAG, x: str, y: str) -> Obstacle | None:
    projection = g.projection()
    districts = response_districts(g, x, y)
    if g.child_masks[g.index[x]] >> g.index[y] & 1:
        if _latent_mediators(g, x, y):
            return "latent_mediator"
        y_bit = 1 << projection.nodes.index(y)
        own = next(district for district in districts if district & y_bit)
        if _children(projection, projection.nodes.index(x)) & own & ~y_bit:
            return "recanting_district"
    return _hedge(g, x, y, districts)


def _hedge(g: LatentDAG, x: str, y: str, districts: list[int]) -> Obstacle | None:
    projection = g.projection()
    relevant = relevant_nodes(projection, x, y)
    for target in districts:
        district = closure(target, projection.sibling_masks, relevant)
        if _blocking_district(projection, target, district):
            return "hedge"
    return None


def _blocking_district(projection: Projection, target: int, district: int) -> int:
    """Return 0 when Q[target] follows from Q[district], else the district it is stuck in.

    `target` must be connected by bidirected edges inside `district`. The answer T, when nonzero,
    forms a hedge with `target` (Shpitser & Pearl 2006, theorem 4): T has more nodes than the
    target, is connected by bidirected edges, and within it everything is an ancestor of the target.
    """
    while True:
        ancestral = closure(target, projection.parent_masks, district)
        if ancestral == target:
            return 0
        if ancestral == district:
            return district
        district = closure(target, projection.sibling_masks, ancestral)


# --- the districts an effect is made of -----------------------------------------------------


def relevant_nodes(projection: Projection, x: str, y: str) -> int:
    """Return the ancestors of the two ends: nothing else bears on any effect."""
    ends = 1 << projection.nodes.index(x) | 1 << projection.nodes.index(y)
    return closure(ends, projection.parent_masks, -1)


def response_districts(g: LatentDAG, x: str, y: str) -> list[int]:
    """Return the districts of the ancestors of `y` once `x` is removed (Tian & Pearl 2002)."""
    projection = g.projection()
    everyone_else = ~(1 << projection.nodes.index(x))
    y_bit = 1 << projection.nodes.index(y)
    response = closure(y_bit, projection.parent_masks, everyone_else)
    return components(response, projection.sibling_masks)


def split_districts(g: LatentDAG, x: str, y: str) -> list[int]:
    """Return the districts of the ancestors of {x, y} in the graph with `x` split in two."""
    projection = g.projection()
    x_bit = 1 << projection.nodes.index(x)
    ends = x_bit | 1 << projection.nodes.index(y)
    split = [parents & ~x_bit for parents in projection.parent_masks]
    return components(closure(ends, split, -1), projection.sibling_masks)


def _children(projection: Projection, x_index: int) -> int:
    return sum(
        1 << node for node, parents in enumerate(projection.parent_masks) if parents >> x_index & 1
    )


def _latent_mediators(g: LatentDAG, x: str, y: str) -> int:
    """Return the latent nodes on directed paths from `x` to `y` that hold only latent nodes."""
    hidden = ~g.observed_mask
    x_index, y_index = g.index[x], g.index[y]
    after = closure(g.child_masks[x_index] & hidden, g.child_masks, hidden)
    before = closure(g.parent_masks[y_index] & hidden, g.parent_masks, hidden)
    return after & before
