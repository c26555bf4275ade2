"""What one would see of treatment and outcome in a world, and in sketches of one, before any truth
is worked out: enough to decide whether the world will do.

All numbers are for the scene's contrast and in standard deviations of the outcome. Those of a world
rest on one sample of moderate size; what is published of it is computed anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from builder.causal.adjustment import valid_adjustment_sets
from builder.causal.identification import is_identifiable
from builder.causal.motifs import Motif
from builder.causalds.plan.wanted import Wanted
from builder.scm.equation import Array, summary
from builder.scm.population import QUARTILES
from builder.scm.regression import correlation, covariance, slope
from builder.scm.straight import Sketches
from builder.scm.world import World

EFFECT_RANGE: Final = (0.15, 1.5)
"""An identifiable average effect, in standard deviations of the outcome."""

MISS: Final = (0.3, 0.8)
"""A misleading estimate misses by so many standard deviations of the outcome, and by this share of
the effect."""

OPPOSED: Final = 0.1
"""An estimate of the wrong sign is so many standard deviations of the outcome beyond 0."""

CLEAR: Final = 0.1
"""Associations whose sign counts are at least this large, seen through measurements or not."""

_APART: Final = 0.08
"""Natural effects are so far from 0, and from each other's size: what labels need, and a margin."""

_UNITS: Final = 4096
_CONTINUOUS_STEP: Final = 1.349
"""The quartiles of a normal variable lie so many standard deviations apart."""

Numbers: TypeAlias = Array | float
Flags: TypeAlias = Any
"""One truth value, or one for each sketch."""


@dataclass(frozen=True, slots=True)
class Look:
    """``marginal`` is the correlation, ``partial`` those given each other measured variable in
    node order, on the last axis; ``nothing``, ``causes`` and ``everything`` are the estimates of
    the average effect by regression on the treatment alone, with its direct causes that are
    measured, and with every other measured variable."""

    effect: Numbers
    direct: Numbers
    indirect: Numbers
    marginal: Numbers
    partial: Array
    nothing: Numbers
    causes: Numbers
    everything: Numbers


def look_at_sketches(found: Sketches, query: Motif, *, binary: bool) -> Look:
    """Every sketch of the scene's graph; ``binary``: its treatment takes two values."""
    x, y = query.treatment, query.outcome
    place = query.graph.index
    sd = np.sqrt(found.covariances[:, place[y], place[y]])
    spread = np.sqrt(found.covariances[:, place[x], place[x]])
    step = (2.0 if binary else _CONTINUOUS_STEP) * spread / sd
    effect, indirect = (found.effect(x, y, direct=one) * step for one in (True, False))
    return _look(found.covariances, query, step, (effect, effect - indirect, indirect))


def look_at_world(rng: np.random.Generator, world: World, query: Motif) -> Look:
    """One sample of a world, run without intervention and under both levels of the treatment."""
    x, y = query.treatment, query.outcome
    noise = world.draw_noise(rng, _UNITS)
    seen = world.run(noise)
    low, high = (0.0, 1.0)
    if world.node(x).kind == "continuous":
        low, high = (summary(float(q)) for q in np.quantile(seen[x], QUARTILES))
    under = {level: world.run(noise, {x: level}) for level in (low, high)}

    def mean(behind: float, level: float) -> float:
        """E[Y] with the treatment at ``level``, all else as under ``behind``."""
        values = {**under[behind], x: np.full(_UNITS, level)}
        return float(np.mean(world.conditional_mean(y, values)))

    base = mean(low, low)
    covariances = covariance([seen[node] for node in query.graph.nodes])
    place = query.graph.index[y]
    sd = float(np.sqrt(covariances[place, place]))
    effects = (mean(high, high) - base, mean(low, high) - base, mean(high, low) - base)
    total, direct, indirect = (effect / sd for effect in effects)
    return _look(covariances, query, (high - low) / sd, (total, direct, indirect))


def _look(
    covariances: Array, query: Motif, step: Numbers, effects: tuple[Numbers, Numbers, Numbers]
) -> Look:
    place = query.graph.index
    x, y, others = place[query.treatment], place[query.outcome], [place[v] for v in query.others]
    return Look(
        *effects,
        marginal=correlation(covariances, x, y),
        partial=np.stack([correlation(covariances, x, y, (z,)) for z in others], axis=-1),
        nothing=slope(covariances, x, y) * step,
        causes=slope(covariances, x, y, [place[v] for v in measured_causes(query)]) * step,
        everything=slope(covariances, x, y, others) * step,
    )


def acceptable(found: Look, query: Motif, wanted: Wanted, slack: float = 1.0) -> Flags:
    """Whether what is seen will do; bounds are held with ``slack`` to spare (1: as they are)."""
    flags: Flags = True
    if is_identifiable(*query.effect, "ate"):
        size = np.abs(found.effect)
        low, high = EFFECT_RANGE
        flags = (size >= low * slack) & (size <= high / slack)
        if wanted.reversed is not None:
            apart = np.sign(found.effect) != np.sign(found.marginal)
            flags &= (apart == wanted.reversed) & (np.abs(found.marginal) >= CLEAR * slack)
        careless = _careless(found, query)
        if wanted.misled:
            for estimate in (found.nothing, *careless):
                flags &= _missed(estimate, found.effect, slack)
        if wanted.opposed:
            for estimate in careless:
                flags &= -np.sign(found.effect) * estimate >= OPPOSED * slack
    flags &= _natural(found, query, wanted, slack)
    if wanted.flipped is not None:
        turned = flipped(found).any(axis=-1)
        flags &= (turned | (not wanted.flipped)) & (np.abs(found.marginal) >= CLEAR * slack)
    return flags


def flipped(found: Look) -> Flags:
    """Which variables change the sign of the association, clearly: on the last axis."""
    turned = np.sign(found.partial) != np.sign(np.asarray(found.marginal)[..., None])
    return turned & (np.abs(found.partial) >= CLEAR)


def misleads(query: Motif, adjusted: Sequence[str]) -> bool:
    """Whether adjusting for these variables is not valid."""
    return frozenset(adjusted) not in valid_adjustment_sets(*query.effect)


def _careless(found: Look, query: Motif) -> list[Numbers]:
    """The estimates that adjust for what one sees first, where that is not valid."""
    pairs = ((found.causes, measured_causes(query)), (found.everything, query.others))
    return [estimate for estimate, adjusted in pairs if misleads(query, adjusted)]


def measured_causes(query: Motif) -> list[str]:
    """The direct causes of the treatment that are measured."""
    graph = query.graph
    return [node for node in graph.parents(query.treatment) if node not in graph.latent]


def missed(estimate: Numbers, effect: Numbers) -> Flags:
    """Whether an estimate misses the effect by as much as a misleading one must."""
    return _missed(estimate, effect, 1.0)


def _missed(estimate: Numbers, effect: Numbers, slack: float) -> Flags:
    least = np.maximum(MISS[0], MISS[1] * np.abs(effect))
    return np.abs(estimate - effect) >= least * slack


def _natural(found: Look, query: Motif, wanted: Wanted, slack: float) -> Flags:
    """Natural effects clear of 0, and the wanted one the larger."""
    graph, x, y = query.effect
    edge, through = x in graph.parents(y), bool(graph.mediators(x, y))
    direct, indirect = np.abs(found.direct), np.abs(found.indirect)
    flags: Flags = True
    if edge and is_identifiable(graph, x, y, "nde"):
        flags &= direct >= _APART * slack
    if through and is_identifiable(graph, x, y, "nie"):
        flags &= indirect >= _APART * slack
    both = edge and through and is_identifiable(graph, x, y, "nde")
    if both and wanted.indirect is not None:
        larger, smaller = (indirect, direct) if wanted.indirect else (direct, indirect)
        flags &= 0.95 * larger - smaller >= _APART * slack
    return flags
