"""Graphs with cutpoints and their cut trees (CCR §5, Definition 5.2), and models over them.

A graph here has one root X, one leaf Y and at least one cutpoint. Its biconnected components then
form a chain, because a component at the end of the block tree must hold X or Y: the cut tree's
nodes are X, the cutpoints in order, and Y, and every earlier node points to every later one. A
context is a Boolean or a linear structural causal model over such a graph.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations, compress
from typing import Any, Final, Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from builder.graphs.graph import LatentDAG, members

KINDS: Final = ("cycle", "wheel", "random")
"""How a biconnected component can be made."""

PAPER_KINDS: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "figure-4 first": ((0, 1), (0, 2), (0, 3), (1, 3), (2, 3)),
    "figure-4 last": ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)),
}
"""Edges over 0 (root) to 3 (leaf) of the paper's components that :data:`KINDS` may not make."""

PAPER_GRAPHS: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    "figure-4": (("figure-4 first", 4), ("cycle", 2), ("figure-4 last", 4))
}
"""The paper's own examples: the kinds and sizes of their components in order. In Figure 4 X acts on
A, B and C, A and B on C, C on D, D on E and F, E on F, and both on Y."""

Pair = tuple[str, str]


def graph_of_parents(parents: Sequence[Sequence[int]], names: Sequence[str] = ()) -> LatentDAG:
    """Return the graph whose node v has ``parents[v]``, named by number without ``names``. Raises
    ``ValueError`` for what is no acyclic graph."""
    nodes = tuple(names or map(str, range(len(parents))))
    edges = [(nodes[p], nodes[v]) for v, row in enumerate(parents) for p in row]
    return LatentDAG(nodes, tuple(edges))


def sorted_graph(edges: Iterable[Pair]) -> LatentDAG:
    """Return the graph of some edges, causes first; raises ``ValueError`` for a cycle."""
    pairs = tuple(dict.fromkeys(edges))
    found = LatentDAG(tuple(dict.fromkeys(name for edge in pairs for name in edge)), pairs)
    return LatentDAG(found.topological_order(), pairs)


def parent_lists(dag: LatentDAG) -> tuple[tuple[int, ...], ...]:
    """Return the parents of each node as indices, ascending."""
    return tuple(tuple(members(mask)) for mask in dag.parent_masks)


def ancestors(dag: LatentDAG, node: int) -> tuple[int, ...]:
    """Return the node itself and all its ancestors, as indices, ascending."""
    return tuple(members(dag.ancestor_mask(1 << node)))


@dataclass(frozen=True, slots=True)
class CutTree:
    """The commutative cut tree: ``components[c]``, indices of the graph's nodes in topological
    order, joins ``nodes[c]`` to ``nodes[c + 1]``. ``nodes`` names X, the cutpoints, and Y."""

    nodes: tuple[str, ...]
    components: tuple[tuple[int, ...], ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Return all cause-effect pairs, C(n, 2) of them for n nodes."""
        return tuple(combinations(self.nodes, 2))

    @property
    def global_pair(self) -> Pair:
        """Return the global pair (X, Y)."""
        return self.nodes[0], self.nodes[-1]

    @property
    def local_pairs(self) -> tuple[Pair, ...]:
        """Return every pair but the global one."""
        return tuple(pair for pair in self.pairs if pair != self.global_pair)

    def span(self, pair: Pair) -> int:
        """Return how many components lie between cause and effect of a pair, 1 if adjacent."""
        return self.nodes.index(pair[1]) - self.nodes.index(pair[0])


def cut_tree(dag: LatentDAG) -> CutTree:
    """Return the commutative cut tree of a graph whose causes are listed first (Definition 5.2).
    Raises ``ValueError`` without the paper's A1 to A3: one root, one leaf, a cutpoint."""
    roots = [name for name in dag.nodes if not dag.parents(name)]
    leaves = [name for name in dag.nodes if not dag.children(name)]
    if len(roots) != 1 or len(leaves) != 1:
        raise ValueError(f"{len(roots)} roots and {len(leaves)} leaves; one of each is needed")
    cuts = sorted(nx.articulation_points(nx.Graph(dag.edges)), key=dag.index.__getitem__)
    if not cuts:
        raise ValueError("no cutpoint: the graph is biconnected or a single edge")
    ends = (*roots, *cuts, *leaves)
    reach = [dag.descendant_mask(dag.mask(end)) for end in ends]
    components = tuple(
        tuple(members(reach[c] & ~reach[c + 1] | dag.mask(ends[c + 1])))
        for c in range(len(ends) - 1)
    )
    return CutTree(ends, components)


def component_edges(kind: str, size: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return the edges of one component over 0 (its root) to ``size - 1`` (its leaf). *cycle*: a
    chain and an edge root -> leaf. *wheel*: a hub 0 that points to a rim cycle. *random*: each
    forward edge with probability 1/2, until the skeleton is biconnected with one source and one
    sink. Two nodes are a bridge. ``PAPER_KINDS`` have their own edges and size."""
    if kind in PAPER_KINDS:
        return list(PAPER_KINDS[kind])
    if size == 2:
        return [(0, 1)]
    if kind == "cycle" or size == 3:
        return [*((v, v + 1) for v in range(size - 1)), (0, size - 1)]
    if kind == "wheel":
        rim = [*((v, v + 1) for v in range(1, size - 1)), (1, size - 1)]
        return sorted({*((0, v) for v in range(1, size)), *rim})
    every = list(combinations(range(size), 2))
    while True:
        edges = [*compress(every, rng.random(len(every)) < 0.5)]
        sources, sinks = {a for a, _ in edges}, {b for _, b in edges}
        is_chainable = sources == {*range(size - 1)} and sinks == {*range(1, size)}
        if is_chainable and nx.is_biconnected(nx.Graph(edges)):
            return edges


def chain(kinds: Sequence[str], sizes: Sequence[int], rng: np.random.Generator) -> LatentDAG:
    """Return the graph of components joined leaf to root, nodes called by index."""
    edges: list[tuple[int, int]] = []
    offset = 0
    for kind, size in zip(kinds, sizes, strict=True):
        edges += [(a + offset, b + offset) for a, b in component_edges(kind, size, rng)]
        offset += size - 1
    return graph_of_parents([[a for a, b in edges if b == v] for v in range(offset + 1)])


Operator = Literal["or", "and"]
Bits = NDArray[np.bool_]

TENTHS: Final = 10
"""Exogenous probabilities are whole tenths, so that every quantity is an exact fraction."""


@dataclass(frozen=True)
class _Model:
    """The base of contexts: a graph, whose nodes are listed after their parents."""

    dag: LatentDAG

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Return the parents of each node as indices, ascending."""
        return parent_lists(self.dag)

    def graph_json(self) -> dict[str, Any]:
        """Return the names of the nodes, and the parents of each as indices."""
        return {"names": list(self.dag.nodes), "parents": [list(row) for row in self.parents]}


@dataclass(frozen=True)
class BooleanContext(_Model):
    """Binary variables with one exogenous bit each. Functions are monotone (CCR Appendix F). A node
    without parents equals its bit. Any other node is ``bit own[v] (parents joined by among[v])``.
    With equal operators that is one operator over the bit and all parents. ``tenths[v]``, from 1 to
    9, is ten times the probability that the bit of node v is one."""

    own: tuple[Operator, ...]
    among: tuple[Operator, ...]
    tenths: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return a lossless JSON form."""
        fields = {name: list(getattr(self, name)) for name in ("own", "among", "tenths")}
        return {"kind": "boolean", **self.graph_json(), **fields}


@dataclass(frozen=True)
class LinearContext(_Model):
    """A linear-Gaussian model (CCR Appendix C): ``v = sum of coefficient x parent + N(0, 1)``, with
    ``coefficients[v]`` aligned with ``parents[v]``."""

    coefficients: tuple[tuple[Fraction, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """Return a lossless JSON form."""
        rows = [[str(value) for value in row] for row in self.coefficients]
        return {"kind": "linear", **self.graph_json(), "coefficients": rows}


Context = BooleanContext | LinearContext


def context_from_json(record: Mapping[str, Any]) -> Context:
    """Return the context that ``to_json`` wrote."""
    dag = graph_of_parents(record["parents"], record["names"])
    if record["kind"] == "linear":
        return LinearContext(
            dag, tuple(tuple(Fraction(value) for value in row) for row in record["coefficients"])
        )
    return BooleanContext(
        dag, tuple(record["own"]), tuple(record["among"]), tuple(record["tenths"])
    )


def evaluate(
    context: BooleanContext,
    bits: Bits,
    do: Mapping[int, bool] = {},
    nodes: Iterable[int] | None = None,
) -> Bits:
    """Return every node's value, (nodes, units), from bits of that shape. ``do`` sets by index.
    Others than ``nodes``, in causal order, keep their bits."""
    operators, values = {"or": np.logical_or, "and": np.logical_and}, bits.copy()
    for node in range(len(bits)) if nodes is None else nodes:
        if node in do:
            values[node] = do[node]
        elif parents := context.parents[node]:
            among = reduce(operators[context.among[node]], (values[p] for p in parents))
            values[node] = operators[context.own[node]](bits[node], among)
    return values


def patterns(count: int) -> Bits:
    """Return all patterns of ``count`` bits, (count, 2^count): row k of column p is bit k of p."""
    return (np.arange(1 << count)[None, :] >> np.arange(count)[:, None] & 1).astype(bool)


def pattern_weights(tenths: Sequence[int]) -> NDArray[np.int64]:
    """Return each pattern's probability times 10^count, in the order of :func:`patterns`.
    ``tenths`` are ten times each bit's, of at most 18 bits: weights have 64 bits."""
    assert len(tenths) <= 18
    weights = np.ones(1, dtype=np.int64)
    for tenth in tenths:
        weights = np.concatenate([weights * (TENTHS - tenth), weights * tenth])
    return weights
