"""The choice of a domain, and of concepts for the nodes, of every scene; made while planning.

A match maps every node of the scene to a concept so that edges go to edges, non-edges to non-edges,
and each node to a concept of its kind, latent nodes to concepts that could go unmeasured. Bitmasks
over the domain's concepts make a thousand searches in seconds; a general matcher takes minutes.

No two scenes of a split have the same match, and hardly two the same set of names. Domains are
dealt evenly before anything is known of the graphs, and a scene takes another only where its own
has no free match: so the domain carries almost no information about the graph. A hash of the names
fixes which sets belong to public-truth splits, to private-truth splits, and to second tellings of a
scene, so that none of them can meet another, whatever the seeds.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final, Literal

import numpy as np

from builder.graphs.graph import LatentDAG, members
from builder.stories.knowledge import Domain, domains, own_files
from builder.stories.types import Kind


@dataclass(frozen=True, slots=True)
class Pattern:
    """A scene's graph in search order: nodes with most edges to earlier ones come first.
    ``links[i]`` holds for each earlier node j: 1 where j affects i, -1 for the reverse, else 0."""

    nodes: tuple[str, ...]
    kinds: tuple[Kind, ...]
    latent: tuple[bool, ...]
    links: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=4096)
def pattern(graph: LatentDAG, kinds: tuple[Kind, ...]) -> Pattern:
    """Return the graph prepared for search: the next node has most earlier neighbours."""
    masks = [a | b for a, b in zip(graph.parent_masks, graph.child_masks, strict=True)]
    order: list[int] = []
    seen = 0
    waiting = set(range(len(graph.nodes)))
    while waiting:
        near = {i: ((masks[i] & seen).bit_count(), masks[i].bit_count(), -i) for i in waiting}
        chosen = max(near, key=near.__getitem__)
        order.append(chosen)
        seen |= 1 << chosen
        waiting.remove(chosen)
    links = tuple(
        tuple(
            1 if graph.parent_masks[i] >> j & 1 else -1 if graph.child_masks[i] >> j & 1 else 0
            for j in order[:place]
        )
        for place, i in enumerate(order)
    )
    nodes = tuple(graph.nodes[i] for i in order)
    latent = tuple(node in graph.latent for node in nodes)
    return Pattern(nodes, tuple(kinds[i] for i in order), latent, links)


def matches(shape: Pattern, domain: Domain, turn: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every match, positions in ``domain.concepts`` by node, tried in order ``turn``."""
    place = {old: new for new, old in enumerate(turn)}

    def permute(mask: int) -> int:
        return sum(1 << place[i] for i in members(mask))

    children = [permute(domain.children[i]) for i in turn]
    parents = [permute(domain.parents[i]) for i in turn]
    # Candidates of a node given one earlier node, by link: none, that node affects it, or is
    # affected by it. The place -1 of a list is its last item.
    apart = [~(a | b | 1 << i) for i, (a, b) in enumerate(zip(children, parents, strict=True))]
    by_link = (apart, children, parents)
    allowed = [permute(domain.allowed[key]) for key in zip(shape.kinds, shape.latent, strict=True)]
    found: list[int] = []

    def extend(depth: int) -> Iterator[tuple[int, ...]]:
        """Yield the matches that extend ``found``, which holds the first ``depth`` nodes."""
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


Again = Literal["no", "otherwise", "yes"]
"""Whether a set of names may come again: never, with other nodes behind its names, or as it was."""

Part = Literal["public", "private", "second"]
"""Whose sets of names: of scenes with public truth, with private truth, or told a second time."""

_BOUNDS: Final[Mapping[Part, tuple[int, int]]] = {
    "public": (0, 154),
    "private": (154, 226),
    "second": (226, 256),
}
"""First bytes of the hash that belong to each part."""

LARGEST_SHARE: Final = 0.06
"""No domain tells more than this share of a split's scenes (but every domain may tell one)."""

_TRIED: Final = 4000
"""Matches looked at in one domain before the next is tried."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The key of a scene's domain, and its (node id, concept name) pairs, sorted by node."""

    domain: str
    names: tuple[tuple[str, str], ...]


def part_of(domain: str, names: Sequence[str]) -> Part:
    """Return the part that a domain's set of names belongs to, by a hash that ignores order."""
    text = "/".join([domain, *sorted(names)])
    byte = hashlib.sha256(text.encode()).digest()[0]
    return next(part for part, (low, high) in _BOUNDS.items() if low <= byte < high)


class Namer:
    """Names a split's ``scenes`` in order, from sets of ``part``, none given out earlier."""

    def __init__(self, rng: np.random.Generator, scenes: int, part: Part) -> None:
        self._rng = rng
        self._part = part
        self.begin(scenes, max(1, int(LARGEST_SHARE * scenes)))
        self._sets: set[tuple[str, frozenset[str]]] = set()
        self._matches: set[Naming] = set()

    def begin(self, scenes: int, most: int) -> None:
        """Begin a group of scenes, of which a domain tells ``most``. Names stay given out."""
        self._cap, count = most, len(domains())
        # Shuffled rounds of all domains, those of --domains first, the last round cut short.
        own = {path.stem for path in own_files()}
        ours = [domain.key not in own for domain in domains()]
        rounds = [
            sorted(self._rng.permutation(count).tolist(), key=ours.__getitem__)
            for _ in range(-(-scenes // count))
        ]
        self._dealt = list(chain.from_iterable(rounds))[:scenes]
        self._told: Counter[int] = Counter()

    def deal(self) -> int:
        """Return the position of the domain that the next scene tries first, dealt evenly."""
        return self._dealt.pop() if self._dealt else int(self._rng.integers(len(domains())))

    def name(
        self,
        graph: LatentDAG,
        kinds: Mapping[str, Kind],
        first: int,
        choices: tuple[Again, ...] = ("no", "otherwise"),
    ) -> Naming | None:
        """Return names for a scene, of domain number ``first`` if possible, by the first of the
        ``choices`` that gives some, None if none does. Only "yes" may exceed a domain's share."""
        shape = pattern(graph, tuple(kinds[node] for node in graph.nodes))
        numbers = [int(i) for i in self._rng.permutation(len(domains())) if int(i) != first]
        for again in choices:
            for number in (first, *numbers):
                if again != "yes" and self._told[number] >= self._cap:
                    continue
                found = self._match(shape, domains()[number], again)
                if found is not None:
                    self._told[number] += again != "yes"
                    return found
        return None

    def _match(self, shape: Pattern, domain: Domain, again: Again) -> Naming | None:
        """Return, and note, the first of ``_TRIED`` random matches that is allowed, or None."""
        order = self._rng.permutation(len(domain.concepts))
        for tried, match in enumerate(matches(shape, domain, order.tolist())):
            if tried >= _TRIED:
                return None
            names = [domain.concepts[i].name for i in match]
            key = domain.key, frozenset(names)
            naming = Naming(domain.key, tuple(sorted(zip(shape.nodes, names, strict=True))))
            taken = {"no": key in self._sets, "otherwise": naming in self._matches}
            if not taken.get(again) and part_of(domain.key, names) == self._part:
                self._sets.add(key)
                self._matches.add(naming)
                return naming
        return None
