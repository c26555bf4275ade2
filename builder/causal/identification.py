"""Which effects of X on Y the observed distribution determines, and by which functional.

All four effects reduce to c-factors of the latent projection (`builder.causal.cfactor`); what
differs is which districts matter and at which treatment level each of them is taken.

- ATE: the ID algorithm (Tian & Pearl 2002; Shpitser & Pearl 2006), sound and complete.
- ETT: for a binary treatment E[Y(x0)] = E[Y | x0] P(x0) + E[Y(x0) | x1] P(x1), so it is identified
  exactly when the ATE is. Otherwise P(Y(x0), X) in the node-split graph (Shpitser & Pearl 2009;
  Richardson & Robins 2013): the treatment keeps its causes and loses its effects, which follow a
  fixed x0 instead.
- NDE, NIE: the edge-specific effect of X -> Y against all other paths, identified when no district
  recants and every district factor is identified (Shpitser 2013, theorem 4).

An effect along paths that do not exist is identified as zero.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from builder.causal.bits import closure, components
from builder.causal.cfactor import blocking_district, identify_factor
from builder.causal.graph import LatentDAG, Projection, endpoints
from builder.causal.proof.estimand import DEFINITIONS, Effect, Estimand, Hedge, Obstacle
from builder.causal.proof.expression import (
    Expression,
    Fixed,
    Level,
    Probability,
    Ratio,
    product,
    total,
)


def identify(
    g: LatentDAG, x: str, y: str, estimand: Effect, *, binary_treatment: bool = False
) -> Estimand | Hedge:
    """Return the functional that gives an effect of `x` on `y`, or what blocks it.

    `estimand` is "ate", "ett", "nde" or "nie" (`DEFINITIONS` in `builder.causal.proof.estimand`);
    `binary_treatment` matters for "ett" alone. Raises ValueError for an unknown effect and for a
    treatment or outcome that is unknown, latent, or the same node.
    """
    if estimand not in DEFINITIONS:
        raise ValueError(f"unknown effect {estimand!r}; choose from {', '.join(DEFINITIONS)}")
    endpoints(g, x, y)
    return _identify(g, x, y, estimand, binary_treatment and estimand == "ett")


def is_identifiable(
    g: LatentDAG, x: str, y: str, effect: Effect, *, binary_treatment: bool = False
) -> bool:
    """Tell whether an effect (`DEFINITIONS`) is identifiable, without building the functional.

    With a `binary_treatment` the ETT is so exactly when the ATE is; for more levels, or a
    continuous treatment, fewer graphs qualify.
    """
    endpoints(g, x, y)
    if _structurally_zero(g, x, y, effect):
        return True
    if effect == "ett" and binary_treatment:
        effect = "ate"
    return _OBSTACLES[effect](g, x, y) is None


def _structurally_zero(g: LatentDAG, x: str, y: str, effect: Effect) -> bool:
    x_bit, y_bit = 1 << g.index[x], 1 << g.index[y]
    if effect == "nde":
        return not g.child_masks[g.index[x]] & y_bit
    inside = g.descendant_mask(x_bit) & g.ancestor_mask(y_bit)
    if effect == "nie":
        return not inside & ~(x_bit | y_bit)
    return not inside


# --- obstacles: None, or what blocks the effect ---------------------------------------------


def _ate_obstacle(g: LatentDAG, x: str, y: str) -> Hedge | None:
    return _factor_obstacle(g, x, y, "ate", _response_districts(g, x, y))


def _ett_obstacle(g: LatentDAG, x: str, y: str) -> Hedge | None:
    projection = g.projection()
    x_index = projection.nodes.index(x)
    districts = _split_districts(g, x, y)
    own = next(district for district in districts if district >> x_index & 1)
    children = _children(projection, x_index) & own
    if children:
        return _hedge(g, x, y, "ett", "treatment_district", own, children)
    return _factor_obstacle(g, x, y, "ett", districts)


def _natural_obstacle(g: LatentDAG, x: str, y: str, effect: Effect) -> Hedge | None:
    projection = g.projection()
    districts = _response_districts(g, x, y)
    if g.child_masks[g.index[x]] >> g.index[y] & 1:
        silent = _latent_mediators(g, x, y)
        if silent:
            return Hedge(effect, x, y, "latent_mediator", (x, y), g.names(silent), ())
        y_bit = 1 << projection.nodes.index(y)
        own = next(district for district in districts if district & y_bit)
        children = _children(projection, projection.nodes.index(x)) & own
        if children & ~y_bit:
            return _hedge(g, x, y, effect, "recanting_district", own, children)
    return _factor_obstacle(g, x, y, effect, districts)


_OBSTACLES: dict[Effect, Callable[[LatentDAG, str, str], Hedge | None]] = {
    "ate": _ate_obstacle,
    "ett": _ett_obstacle,
    "nde": lambda g, x, y: _natural_obstacle(g, x, y, "nde"),
    "nie": lambda g, x, y: _natural_obstacle(g, x, y, "nie"),
}


def _factor_obstacle(
    g: LatentDAG, x: str, y: str, effect: Effect, districts: list[int]
) -> Hedge | None:
    projection = g.projection()
    relevant = _relevant(projection, x, y)
    for target in districts:
        district = closure(target, projection.sibling_masks, relevant)
        stuck = blocking_district(projection, target, district)
        if stuck:
            return _hedge(g, x, y, effect, "hedge", stuck, target)
    return None


def _hedge(
    g: LatentDAG, x: str, y: str, effect: Effect, obstacle: Obstacle, outer: int, inner: int
) -> Hedge:
    projection = g.projection()
    names = projection.names(outer)
    inside = tuple((a, b) for a, b in projection.bidirected if a in names and b in names)
    return Hedge(effect, x, y, obstacle, names, projection.names(inner), inside)


# --- the districts an effect is made of -----------------------------------------------------


def _relevant(projection: Projection, x: str, y: str) -> int:
    """Return the ancestors of the two ends: nothing else bears on any effect."""
    ends = 1 << projection.nodes.index(x) | 1 << projection.nodes.index(y)
    return closure(ends, projection.parent_masks, -1)


def _response_districts(g: LatentDAG, x: str, y: str) -> list[int]:
    """Return the districts of the ancestors of `y` once `x` is removed (Tian & Pearl 2002)."""
    projection = g.projection()
    everyone_else = ~(1 << projection.nodes.index(x))
    y_bit = 1 << projection.nodes.index(y)
    response = closure(y_bit, projection.parent_masks, everyone_else)
    return components(response, projection.sibling_masks)


def _split_districts(g: LatentDAG, x: str, y: str) -> list[int]:
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


# --- functionals ----------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _identify(g: LatentDAG, x: str, y: str, effect: Effect, binary: bool) -> Estimand | Hedge:
    if _structurally_zero(g, x, y, effect):
        return Estimand(effect, x, y, ())
    obstacle = (_ate_obstacle if binary else _OBSTACLES[effect])(g, x, y)
    if obstacle is not None:
        return replace(obstacle, effect=effect)
    if effect == "ate":
        terms = ((1, _response(g, x, y, "x1")), (-1, _response(g, x, y, "x0")))
        return Estimand(effect, x, y, terms)
    if effect == "ett":
        return _binary_ett(g, x, y) if binary else _split_ett(g, x, y)
    crossed = _crossed_response(g, x, y, effect)
    return Estimand(effect, x, y, ((1, crossed), (-1, _response(g, x, y, "x0"))))


def _factors(g: LatentDAG, x: str, y: str, districts: list[int]) -> list[Expression]:
    projection = g.projection()
    relevant = _relevant(projection, x, y)
    return [
        identify_factor(
            projection, target, closure(target, projection.sibling_masks, relevant), relevant
        )
        for target in districts
    ]


def _assemble(
    g: LatentDAG, x: str, y: str, districts: list[int], levels: list[Level], free: int
) -> Expression:
    """Return the sum, over all nodes but `free`, of the factors, each with X at its level."""
    factors = [
        Fixed(x, level, factor)
        for level, factor in zip(levels, _factors(g, x, y, districts), strict=True)
    ]
    return total(g.projection().names(sum(districts) & ~free), product(factors))


def _response(g: LatentDAG, x: str, y: str, level: Level) -> Expression:
    """Return P(Y(level))."""
    districts = _response_districts(g, x, y)
    free = 1 << g.projection().nodes.index(y)
    return _assemble(g, x, y, districts, [level] * len(districts), free)


def _crossed_response(g: LatentDAG, x: str, y: str, effect: Effect) -> Expression:
    """Return P(Y(x1, M(x0))) for the direct effect, P(Y(x0, M(x1))) for the indirect one."""
    districts = _response_districts(g, x, y)
    y_bit = 1 << g.projection().nodes.index(y)
    edge: Level = "x1" if effect == "nde" else "x0"
    rest: Level = "x0" if effect == "nde" else "x1"
    # Without the edge X -> Y, every response in Y's own district belongs to the other paths.
    if not g.child_masks[g.index[x]] >> g.index[y] & 1:
        edge = rest
    levels = [edge if district & y_bit else rest for district in districts]
    return _assemble(g, x, y, districts, levels, y_bit)


def _split_ett(g: LatentDAG, x: str, y: str) -> Estimand:
    projection = g.projection()
    x_bit, y_bit = (1 << projection.nodes.index(name) for name in (x, y))
    districts = _split_districts(g, x, y)
    levels: list[Level] = ["x1" if district & x_bit else "x0" for district in districts]
    joint = _assemble(g, x, y, districts, levels, x_bit | y_bit)
    treated = Fixed(x, "x1", Probability((x,)))
    observed = Fixed(x, "x1", Probability((y,), (x,)))
    return Estimand("ett", x, y, ((1, observed), (-1, Ratio(joint, treated))))


def _binary_ett(g: LatentDAG, x: str, y: str) -> Estimand:
    treated = Fixed(x, "x1", Probability((x,)))
    untreated = Fixed(x, "x0", Probability((x, y)))
    terms: tuple[tuple[int, Expression], ...] = (
        (1, Fixed(x, "x1", Probability((y,), (x,)))),
        (-1, Ratio(_response(g, x, y, "x0"), treated)),
        (1, Ratio(untreated, treated)),
    )
    return Estimand("ett", x, y, terms, binary_only=True)
