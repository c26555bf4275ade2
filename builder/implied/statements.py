"""What an implied story may state, and what each statement means exactly.

Statements are about latent DAGs over the names of a story: measured variables V and unmeasured
ones U. Unmeasured variables have no causes. A *chain* from A to B is a directed path of at least
one edge; between measured variables it runs through measured ones alone. A chain avoids C if C is
not on it.

==================  ================================================================================
statement           holds in a graph when
==================  ================================================================================
direct(A, B)        A -> B is an edge
not_direct(A, B)    it is not
moves(A, B)         there is a chain from A to B
still(A, B)         there is none
before(A, B)        there is no chain from B to A: ``still(B, A)``, told as time
only_through(A,B,M) there is a chain from A to B, and every one meets M
causes(B) = k       B has k parents in V
effects(A) = k      A has k children in V
shared(A, B)        a third measured variable has a chain to A that avoids B and one to B that
                    avoids A
unshared(A, B)      none has
reach(U) = {...}    the children of the unmeasured U are exactly these
total = m           there are m edges within V
closure             nothing unnamed acts on two of the variables, so that this graph is all there is
==================  ================================================================================

Only ``direct`` names an edge between measured variables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from builder.causal.bits import closure
from builder.causal.graph import LatentDAG

Kind = Literal[
    "direct", "not_direct", "moves", "still", "before", "only_through",
    "causes", "effects", "shared", "unshared", "reach", "total", "closure",
]  # fmt: skip

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
PAIRS: Final = frozenset({"direct", "not_direct", "moves", "still", "before", "shared", "unshared"})
COUNTS: Final = frozenset({"causes", "effects"})
NEGATIONS: Final = frozenset({"not_direct", "still", "unshared"})
"""They are given up first where a set of statements is cut down to a minimal one."""

MOST: Final = 35
"""The most statements of one story."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its kind, the names it is about in the order of the table above, and the
    number that it tells, if it tells one. Names without an order among them are sorted: both of
    ``shared`` and ``unshared``, and the children of ``reach``, which stand after U."""

    kind: Kind
    names: tuple[str, ...] = ()
    number: int | None = None

    @property
    def what(self) -> tuple[str, ...]:
        """As an attestation records it: kind, names, number."""
        return (self.kind, *self.names, *(() if self.number is None else (str(self.number),)))

    @staticmethod
    def read(what: Sequence[str]) -> "Statement":
        """The statement that :attr:`what` recorded. Raises ``ValueError`` for another record."""
        kind, *rest = what
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of statement; the kinds are {', '.join(KINDS)}")
        number = int(rest.pop()) if kind in COUNTS | {"total"} and rest else None
        found = Statement(kind, tuple(rest), number)
        if not _well_formed(found):
            raise ValueError(f"{' / '.join(what)} is no statement of kind {kind}")
        return found

    def __str__(self) -> str:
        inside = ", ".join(self.names)
        return f"{self.kind}({inside})" + ("" if self.number is None else f" = {self.number}")


def _well_formed(statement: Statement) -> bool:
    """Whether the numbers of names and of counts fit the kind."""
    kind, names = statement.kind, statement.names
    counted = kind in COUNTS or kind == "total"
    if counted != (statement.number is not None) or len(set(names)) != len(names):
        return False
    if kind == "reach":
        return len(names) >= 1
    return len(names) == (
        2 if kind in PAIRS else 3 if kind == "only_through" else 1 if kind in COUNTS else 0
    )


def holds(statement: Statement, graph: LatentDAG) -> bool:
    """Whether a statement is true of a graph over the names of its story.

    Raises ``ValueError`` for a name that is no node.
    """
    return Truths(graph).holds(statement)


class Truths:
    """What is true of one graph: the statements, decided by reachability over bitmasks."""

    def __init__(self, graph: LatentDAG) -> None:
        self.graph = graph
        self._seen: dict[tuple[int, int], int] = {}

    def chain(self, a: str, b: str, avoiding: str | None = None) -> bool:
        """Whether a chain leads from ``a`` to ``b``, and one that avoids a third name if given."""
        avoided = 0 if avoiding is None else self.graph.mask(avoiding)
        return bool(self._reached(self.graph.mask(a), avoided) & self.graph.mask(b))

    def parents(self, name: str) -> int:
        """The number of measured direct causes."""
        return self._measured(self.graph.parent_masks, name)

    def children(self, name: str) -> int:
        """The number of measured direct effects."""
        return self._measured(self.graph.child_masks, name)

    def shared(self, a: str, b: str) -> bool:
        """Whether a third measured variable acts on both, on each by a way that avoids the other"""
        return any(
            self.chain(c, a, avoiding=b) and self.chain(c, b, avoiding=a)
            for c in self.graph.observed
            if c not in (a, b)
        )

    def total(self) -> int:
        """The number of edges between measured variables."""
        return sum(a not in self.graph.latent for a, _ in self.graph.edges)

    def holds(self, statement: Statement) -> bool:
        """Whether a statement is true; raises ``ValueError`` for a name that is no node."""
        kind, names, number = statement.kind, statement.names, statement.number
        match kind:
            case "direct":
                return names[0] in self.graph.parents(names[1])
            case "not_direct":
                return names[0] not in self.graph.parents(names[1])
            case "moves":
                return self.chain(names[0], names[1])
            case "still":
                return not self.chain(names[0], names[1])
            case "before":
                return not self.chain(names[1], names[0])
            case "only_through":
                a, b, m = names
                return self.chain(a, b) and not self.chain(a, b, avoiding=m)
            case "causes":
                return self.parents(names[0]) == number
            case "effects":
                return self.children(names[0]) == number
            case "shared":
                return self.shared(*names)
            case "unshared":
                return not self.shared(*names)
            case "reach":
                return set(self.graph.children(names[0])) == set(names[1:])
            case "total":
                return self.total() == number
            case "closure":
                return True  # it is about what the graph leaves out

    def _reached(self, start: int, avoided: int) -> int:
        key = start, avoided
        if key not in self._seen:
            masks = self.graph.child_masks
            self._seen[key] = closure(start, masks, ~avoided) & ~start
        return self._seen[key]

    def _measured(self, masks: Sequence[int], name: str) -> int:
        self.graph.mask(name)
        return (masks[self.graph.index[name]] & self.graph.observed_mask).bit_count()


def named_edges(statements: Sequence[Statement]) -> frozenset[tuple[str, str]]:
    """The edges between measured variables that some statement names."""
    return frozenset((s.names[0], s.names[1]) for s in statements if s.kind == "direct")


def implied_share(statements: Sequence[Statement], graph: LatentDAG) -> float:
    """The share of the edges between measured variables that no statement names; 0 without any."""
    edges = {(a, b) for a, b in graph.edges if a not in graph.latent}
    return len(edges - named_edges(statements)) / len(edges) if edges else 0.0
