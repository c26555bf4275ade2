"""Regions of a domain: connected pieces of the knowledge graph, large enough to be no motif.

A region is an induced subgraph, so whatever it is told with, each of its direct effects is
plausible, and so is the absence of every other. Some of its first causes go unmeasured.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from builder.causal.bits import members
from builder.causal.graph import LatentDAG
from builder.seeds import pick, shuffled
from builder.words.knowledge import Domain

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Fewest and most measured and unmeasured variables, least and largest mean degree."""

    measured: Range = (7, 12)
    latent: Range = (1, 4)
    degree: tuple[float, float] = (2.0, 3.5)


@dataclass(frozen=True, slots=True)
class Region:
    """A graph over nodes called V0, V1 ..., and the concept behind each, in the order of nodes."""

    graph: LatentDAG
    concepts: tuple[int, ...]


def draw_region(rng: np.random.Generator, domain: Domain, sizes: Sizes) -> Region | None:
    """One try at a region of `domain`; None where it does not come out as ``sizes`` wants.

    It grows from a random concept by random neighbours. Unmeasured become some of its first causes
    that could well go unmeasured and have two effects or more: what has causes of its own, or acts
    on one variable alone, would hide nothing.
    """
    measured, latent = (int(rng.integers(a, b + 1)) for a, b in (sizes.measured, sizes.latent))
    size = measured + latent
    inside = grown(rng, domain, size)
    if inside is None:
        return None
    links = sum((domain.children[i] & inside).bit_count() for i in members(inside))
    if not sizes.degree[0] <= 2 * links / size <= sizes.degree[1]:
        return None
    hidden = [
        i
        for i in members(inside)
        if domain.concepts[i].latent
        and not domain.parents[i] & inside
        and (domain.children[i] & inside).bit_count() > 1
    ]
    if len(hidden) < latent:
        return None
    order = shuffled(rng, list(members(inside)))
    return _region(domain, order, frozenset(shuffled(rng, hidden)[:latent]))


def grown(rng: np.random.Generator, domain: Domain, size: int) -> int | None:
    """A connected set of concepts that may be continuous, as a mask; None where the random growth
    came to an end."""
    allowed = domain.allowed["continuous", False]
    inside = 1 << pick(rng, list(members(allowed)))
    while inside.bit_count() < size:
        reach = 0
        for i in members(inside):
            reach |= domain.children[i] | domain.parents[i]
        outside = list(members(reach & allowed & ~inside))
        if not outside:
            return None
        inside |= 1 << pick(rng, outside)
    return inside


def _region(domain: Domain, order: Sequence[int], latent: frozenset[int]) -> Region:
    name = {concept: f"V{place}" for place, concept in enumerate(order)}
    inside = sum(1 << concept for concept in order)
    edges = tuple((name[a], name[b]) for a in order for b in members(domain.children[a] & inside))
    graph = LatentDAG(tuple(name.values()), edges, frozenset(name[i] for i in latent))
    return Region(graph, tuple(order))
