"""How far identification verdicts agree with checks that share no code with them.

All four effects are asked. A positive verdict must return the value that enumerating a random model
gives (to 1e-9), a negative one must come with two models that share the observed distribution (to
1e-12) and differ in the effect. y0, another program, joins in on the ATE where it is installed.
C-factors are arrays with one axis per observed node (Tian & Pearl 2002).
"""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from finite_models import Array, joint_distribution, random_scm, true_effect, twins_differ

from builder.graphs.graph import LatentDAG, Projection, closure, members
from builder.graphs.identification import (
    Effect,
    is_identifiable,
    is_structural_zero,
    relevant_nodes,
    response_districts,
    split_districts,
)

Query = tuple[LatentDAG, str, str]

QUESTIONS: tuple[tuple[Effect, int], ...] = (
    ("ate", 2), ("ett", 2), ("ett", 3), ("nde", 2), ("nie", 2)
)  # fmt: skip
"""An effect, and how many levels the treatment has."""


def refuted(query: Query, question: tuple[Effect, int], rng: np.random.Generator) -> str:
    """What speaks against the verdict on one question, or nothing."""
    (graph, x, y), (effect, levels) = query, question
    verdict = is_identifiable(graph, x, y, effect, binary_treatment=levels == 2)
    if effect == "ate" and find_spec("y0") and y0_identifies(graph, x, y) != verdict:
        return "y0 disagrees"
    if not verdict:
        return "" if twins_differ(rng, graph, x, y, effect, levels) else "no twin models"
    scm = random_scm(rng, graph, dict.fromkeys(graph.nodes, 2) | {x: levels}, noise_levels=3)
    found = identified_effect(joint_distribution(scm), graph, x, y, effect, levels == 2)
    truth = true_effect(scm, x, y, effect)
    return "" if abs(found - truth) <= 1e-9 else f"{found} is not {truth}"


def check(queries: Sequence[Query], seed: int) -> Counter[tuple[Effect, int, bool]]:
    """Refute no verdict; return how often each question got which."""
    counts: Counter[tuple[Effect, int, bool]] = Counter()
    for place, (graph, x, y) in enumerate(queries):
        rng = np.random.default_rng([seed, place])
        for effect, levels in QUESTIONS:
            assert not refuted((graph, x, y), (effect, levels), rng), (graph, x, y, effect, levels)
            verdict = is_identifiable(graph, x, y, effect, binary_treatment=levels == 2)
            counts[effect, levels, verdict] += 1
    return counts


def identified_effect(
    joint: Array, g: LatentDAG, x: str, y: str, effect: Effect, binary_treatment: bool = False
) -> float:
    """The effect of X = 1 against X = 0 under ``joint``, whose axes are the observed nodes.

    The effect must be identifiable; levels of the outcome stand for 0, 1, ...
    """
    if is_structural_zero(g, x, y, effect):
        return 0.0
    districts, y_bit = response_districts(g, x, y), 1 << g.projection().nodes.index(y)
    untreated = _mean(joint, g, x, y, districts, [0] * len(districts))
    if effect == "ate":
        return _mean(joint, g, x, y, districts, [1] * len(districts)) - untreated
    if effect == "ett":
        axes = tuple(i for i, name in enumerate(g.observed_nodes) if name not in (x, y))
        pair = joint.sum(axis=axes)
        by_x = pair if g.observed_nodes.index(x) < g.observed_nodes.index(y) else pair.T
        treated, levels = by_x[1].sum(), np.arange(by_x.shape[1])
        if binary_treatment:  # E[Y(x0)] less the part of those whose treatment was x0
            counterfactual = untreated - levels @ by_x[0]
        else:
            districts, x_bit = split_districts(g, x, y), 1 << g.projection().nodes.index(x)
            own = [int(bool(district & x_bit)) for district in districts]
            counterfactual = _mean(joint, g, x, y, districts, own)
        return float(levels @ by_x[1] - counterfactual) / float(treated)
    # Without the edge X -> Y, every response in Y's own district belongs to the other paths.
    along_edge = int(effect == "nde")
    has_edge = g.child_masks[g.index[x]] >> g.index[y] & 1
    own = [bool(has_edge and district & y_bit) for district in districts]
    levels_of = [along_edge if it else 1 - along_edge for it in own]
    return _mean(joint, g, x, y, districts, levels_of) - untreated


def _mean(joint: Array, g: LatentDAG, x: str, y: str, districts: Sequence, levels: list) -> float:
    """The sum of Y over the product of the districts' c-factors, each with X at its level."""
    projection = g.projection()
    x_axis, y_axis = (projection.nodes.index(name) for name in (x, y))
    relevant = relevant_nodes(projection, x, y)
    product: Array = np.ones((1,) * joint.ndim)
    for district, level in zip(districts, levels, strict=True):
        factor = _c_factor(projection, joint, district, relevant)
        product = product * factor.take([min(level, factor.shape[x_axis] - 1)], axis=x_axis)
    summed = sum(districts) & ~(1 << x_axis | 1 << y_axis)
    product = product.sum(axis=tuple(members(summed)), keepdims=True)
    # Other axes remain where an array mentions a node that its values do not depend on.
    by_y = np.moveaxis(product, y_axis, 0).reshape(joint.shape[y_axis], -1)[:, 0]
    return float(np.arange(len(by_y)) @ by_y)


def _c_factor(projection: Projection, joint: Array, target: int, relevant: int) -> Array:
    """Q[target], which no hedge must forbid; ``relevant`` is an ancestral set."""
    everyone = (1 << len(projection.nodes)) - 1
    q = joint.sum(axis=tuple(members(everyone & ~relevant)), keepdims=True)
    whole, district = relevant, closure(target, projection.sibling_masks, relevant)
    while True:
        q = _part(projection, q, whole, district)
        whole = closure(target, projection.parent_masks, district)
        q = q.sum(axis=tuple(members(district & ~whole)), keepdims=True)
        if whole == target:
            return q
        district = closure(target, projection.sibling_masks, whole)


def _part(projection: Projection, q: Array, whole: int, part: int) -> Array:
    """Q[part] from Q[whole], ``part`` a district of it."""
    result: Array = np.ones((1,) * q.ndim)
    later, below = whole, q.sum(axis=tuple(members(whole)), keepdims=True)
    for node in projection.order:
        if whole >> node & 1:
            later &= ~(1 << node)
            above = q.sum(axis=tuple(members(later)), keepdims=True)
            if part >> node & 1:
                result = result * above / below
            below = above
    return result


def directed(projection: Projection) -> list[tuple[str, str]]:
    """The pairs (a, b) with a -> b."""
    pairs = enumerate(projection.parent_masks)
    return [(projection.nodes[a], projection.nodes[b]) for b, mask in pairs for a in members(mask)]


def bidirected(projection: Projection) -> list[tuple[str, str]]:
    """The pairs (a, b) with a <-> b, once each, in node order."""
    pairs = enumerate(projection.sibling_masks)
    nodes = projection.nodes
    return [(nodes[a], nodes[b]) for a, mask in pairs for b in members(mask) if a < b]


def y0_identifies(g: LatentDAG, x: str, y: str) -> bool:
    """Ask y0's ID algorithm about P(y | do(x))."""
    dsl, identify = import_module("y0.dsl"), import_module("y0.algorithm.identify")
    found = identify.identify_outcomes(_y0_graph(g), dsl.Variable(x), dsl.Variable(y))
    return found is not None


def _y0_graph(g: LatentDAG) -> Any:
    """Return the latent projection as y0's mixed graph, isolated nodes included."""
    variable, graph = import_module("y0.dsl").Variable, import_module("y0.graph").NxMixedGraph()
    projection = g.projection()
    for name in projection.nodes:
        graph.add_node(variable(name))
    for a, b in directed(projection):
        graph.add_directed_edge(variable(a), variable(b))
    for a, b in bidirected(projection):
        graph.add_undirected_edge(variable(a), variable(b))
    return graph
