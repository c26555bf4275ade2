"""Directed acyclic graphs with latent nodes, and their latent projections.

Definitions follow Pearl, *Causality* (2009): d-separation section 1.2.3, latent projection
section 2.6 (Verma 1993). A set of nodes is an integer bitmask, bit i for node i: a union is one
machine operation, and a graph is identified in microseconds instead of milliseconds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Projection:
    """Latent projection onto `nodes`, acyclic. Masks index these: `parent_masks[i]` for parents of
    i, `sibling_masks[i]` for bidirected neighbours. `order` is a topological order of indices."""

    nodes: tuple[str, ...]
    parent_masks: tuple[int, ...] = field(repr=False)
    sibling_masks: tuple[int, ...] = field(repr=False)
    order: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LatentDAG:
    """A directed acyclic graph in which some nodes are unobserved.

    `nodes` fixes the order of everything that is returned. `edges` are (parent, child) pairs,
    stored sorted in node order. `latent` nodes may have parents of their own. `index` maps a node
    to its position, which is its bit in every mask. Raises ValueError on an empty or repeated name,
    a repeated edge, a self-loop, an edge or latent node that is not among the nodes, and a cycle.
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    latent: frozenset[str] = frozenset()
    index: dict[str, int] = field(init=False, repr=False, compare=False)
    parent_masks: tuple[int, ...] = field(init=False, repr=False, compare=False)
    child_masks: tuple[int, ...] = field(init=False, repr=False, compare=False)
    observed_mask: int = field(init=False, repr=False, compare=False)
    _order: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check nodes and edges, sort the edges, and fill in the derived fields."""
        nodes, index = self.nodes, {name: i for i, name in enumerate(self.nodes)}
        _check_names(nodes, self.latent)
        pairs = sorted(_index_edges(index, self.edges))
        parents, children = [0] * len(nodes), [0] * len(nodes)
        for a, b in pairs:
            parents[b] |= 1 << a
            children[a] |= 1 << b
        # A frozen instance can only be completed through object.__setattr__.
        put = object.__setattr__
        put(self, "edges", tuple((nodes[a], nodes[b]) for a, b in pairs))
        put(self, "index", index)
        put(self, "parent_masks", tuple(parents))
        put(self, "child_masks", tuple(children))
        put(self, "observed_mask", self.mask(self.observed_nodes))
        put(self, "_order", _topological(nodes, parents))

    @property
    def observed_nodes(self) -> tuple[str, ...]:
        """The observed nodes, in node order."""
        return tuple(name for name in self.nodes if name not in self.latent)

    def mask(self, names: str | Iterable[str]) -> int:
        """Return the bitmask of one name or several. Raises ValueError for an unknown name."""
        mask = 0
        for name in (names,) if isinstance(names, str) else names:
            if name not in self.index:
                raise ValueError(f"unknown node {name!r}; the graph has {', '.join(self.nodes)}")
            mask |= 1 << self.index[name]
        return mask

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the names in a bitmask, in node order."""
        return tuple(self.nodes[i] for i in members(mask))

    def parents(self, v: str) -> tuple[str, ...]:
        """Return the parents of `v`, latent ones included, in node order."""
        self.mask(v)
        return self.names(self.parent_masks[self.index[v]])

    def children(self, v: str) -> tuple[str, ...]:
        """Return the children of `v`, latent ones included, in node order."""
        self.mask(v)
        return self.names(self.child_masks[self.index[v]])

    def ancestors(self, vs: str | Iterable[str]) -> frozenset[str]:
        """Return the nodes with a directed path into `vs`, `vs` included."""
        return frozenset(self.names(self.ancestor_mask(self.mask(vs))))

    def descendants(self, vs: str | Iterable[str]) -> frozenset[str]:
        """Return the nodes with a directed path out of `vs`, `vs` included."""
        return frozenset(self.names(self.descendant_mask(self.mask(vs))))

    def ancestor_mask(self, mask: int) -> int:
        """Return the mask of the ancestors of the nodes in a bitmask, these included."""
        return closure(mask, self.parent_masks, -1)

    def descendant_mask(self, mask: int) -> int:
        """Return the mask of the descendants of the nodes in a bitmask, these included."""
        return closure(mask, self.child_masks, -1)

    def mediators(self, x: str, y: str) -> frozenset[str]:
        """Return the nodes strictly inside directed paths from `x` to `y`, latent ones included."""
        ends = self.mask(x) | self.mask(y)
        inside = self.descendant_mask(self.mask(x)) & self.ancestor_mask(self.mask(y))
        return frozenset(self.names(inside & ~ends))

    def topological_order(self) -> tuple[str, ...]:
        """Return all nodes, parents first, ties by node order."""
        return tuple(self.nodes[i] for i in self._order)

    def projection(self) -> Projection:
        """Return the latent projection onto the observed nodes (Pearl 2009, definition 2.6.1). It
        is computed once. There is an edge a -> b when a directed path from a to b has only latent
        nodes inside, and a <-> b when a latent node reaches both by such paths."""
        return _project(self)

    def d_separated(
        self, xs: str | Iterable[str], ys: str | Iterable[str], zs: str | Iterable[str] = ()
    ) -> bool:
        """Tell whether `zs` blocks every path between `xs` and `ys` (Pearl 2009, def. 1.2.3).
        Latent nodes may appear in any of the sets. Raises ValueError when the sets overlap."""
        x, y, z = self.mask(xs), self.mask(ys), self.mask(zs)
        if shared := (x & y) | (x & z) | (y & z):
            names = ", ".join(self.names(shared))
            raise ValueError(f"the three sets must be disjoint; shared: {names}")
        return not connected_nodes(x, self.parent_masks, self.child_masks, z) & y


def one_is_apart(g: LatentDAG, x: str, y: str, z: str) -> bool:
    """Tell whether one of three nodes is d-separated from both others, so that giving one of them
    leaves the correlation of the others as it is."""
    triples = ((x, (y, z)), (y, (x, z)), (z, (x, y)))
    return any(g.d_separated(one, others) for one, others in triples)


def connected_nodes(
    source: int, parent_masks: Sequence[int], child_masks: Sequence[int], given: int
) -> int:
    """Return the mask of nodes outside `given` that open paths join to `source` (masks; included).
    Bayes-ball (Shachter 1998) over (node, direction). A collider above a given node needs no test
    of its own: the ball rolls down to that node and bounces back."""
    seen_up = seen_down = down = 0
    up = source
    while up or down:
        if up:  # entered from a child, or the start of the path
            low = up & -up
            up ^= low
            seen_up |= low
            if low & given:
                continue
            node = low.bit_length() - 1
            up |= parent_masks[node] & ~seen_up
            down |= child_masks[node] & ~seen_down
        else:  # entered from a parent
            low = down & -down
            down ^= low
            seen_down |= low
            node = low.bit_length() - 1
            if low & given:
                up |= parent_masks[node] & ~seen_up
            else:
                down |= child_masks[node] & ~seen_down
    return (seen_up | seen_down) & ~given


def endpoints(g: LatentDAG, x: str, y: str) -> tuple[int, int]:
    """Return the indices of `x` and `y`. Raises ValueError if unknown, latent, or the same node."""
    for role, name in (("treatment", x), ("outcome", y)):
        g.mask(name)
        if name in g.latent:
            raise ValueError(f"the {role} {name!r} is latent; it must be an observed node")
    if x == y:
        raise ValueError(f"treatment and outcome are both {x!r}; they must differ")
    return g.index[x], g.index[y]


def _check_names(nodes: tuple[str, ...], latent: Iterable[str]) -> None:
    """Raise ValueError for repeated or empty names and for a latent name that is no node."""
    for name in nodes:
        if nodes.count(name) > 1:
            raise ValueError(f"node {name!r} is listed twice")
    if "" in nodes:
        raise ValueError("a node has an empty name")
    for name in sorted(set(latent).difference(nodes)):
        raise ValueError(f"latent node {name!r} is not among the nodes")


def _index_edges(index: dict[str, int], edges: Iterable[tuple[str, str]]) -> set[tuple[int, int]]:
    """Return edges as pairs of indices. Raise ValueError for unknown ends, loops, repeats."""
    pairs: set[tuple[int, int]] = set()
    for a, b in edges:
        for end in (a, b):
            if end not in index:
                raise ValueError(f"edge {a} -> {b} names {end!r}, which is not among the nodes")
        if a == b:
            raise ValueError(f"edge {a} -> {b} is a self-loop")
        pair = (index[a], index[b])
        if pair in pairs:
            raise ValueError(f"edge {a} -> {b} is listed twice")
        pairs.add(pair)
    return pairs


def _topological(nodes: tuple[str, ...], parents: Sequence[int]) -> tuple[int, ...]:
    """Return the indices, parents (masks) first, then in order. Raise ValueError for a cycle."""
    order: list[int] = []
    placed, waiting = 0, list(range(len(nodes)))
    while waiting:
        ready = next((i for i in waiting if not parents[i] & ~placed), None)
        if ready is None:
            cycle = ", ".join(nodes[i] for i in waiting)
            raise ValueError(f"the graph has a cycle through {cycle}")
        order.append(ready)
        placed |= 1 << ready
        waiting.remove(ready)
    return tuple(order)


@lru_cache(maxsize=4096)
def _project(g: LatentDAG) -> Projection:
    """Return what :meth:`LatentDAG.projection` describes."""
    # reach[i]: observed nodes that i reaches by a directed path whose inside is latent.
    visible, reach = g.observed_mask, [0] * len(g.nodes)
    for i in reversed(g._order):
        for child in members(g.child_masks[i]):
            reach[i] |= (1 << child) if visible >> child & 1 else reach[child]
    place = {node: position for position, node in enumerate(members(visible))}
    parents, siblings = [0] * len(place), [0] * len(place)
    for i, mask in enumerate(reach):
        reached = [place[j] for j in members(mask)]
        together = sum(1 << j for j in reached)
        for j in reached:
            if i in place:
                parents[j] |= 1 << place[i]
            else:
                siblings[j] |= together & ~(1 << j)
    return Projection(
        nodes=g.observed_nodes,
        parent_masks=tuple(parents),
        sibling_masks=tuple(siblings),
        order=tuple(place[i] for i in g._order if i in place),
    )


def members(mask: int) -> Iterator[int]:
    """Yield the indices in `mask`, smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def closure(start: int, neighbours: Sequence[int], within: int) -> int:
    """Return the mask of all that is reachable from `start` along `neighbours` inside `within`.
    `neighbours` holds a mask for each index: parents give ancestors, children descendants,
    bidirected neighbours the district. `start` is included inside `within` (-1: no bounds)."""
    seen = waiting = start & within
    while waiting:
        low = waiting & -waiting
        new = neighbours[low.bit_length() - 1] & within & ~seen
        seen |= new
        waiting = (waiting ^ low) | new
    return seen


def components(within: int, neighbours: Sequence[int]) -> list[int]:
    """Return the connected components of `within`, as masks, ordered by smallest member."""
    parts = []
    while within:
        part = closure(within & -within, neighbours, within)
        parts.append(part)
        within &= ~part
    return parts


def subsets(mask: int) -> Iterator[int]:
    """Yield every subset of `mask` (the empty one first) in increasing integer order."""
    subset = 0
    while True:
        yield subset
        if subset == mask:
            return
        subset = (subset - mask) & mask
