"""Statements as clauses: a SAT encoding of the DAGs over a story's measured variables.

Unmeasured variables stay out of it: each ``reach`` statement gives all edges of one. A DAG is a set
of edges that agrees with a total order of the variables. Reachability is exact: r(a, b) holds if
and only if a -> b, or a -> c and r(c, b) for some c; on an acyclic graph that recursion has one
solution. Every statement has a selector, so that one solver answers for any subset of them. The
solver is asked for nothing but whether a subset has a model: what is read off a model would depend
on its version. ``clauses`` gives those that some statements need, for reasoning of another kind
(:mod:`builder.implied.reasoning`). What is only asserted is defined in one direction, what is only
denied in the other (Plaisted & Greenbaum 1986): the other halves would say nothing more about
edges.

The gate proves uniqueness again by another encoding (:mod:`builder.reader.deduce`).
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations, permutations
from typing import Final

from pysat.card import CardEnc, EncType
from pysat.solvers import Solver

from builder.implied.statements import Statement

Edge = tuple[str, str]

Part = Statement | tuple[str, str | None, bool] | None
"""What clauses belong to: a statement, one half of the definition of the chains to a variable, all
or those that avoid another, or (None) all graphs."""

SOLVER: Final = "minisat22"
"""It keeps to the number of conflicts it is given, where others go on to their next restart."""
_BRIEFLY: Final = 100
"""Conflicts after which a brief search for a graph is given up."""


class Encoding:
    """The DAGs over ``names`` under any subset of the statements it has been given."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._solver = Solver(SOLVER)
        self._clauses: dict[Part, list[tuple[int, ...]]] = {}
        self._part: Part = None
        self._uses: dict[Part, dict[Part, None]] = {}
        self._top = 0
        self._selectors: dict[Statement, int] = {}
        self._counted: dict[Statement, tuple[list[int], int]] = {}
        pairs = list(permutations(self.names, 2))
        self.edge = {pair: self._new() for pair in pairs}
        self._reaches = {pair: self._new() for pair in pairs}
        self._chains: dict[tuple[str, str, str | None], int] = {
            (a, b, None): reaches for (a, b), reaches in self._reaches.items()
        }
        self._order()
        for a, b in pairs:
            self._define_chain(a, b, None, asserted=False)

    def close(self) -> None:
        """Frees the solver."""
        self._solver.delete()

    def parts(self, statements: Sequence[Statement], *, numbers: bool = True) -> list[Part]:
        """What has the clauses that say what the statements do: all graphs, chains, each statement
        itself; without ``numbers``, not the statements that give one."""
        for statement in statements:
            self.selector(statement)
        used = dict.fromkeys(part for statement in statements for part in self._uses[statement])
        told = (statement for statement in statements if numbers or statement not in self._counted)
        return [None, *used, *told]

    def clauses(self, parts: Iterable[Part]) -> Iterator[tuple[int, ...]]:
        """The clauses of these, those of statements under their selectors."""
        for part in parts:
            yield from self._clauses.get(part, ())

    def at_most(self, statements: Iterable[Statement]) -> Iterator[tuple[list[int], int]]:
        """What statements that give a number say: of these literals at most so many are true."""
        for statement in statements:
            literals, number = self._counted.get(statement, ([], 0))
            for some, most in (
                (literals, number),
                ([-v for v in literals], len(literals) - number),
            ):
                if most < len(some):
                    yield some, most

    def other_than(self, edges: Iterable[Edge]) -> None:
        """Rules out the graph with exactly these edges, for good."""
        true = set(edges)
        other = [-self.edge[pair] if pair in true else self.edge[pair] for pair in self.edge]
        self._solver.add_clause(other)

    def possible(self, statements: Iterable[Statement], *literals: int) -> bool:
        """Whether some graph satisfies all these statements, and the literals of edges given."""
        chosen = [self.selector(statement) for statement in statements]
        return bool(self._solver.solve(assumptions=[*chosen, *literals]))

    def look(
        self, statements: Iterable[Statement]
    ) -> tuple[tuple[Edge, ...] | None, frozenset[Statement]]:
        """A brief search for a graph that satisfies the statements: the edges of one, or None and
        those of the statements that leave none; all of them where the search was given up.

        Nothing that enters a release may depend on which: another version of the solver may find
        another graph, or find it sooner.
        """
        chosen = {self.selector(statement): statement for statement in statements}
        self._solver.conf_budget(_BRIEFLY)
        found = self._solver.solve_limited(assumptions=list(chosen))
        if found:
            model = self._solver.get_model()
            return tuple(pair for pair, v in self.edge.items() if model[v - 1] > 0), frozenset()
        needed = self._solver.get_core() if found is False else chosen
        return None, frozenset(chosen[literal] for literal in needed or ())

    def selector(self, statement: Statement) -> int:
        """The literal that asserts a statement; its clauses are added when it is first asked for.

        ``reach`` and ``closure`` say nothing about edges between measured variables.
        """
        if statement not in self._selectors:
            self._selectors[statement] = self._new()
            self._uses[statement] = {}
            with self._adding_to(statement):
                self._assert(statement, self._selectors[statement])
        return self._selectors[statement]

    # --- the graphs ---

    def _order(self) -> None:
        """A total order with which every edge agrees."""
        before: dict[Edge, int] = {}
        for i, a in enumerate(self.names):
            for b in self.names[:i]:
                before[a, b] = self._new()
                before[b, a] = -before[a, b]
        # Each clause once: it says that three do not follow one another in a ring.
        for a, *others in combinations(self.names, 3):
            for b, c in permutations(others):
                self._add(-before[a, b], -before[b, c], -before[c, a])
        for pair, reaches in self._reaches.items():
            self._add(-self.edge[pair], reaches)
            self._add(-reaches, before[pair])

    # --- the statements ---

    def _assert(self, statement: Statement, on: int) -> None:
        """Adds what a statement says, under its selector."""
        names = statement.names
        match statement.kind:
            case "direct":
                self._add(-on, self.edge[names[0], names[1]])
            case "not_direct":
                self._add(-on, -self.edge[names[0], names[1]])
            case "moves":
                self._add(-on, self._avoiding(names[0], names[1], None, asserted=True))
            case "still":
                self._add(-on, -self._reaches[names[0], names[1]])
            case "before":
                self._add(-on, -self._reaches[names[1], names[0]])
            case "only_through":
                a, b, m = names
                self._add(-on, self._avoiding(a, m, None, asserted=True))
                self._add(-on, self._avoiding(m, b, None, asserted=True))
                self._add(-on, -self._avoiding(a, b, m, asserted=False))
            case "causes":
                self._count(
                    statement, [self.edge[a, names[0]] for a in self._besides(names[0])], on
                )
            case "effects":
                self._count(
                    statement, [self.edge[names[0], b] for b in self._besides(names[0])], on
                )
            case "total":
                self._count(statement, list(self.edge.values()), on)
            case "shared":
                a, b = names
                self._add(-on, *(self._acts_on_both(c, a, b) for c in self._besides(a, b)))
            case "unshared":
                a, b = names
                for c in self._besides(a, b):
                    chains = (self._avoiding(c, *ends, asserted=False) for ends in ((a, b), (b, a)))
                    self._add(-on, *(-chain for chain in chains))
            case "reach" | "closure":
                pass

    def _besides(self, *out: str | None) -> list[str]:
        return [name for name in self.names if name not in out]

    def _acts_on_both(self, c: str, a: str, b: str) -> int:
        """A literal that implies chains from ``c`` to ``a`` and to ``b`` that avoid the other."""
        return self._implying(
            self._avoiding(c, a, b, asserted=True), self._avoiding(c, b, a, asserted=True)
        )

    def _avoiding(self, a: str, b: str, avoided: str | None, *, asserted: bool) -> int:
        """A literal for: some chain from ``a`` to ``b`` avoids ``avoided`` (None: nothing).

        It implies such a chain if it is to be ``asserted``, otherwise such a chain implies it.
        """
        part = (b, avoided, asserted)
        self._uses.setdefault(self._part, {})[part] = None
        starts = self._besides(b, avoided)
        if (a, b, avoided) not in self._chains:
            self._chains |= {(start, b, avoided): self._new() for start in starts}
        if part not in self._clauses:
            with self._adding_to(part):
                for start in starts:
                    self._define_chain(start, b, avoided, asserted)
        return self._chains[a, b, avoided]

    def _define_chain(self, start: str, b: str, avoided: str | None, asserted: bool) -> None:
        chain = self._chains[start, b, avoided]
        rests = {c: self._chains[c, b, avoided] for c in self._besides(start, b, avoided)}
        if asserted:
            steps = [self._implying(self.edge[start, c], rest) for c, rest in rests.items()]
            self._add(-chain, self.edge[start, b], *steps)
            return
        self._add(-self.edge[start, b], chain)
        for c, rest in rests.items():
            self._add(-self.edge[start, c], -rest, chain)

    def _count(self, statement: Statement, literals: list[int], on: int) -> None:
        """Exactly as many of the literals as is stated, by sequential counters (Sinz 2005)."""
        assert statement.number is not None
        self._counted[statement] = literals, statement.number
        clauses = CardEnc.equals(literals, statement.number, self._top, encoding=EncType.seqcounter)
        self._top = max(self._top, clauses.nv)
        for clause in clauses.clauses:
            self._add(-on, *clause)

    # --- clauses ---

    def _implying(self, one: int, other: int) -> int:
        """A literal that implies both."""
        both = self._new()
        self._add(-both, one)
        self._add(-both, other)
        return both

    def _new(self) -> int:
        self._top += 1
        return self._top

    @contextmanager
    def _adding_to(self, part: Part) -> Iterator[None]:
        """What is added meanwhile belongs to ``part``."""
        outside, self._part = self._part, part
        yield
        self._part = outside

    def _add(self, *clause: int) -> None:
        self._clauses.setdefault(self._part, []).append(clause)
        self._solver.add_clause(clause)
