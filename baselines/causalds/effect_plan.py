"""The choice, by :mod:`builder.graphs` on the graph read, of how to estimate an effect."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import Final

from baselines.causalds.estimators import (
    Contrast,
    Estimator,
    backdoor,
    frontdoor,
    natural_effect,
)
from builder.graphs.graph import LatentDAG
from builder.graphs.identification import (
    Effect,
    frontdoor_sets,
    is_identifiable,
    is_structural_zero,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)

_EFFECTS: Final[Mapping[str, Effect]] = {"ATE": "ate", "ETT": "ett", "NDE": "nde", "NIE": "nie"}
GUESS_WIDTH: Final = 3.0
"""Intervals of a formula that is not known to be right are so many times as wide."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to estimate an effect from ``names``. Without ``estimator`` it is 0.

    Its interval is ``widen`` times as wide as usual, more than once where it is a guess.
    """

    names: frozenset[str] = frozenset()
    estimator: Estimator | None = None
    widen: float = 1.0


NOTHING = Plan()


def plan_effect(graph: LatentDAG, contrast: Contrast, effect: str, *, binary: bool) -> Plan | None:
    """Return how to estimate an effect, ``NOTHING`` if it is zero; None if not identifiable."""
    x, y = contrast.x, contrast.y
    if not is_effect_identifiable(graph, x, y, effect, binary=binary):
        return None
    if is_structural_zero(graph, x, y, _EFFECTS[effect]):
        return NOTHING
    # With a direct effect alone, or mediators alone, the natural effect is the whole effect.
    is_split = x in graph.parents(y) and bool(graph.mediators(x, y))
    if effect in ("NDE", "NIE") and is_split:
        return _natural(graph, contrast, effect)
    return _total(graph, contrast)


def is_effect_identifiable(graph: LatentDAG, x: str, y: str, effect: str, *, binary: bool) -> bool:
    """Tell whether "ATE", "ETT", "NDE" or "NIE" of x (two-valued if ``binary``) is identifiable."""
    return is_identifiable(graph, x, y, _EFFECTS[effect], binary_treatment=binary)


def efficient_set(graph: LatentDAG, x: str, y: str) -> list[str]:
    """Return, sorted, the adjustment set of least variance (Henckel et al. 2022, Theorem 3.10).

    Where that set is not valid, return a minimal valid one. Some valid set must exist.
    """
    on_paths = (graph.descendants((x,)) & graph.ancestors((y,))) - {x}
    best = frozenset(p for node in on_paths for p in graph.parents(node)) - on_paths - {x}
    is_valid = best in valid_adjustment_sets(graph, x, y)
    return sorted(best if is_valid else minimal_adjustment_sets(graph, x, y)[0])


def _total(graph: LatentDAG, contrast: Contrast) -> Plan:
    """Return how to estimate a total effect: by back door, else front door, else by a guess."""
    x, y = contrast.x, contrast.y
    if valid_adjustment_sets(graph, x, y):
        return _backdoor(contrast, efficient_set(graph, x, y))
    through = next(frontdoor_sets(graph, x, y), None)
    if through is not None:
        mediators = sorted(through)
        return Plan(frozenset({x, y, *mediators}), partial(frontdoor, contrast, mediators))
    below = graph.descendants((x,))
    controls = sorted(name for name in graph.observed_nodes if name not in below)
    return _backdoor(contrast, controls, GUESS_WIDTH)


def _backdoor(contrast: Contrast, covariates: Sequence[str], widen: float = 1.0) -> Plan:
    """Return how to estimate a total effect by adjustment for ``covariates``, valid or not."""
    names = frozenset({contrast.x, contrast.y, *covariates})
    return Plan(names, partial(backdoor, contrast, covariates), widen)


def _without_edges_out_of(graph: LatentDAG, nodes: Collection[str]) -> LatentDAG:
    edges = tuple(edge for edge in graph.edges if edge[0] not in nodes)
    return LatentDAG(graph.nodes, edges, graph.latent)


def _natural(graph: LatentDAG, contrast: Contrast, effect: str) -> Plan:
    """Return how to estimate "NDE" or "NIE": a guess without :func:`natural_covariates`."""
    x, y = contrast.x, contrast.y
    mediators = sorted(name for name in graph.mediators(x, y) if name not in graph.latent)
    found = natural_covariates(graph, x, y)
    outside = set(graph.observed_nodes) - graph.descendants(x) - {y}
    covariates = sorted(outside if found is None else found)
    direct = effect == "NDE"
    estimator = partial(natural_effect, contrast, mediators, covariates, direct=direct)
    names = frozenset({x, y, *mediators, *covariates})
    return Plan(names, estimator, GUESS_WIDTH if found is None else 1.0)


@lru_cache(maxsize=256)
def natural_covariates(graph: LatentDAG, x: str, y: str) -> frozenset[str] | None:
    """Return covariates for the mediation formula; None where no measured variables will do.

    No covariate is affected by x. Given them, x and what it affects are unconfounded, and given
    them and x so are the mediators and y (Pearl 2001, Theorem 2; VanderWeele 2015, section 2.3).
    All parents of mediators and outcome come first: they leave the least variance.
    """
    mediators = frozenset(graph.mediators(x, y))
    if mediators & graph.latent:
        return None
    outside = set(graph.observed_nodes) - graph.descendants(x) - {y}
    near = {p for node in (*mediators, y) for p in graph.parents(node)} & outside
    affected = mediators | {y}
    back_door, apart = _without_edges_out_of(graph, {x}), _without_edges_out_of(graph, mediators)
    subsets = (
        frozenset(names)
        for size in range(len(outside) + 1)
        for names in combinations(sorted(outside), size)
    )
    for given in (frozenset(near), *subsets):
        unconfounded = not given & affected and back_door.d_separated((x,), affected, given)
        if unconfounded and apart.d_separated(mediators, (y,), given | {x}):
            return given
    return None
