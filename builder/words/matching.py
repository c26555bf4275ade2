"""Induced subgraphs: where in a domain does a scene's graph occur?

A match maps every node of the scene to a concept so that edges go to edges, non-edges to non-edges,
and each node to a concept of its kind, latent nodes to concepts that could go unmeasured. Bitmasks
over the domain's concepts keep the candidates of the next node: a thousand searches take seconds,
where a general matcher takes minutes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from builder.causal.graph import LatentDAG
from builder.words.knowledge import Domain
from builder.words.types import Kind


@dataclass(frozen=True, slots=True)
class Pattern:
    """A scene's graph in search order: every node but the first touches an earlier one.

    ``links[i]`` holds, for each earlier node j, 1 where j affects i, -1 where i affects j, else 0.
    """

    nodes: tuple[str, ...]
    kinds: tuple[Kind, ...]
    latent: tuple[bool, ...]
    links: tuple[tuple[int, ...], ...]


def pattern(graph: LatentDAG, kinds: Mapping[str, Kind]) -> Pattern:
    """The graph prepared for the search, nodes with many neighbours first."""
    masks = [a | b for a, b in zip(graph.parent_masks, graph.child_masks, strict=True)]
    order: list[int] = []
    seen = 0
    left = set(range(len(graph.nodes)))
    while left:
        chosen = max(
            left,
            key=lambda i: ((masks[i] & seen).bit_count(), masks[i].bit_count(), -i),
        )
        order.append(chosen)
        seen |= 1 << chosen
        left.remove(chosen)
    links = tuple(
        tuple(
            1 if graph.parent_masks[i] >> j & 1 else -1 if graph.child_masks[i] >> j & 1 else 0
            for j in order[:place]
        )
        for place, i in enumerate(order)
    )
    nodes = tuple(graph.nodes[i] for i in order)
    return Pattern(
        nodes,
        tuple(kinds[node] for node in nodes),
        tuple(node in graph.latent for node in nodes),
        links,
    )


@lru_cache(maxsize=1 << 14)
def _positions(mask: int) -> tuple[int, ...]:
    """The bits of a mask that are set: of the domains there are a few thousand."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def matches(
    shape: Pattern, domain: Domain, order: Sequence[int] | None = None
) -> Iterator[tuple[int, ...]]:
    """Every match, as positions of concepts in the order of ``shape.nodes``.

    ``order``, a permutation of the positions, says which concepts are tried first.
    """
    size = len(domain.concepts)
    turn = list(range(size)) if order is None else list(order)
    place = {old: new for new, old in enumerate(turn)}

    def moved(mask: int) -> int:
        return sum(1 << place[i] for i in _positions(mask))

    children = [moved(domain.children[i]) for i in turn]
    parents = [moved(domain.parents[i]) for i in turn]
    # Candidates of a node given one earlier node, by link: none, that node affects it, or is
    # affected by it. The place -1 of a list is its last item.
    apart = [~(a | b | 1 << i) for i, (a, b) in enumerate(zip(children, parents, strict=True))]
    by_link = (apart, children, parents)
    allowed = [moved(domain.allowed[key]) for key in zip(shape.kinds, shape.latent, strict=True)]
    found: list[int] = []

    def extend(depth: int) -> Iterator[tuple[int, ...]]:
        if depth == len(allowed):
            yield tuple(turn[i] for i in found)
            return
        candidates = allowed[depth]
        for image, link in zip(found, shape.links[depth], strict=True):
            candidates &= by_link[link][image]
        while candidates:
            low = candidates & -candidates
            candidates ^= low
            found.append(low.bit_length() - 1)
            yield from extend(depth + 1)
            found.pop()

    yield from extend(0)
