"""Directed acyclic graphs with cutpoints and their commutative cut trees (CCR §5, Definition 5.2).

A graph here has one root X, one leaf Y and at least one cutpoint. Its biconnected components then
form a chain, because a component at the end of the block tree must hold X or Y: the cut tree's
nodes are X, the cutpoints in order, and Y, and every earlier node points to every later one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np

KINDS: Final = ("cycle", "wheel", "random")
"""How a biconnected component can be made."""

Pair = tuple[str, str]
"""A cause and an effect."""


@dataclass(frozen=True)
class Dag:
    """A DAG whose nodes are listed in a topological order.

    ``parents[v]`` are indices below ``v``, ascending. Raises ``ValueError`` for repeated names or
    an edge against the order.
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names) or len(self.names) != len(self.parents):
            raise ValueError("names must be distinct, one list of parents for each")
        for node, parents in enumerate(self.parents):
            if list(parents) != sorted(set(parents)) or any(not 0 <= p < node for p in parents):
                raise ValueError(f"parents of {self.names[node]} must be earlier nodes, ascending")

    @classmethod
    def from_edges(cls, edges: Iterable[Pair], order: Sequence[str] | None = None) -> "Dag":
        """The graph of some edges; its nodes in ``order`` or, without one, sorted topologically.

        Ties of the sort go to the node mentioned first. Raises ``ValueError`` for a cycle.
        """
        pairs = list(edges)
        mentioned = list(order or dict.fromkeys(name for edge in pairs for name in edge))
        waiting = {name: {a for a, b in pairs if b == name} for name in mentioned}
        done: list[str] = []
        while waiting:
            free = [name for name in waiting if waiting[name] <= set(done)]
            if not free:
                raise ValueError("the edges form a cycle")
            done.append(free[0])
            del waiting[free[0]]
        place = {name: k for k, name in enumerate(done)}
        parents = [tuple(sorted({place[a] for a, b in pairs if b == name})) for name in done]
        return cls(tuple(done), tuple(parents))

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """(cause, effect) indices, by effect."""
        return tuple((p, v) for v, parents in enumerate(self.parents) for p in parents)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, ascending."""
        found: list[list[int]] = [[] for _ in self.names]
        for cause, effect in self.edges:
            found[cause].append(effect)
        return tuple(tuple(nodes) for nodes in found)

    def index(self, name: str) -> int:
        """The place of a node; raises ``ValueError`` if there is none of that name."""
        return self.names.index(name)

    def ancestors(self, node: int) -> tuple[int, ...]:
        """The node and everything that reaches it, ascending."""
        return self._closure(node, self.parents)

    def descendants(self, node: int) -> tuple[int, ...]:
        """The node and everything it reaches, ascending."""
        return self._closure(node, self.children)

    def _closure(self, node: int, step: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        found, waiting = {node}, [node]
        while waiting:
            fresh = set(step[waiting.pop()]) - found
            found |= fresh
            waiting += fresh
        return tuple(sorted(found))

    def mediators(self, cause: int, effect: int) -> tuple[int, ...]:
        """The nodes strictly between: on a directed path from ``cause`` to ``effect``."""
        between = set(self.descendants(cause)) & set(self.ancestors(effect))
        return tuple(sorted(between - {cause, effect}))

    def distance(self, cause: int, effect: int) -> int:
        """Edges on the shortest directed path; raises ``ValueError`` if there is none."""
        reached, steps = {cause}, 0
        while effect not in reached:
            wider = reached | {child for node in reached for child in self.children[node]}
            if wider == reached:
                raise ValueError("no directed path")
            reached, steps = wider, steps + 1
        return steps


@dataclass(frozen=True, slots=True)
class Component:
    """A biconnected component: its nodes in topological order, local root first, leaf last."""

    members: tuple[int, ...]

    @property
    def root(self) -> int:
        """The component's only source."""
        return self.members[0]

    @property
    def leaf(self) -> int:
        """The component's only sink."""
        return self.members[-1]


@dataclass(frozen=True, slots=True)
class CutTree:
    """The commutative cut tree: ``components[c]`` joins ``nodes[c]`` to ``nodes[c + 1]``."""

    nodes: tuple[str, ...]
    components: tuple[Component, ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All cause-effect pairs, C(n, 2) of them for n nodes."""
        return tuple(combinations(self.nodes, 2))

    @property
    def whole(self) -> Pair:
        """The global pair (X, Y)."""
        return self.nodes[0], self.nodes[-1]

    @property
    def local(self) -> tuple[Pair, ...]:
        """Every pair but the global one."""
        return tuple(pair for pair in self.pairs if pair != self.whole)

    def span(self, pair: Pair) -> int:
        """How many components a pair spans."""
        return self.nodes.index(pair[1]) - self.nodes.index(pair[0])

    def paths(self, pair: Pair | None = None) -> Iterator[tuple[str, ...]]:
        """Every path of the cut tree between a pair (the global one if none), shortest first.

        2^(s - 1) of them for a pair that spans s components (CCR Table D.1).
        """
        cause, effect = pair or self.whole
        low, high = self.nodes.index(cause), self.nodes.index(effect)
        for count in range(high - low):
            for between in combinations(self.nodes[low + 1 : high], count):
                yield (cause, *between, effect)


def compositions(tree: CutTree, pair: Pair | None = None) -> tuple[tuple[str, ...], ...]:
    """The indirect paths between a pair (the global one if none): one composition each."""
    return tuple(path for path in tree.paths(pair) if len(path) > 2)


def cut_tree(dag: Dag) -> CutTree:
    """The commutative cut tree of a graph (Definition 5.2).

    Raises ``ValueError`` where the paper's assumptions A1 to A3 fail: more than one root or leaf,
    or no cutpoint.
    """
    if not dag.names:
        raise ValueError("an empty graph")
    roots = [v for v, parents in enumerate(dag.parents) if not parents]
    leaves = [v for v, children in enumerate(dag.children) if not children]
    if len(roots) != 1 or len(leaves) != 1:
        raise ValueError(f"{len(roots)} roots and {len(leaves)} leaves; one of each is needed")
    cuts = sorted(articulation_points(dag))
    if not cuts:
        raise ValueError("no cutpoint: the graph is biconnected or a single edge")
    ends = [roots[0], *cuts, leaves[0]]
    reach = [set(dag.descendants(end)) for end in ends]
    components = tuple(
        Component(tuple(v for v in sorted(reach[c]) if v not in reach[c + 1] or v == ends[c + 1]))
        for c in range(len(ends) - 1)
    )
    return CutTree(tuple(dag.names[end] for end in ends), components)


def articulation_points(dag: Dag) -> set[int]:
    """The cutpoints of the undirected skeleton, by depth-first low points (Hopcroft & Tarjan 1973).

    The skeleton must be connected.
    """
    neighbours = [(*dag.parents[v], *dag.children[v]) for v in range(len(dag.names))]
    order = {0: 0}
    low = {0: 0}
    cuts: set[int] = set()
    branches = 0
    stack: list[tuple[int, int, Iterator[int]]] = [(0, -1, iter(neighbours[0]))]
    while stack:
        node, above, rest = stack[-1]
        for other in rest:
            if other not in order:
                order[other] = low[other] = len(order)
                stack.append((other, node, iter(neighbours[other])))
                break
            if other != above:
                low[node] = min(low[node], order[other])
        else:
            stack.pop()
            if above == 0:
                branches += 1
            elif above > 0 and low[node] >= order[above]:
                cuts.add(above)
            if above >= 0:
                low[above] = min(low[above], low[node])
    return cuts | ({0} if branches > 1 else set())


def component_edges(kind: str, size: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The edges of one component over 0 (its root) to ``size - 1`` (its leaf).

    *cycle*: a chain and the edge 0 -> size - 1. *wheel*: a hub 0 that points to a rim cycle.
    *random*: every forward edge with probability one half, redrawn until the skeleton is
    biconnected and 0 and ``size - 1`` are the only source and sink. Two nodes are a bridge.
    """
    if size == 2:
        return [(0, 1)]
    if kind == "cycle" or size == 3:
        return [*((v, v + 1) for v in range(size - 1)), (0, size - 1)]
    if kind == "wheel":
        rim = [*((v, v + 1) for v in range(1, size - 1)), (1, size - 1)]
        return sorted({*((0, v) for v in range(1, size)), *rim})
    every = list(combinations(range(size), 2))
    while True:
        edges = [
            edge for edge, kept in zip(every, rng.random(len(every)) < 0.5, strict=True) if kept
        ]
        inner = range(1, size - 1)
        sources, sinks = {a for a, _ in edges}, {b for _, b in edges}
        if not (sources >= {0, *inner} and sinks >= {*inner, size - 1}):
            continue
        parents = tuple(tuple(a for a, b in edges if b == v) for v in range(size))
        if not articulation_points(Dag(tuple(map(str, range(size))), parents)):
            return edges


def chain(kinds: Sequence[str], sizes: Sequence[int], rng: np.random.Generator) -> Dag:
    """Components joined leaf to root; nodes are called by their index."""
    edges: list[tuple[int, int]] = []
    offset = 0
    for kind, size in zip(kinds, sizes, strict=True):
        edges += [(a + offset, b + offset) for a, b in component_edges(kind, size, rng)]
        offset += size - 1
    parents = tuple(tuple(sorted(a for a, b in edges if b == v)) for v in range(offset + 1))
    return Dag(tuple(map(str, range(offset + 1))), parents)
