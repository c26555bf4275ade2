"""What follows from claims about a graph: the edges that every graph has of which they are true.

Claims, by kind and names: direct, not_direct (A, B) · moves, still (A, B): a directed path from A
to B, or none · before (A, B): none from B to A · only_through (A, B, M): a path, and M on all of
them · causes, effects (A, k): numbers of parents and children · shared, unshared (A, B): a third
variable has a path to A without B and one to B without A, or none has · total (m) edges · reach
(U, ...): the children of an unmeasured variable, outside all the others · closure.

A path of at most 2, 4, 8, ... edges is two paths of half the length, and a graph is acyclic where
no two variables have paths both ways; a path that avoids a variable is counted step by step;
numbers are totalizers (Bailleux & Boufkhad 2003). None of that is how stories are made, so that the
one proves the other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Final

from pysat.card import CardEnc, EncType
from pysat.solvers import Solver

Edge = tuple[str, str]
Claim = tuple[str, ...]

_SOLVER: Final = "cadical153"


@dataclass(frozen=True, slots=True)
class Deduction:
    """``edges`` are in every graph of which the claims are true; ``graphs`` says how many of those
    there are: 0, 1, or 2 for several."""

    edges: frozenset[Edge]
    graphs: int


def deduce(names: Sequence[str], claims: Iterable[Claim]) -> Deduction:
    """What follows from claims about the measured variables ``names``; ``reach`` is added to it.

    Raises ``ValueError`` for a claim of another kind, and ``KeyError`` for a name not given.
    """
    return _deduce(tuple(names), tuple(sorted(set(claims))))


@lru_cache(maxsize=8)
def _deduce(names: tuple[str, ...], told: tuple[Claim, ...]) -> Deduction:
    """Kept while the views of a scene, which share its story, are looked at one after another."""
    problem = _Graphs(names)
    try:
        for claim in told:
            problem.claim(*claim)
        model = problem.model()
        if model is None:
            return Deduction(frozenset(), 0)
        unique = problem.model(problem.other_than(model)) is None
        edges = model if unique else problem.in_all(model)
    finally:
        problem.solver.delete()
    hidden = {(claim[1], child) for claim in told if claim[0] == "reach" for child in claim[2:]}
    return Deduction(frozenset(edges | hidden), 1 if unique else 2)


class _Graphs:
    """The acyclic graphs over ``names`` of which the claims made so far are true."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.solver = Solver(_SOLVER)
        self.top = 0
        self.edge = {pair: self.new() for pair in permutations(self.names, 2)}
        self._walks: dict[tuple[str, str], dict[str, int]] = {}
        self.path = self._paths()
        self._acyclic()

    def claim(self, kind: str, *about: str) -> None:
        """Makes one claim."""
        match kind:
            case "direct":
                self.add(self.edge[about[0], about[1]])
            case "not_direct":
                self.add(-self.edge[about[0], about[1]])
            case "moves":
                self.add(self.path[about[0], about[1]])
            case "still":
                self.add(-self.path[about[0], about[1]])
            case "before":
                self.add(-self.path[about[1], about[0]])
            case "only_through":
                a, b, m = about
                self.add(self.path[a, b])
                self.add(-self.walk(a, b, m))
            case "causes":
                self.count([self.edge[a, about[0]] for a in self.besides(about[0])], about[1])
            case "effects":
                self.count([self.edge[about[0], b] for b in self.besides(about[0])], about[1])
            case "total":
                self.count(list(self.edge.values()), about[0])
            case "shared":
                a, b = about
                third = []
                for c in self.besides(a, b):
                    third.append(self.new())
                    self.add(-third[-1], self.walk(c, a, b))
                    self.add(-third[-1], self.walk(c, b, a))
                self.add(*third)
            case "unshared":
                a, b = about
                for c in self.besides(a, b):
                    self.add(-self.walk(c, a, b), -self.walk(c, b, a))
            case "reach" | "closure":
                pass
            case _:
                raise ValueError(f"{kind!r} is no kind of claim")

    def model(self, *literals: int) -> set[Edge] | None:
        """The edges of some graph, or None if there is none."""
        if not self.solver.solve(assumptions=list(literals)):
            return None
        true = {literal for literal in self.solver.get_model() or () if literal > 0}
        return {pair for pair, literal in self.edge.items() if literal in true}

    def other_than(self, edges: set[Edge]) -> int:
        """A literal that rules out the graph with these edges."""
        on = self.new()
        self.add(-on, *(-v if pair in edges else v for pair, v in self.edge.items()))
        return on

    def in_all(self, edges: set[Edge]) -> set[Edge]:
        """Those of ``edges`` that every graph has."""
        kept = set(edges)
        while True:
            some_missing = self.new()
            self.add(-some_missing, *(-self.edge[pair] for pair in sorted(kept)))
            model = self.model(some_missing)
            if model is None:
                return kept
            kept &= model

    # --- the graphs ---

    def _acyclic(self) -> None:
        """No two variables have paths both ways; and, as follows, paths that meet make one."""
        for a, b in permutations(self.names, 2):
            self.add(-self.path[a, b], -self.path[b, a])
            for c in self.besides(a, b):
                self.add(-self.path[a, c], -self.path[c, b], self.path[a, b])

    def _paths(self) -> dict[Edge, int]:
        """Whether there is a path: of one edge, of up to two, of up to four, and so on."""
        path, length = dict(self.edge), 1
        while length < len(self.names) - 1:
            longer = {pair: self.new() for pair in path}
            for (a, b), literal in longer.items():
                halves = [path[a, b]]
                for c in self.besides(a, b):
                    halves.append(self.both(path[a, c], path[c, b]))
                for half in halves:
                    self.add(-half, literal)
                self.add(-literal, *halves)
            path, length = longer, 2 * length
        return path

    def walk(self, a: str, b: str, avoided: str) -> int:
        """Whether there is a path from ``a`` to ``b`` without ``avoided``: of one step, of up to
        two, and so on."""
        if (b, avoided) not in self._walks:
            inner = self.besides(b, avoided)
            reaching = {start: self.edge[start, b] for start in inner}
            for _ in range(len(inner) - 1):
                farther = {}
                for start in inner:
                    ways = [reaching[start]]
                    for c in inner:
                        if c != start:
                            ways.append(self.both(self.edge[start, c], reaching[c]))
                    farther[start] = self.new()
                    for way in ways:
                        self.add(-way, farther[start])
                    self.add(-farther[start], *ways)
                reaching = farther
            # That a path is one without the variable avoided, or one to it and one on from there,
            # follows; but a solver that has to find it out can take ten times as long.
            for start, without in reaching.items():
                self.add(-self.path[start, b], without, self.path[start, avoided])
                self.add(-self.path[start, b], without, self.path[avoided, b])
            self._walks[b, avoided] = reaching
        return self._walks[b, avoided][a]

    # --- clauses ---

    def besides(self, *out: str) -> list[str]:
        """The other names."""
        return [name for name in self.names if name not in out]

    def count(self, literals: list[int], number: str) -> None:
        """Exactly so many of the literals."""
        clauses = CardEnc.equals(literals, int(number), self.top, encoding=EncType.totalizer)
        self.top = max(self.top, clauses.nv)
        for clause in clauses.clauses:
            self.add(*clause)

    def both(self, one: int, other: int) -> int:
        """A literal for both."""
        both = self.new()
        self.add(-both, one)
        self.add(-both, other)
        self.add(both, -one, -other)
        return both

    def new(self) -> int:
        """A fresh literal."""
        self.top += 1
        return self.top

    def add(self, *clause: int) -> None:
        """One clause."""
        self.solver.add_clause(clause)
