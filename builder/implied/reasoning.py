"""Working a graph out step by step: one assumption at a time, refuted by what follows at once.

A step supposes that an edge is there, or is not, and follows what that forces (unit propagation);
where it meets a contradiction, the opposite holds. Statements from which every edge is decided in
this way have one model, and a proof of it that a person could write down. What can be worked out
does not depend on the order of steps, nor on a solver: propagation has one outcome.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

from pysat.solvers import Solver

from builder.implied.encoding import Edge, Encoding, Part
from builder.implied.statements import Statement


@dataclass(frozen=True, slots=True)
class Step:
    """Whether an edge is there: the contrary is refuted, at once or after ``under`` it some further
    edges were decided in the same way, one after another."""

    edge: Edge
    there: bool
    under: tuple["Step", ...] = ()

    def to_json(self) -> list[Any]:
        """Cause, effect, whether it is there, and the steps under the contrary."""
        return [*self.edge, self.there, [step.to_json() for step in self.under]]

    @staticmethod
    def read(record: Sequence[Any]) -> "Step":
        """What ``to_json`` wrote."""
        cause, effect, there, under = record
        return Step((cause, effect), bool(there), tuple(map(Step.read, under)))


_SOLVER: Final = "minicard"
"""It propagates, and is never asked to search. It takes numbers as they are: what follows from one
is what follows from its clauses, which would be a third of all that it has to read."""
_AGAIN: Final = "glucose4"
"""By which steps that somebody states are gone through again."""


class Reasoner:
    """Works out whether statements leave ``edges`` alone."""

    def __init__(self, encoding: Encoding, edges: Iterable[Edge]) -> None:
        self._encoding = encoding
        true = set(edges)
        self._steps = [Step(pair, pair in true) for pair in encoding.edge]
        self._known = _Known(_SOLVER, encoding)
        self._open: list[Step] = []

    def close(self) -> None:
        """Frees the solver."""
        self._known.close()

    def enough(
        self, statements: Sequence[Statement], first: Collection[Statement]
    ) -> frozenset[Statement] | None:
        """Statements among these with which every edge is decided by refuting one supposition at a
        time; None where some stay open. Those in ``first`` are tried before the rest is read.

        What has been refuted stays so with more statements: those that contain all of the question
        before, where that left edges open, are gone on with from there.
        """
        if not self._open or not self._known.told.issubset(statements):
            self._known.close()
            self._known, self._open = _Known(_SOLVER, self._encoding), self._steps
        for some in ([s for s in statements if s in first], statements):
            self._known.tell(some)
            _, self._open = self._refute(self._known.solver, self._open)
            if not self._open:
                return frozenset(self._known.told)
        return None

    def proof(
        self, statements: Sequence[Statement], *, nested: bool = False
    ) -> tuple[Step, ...] | None:
        """The refutations after which every edge is decided, in their order; None where some stay
        open. ``nested``: where one supposition at a time is not enough, further ones are made under
        it, one deep: a proof by more takes long to find, and to read.

        Edges that follow without any supposition take no step.
        """
        with closing(_Known(_SOLVER, self._encoding)) as known:
            known.tell(statements)
            found, left = self._refute(known.solver, self._steps)
            while left:
                deep = self._nested(known.solver, left) if nested else None
                if deep is None:
                    return None
                known.solver.add_clause([self._literal(deep)])
                more, left = self._refute(known.solver, left)
                found += [deep, *more]
            return tuple(found)

    def _refute(self, solver: Solver, open_still: list[Step]) -> tuple[list[Step], list[Step]]:
        """Refutes one supposition after another until none can be: the steps taken, and those whose
        edges stay open."""
        found: list[Step] = []
        while True:
            left = []
            for step in open_still:
                possible, forced = solver.propagate([-self._literal(step)])
                if possible:
                    left.append(step)
                    continue
                # What is refuted before anything follows from it was known already.
                if forced:
                    found.append(step)
                solver.add_clause([self._literal(step)])
            if len(left) == len(open_still):
                return found, left
            open_still = left

    def _literal(self, step: Step) -> int:
        return _literal(self._encoding, step)

    def _nested(self, solver: Solver, open_still: Sequence[Step]) -> Step | None:
        """The first of the open edges that suppositions under a supposition decide."""
        cases = [Step(step.edge, there) for step in open_still for there in (True, False)]
        for step in open_still:
            under = self._contradicted(solver, [-self._literal(step)], cases)
            if under is not None:
                return replace(step, under=under)
        return None

    def _contradicted(
        self, solver: Solver, known: Sequence[int], cases: Sequence[Step]
    ) -> tuple[Step, ...] | None:
        """What suppositions decide, in its order, until ``known`` is contradicted; None where that
        is not enough. What is not needed is left out."""
        follows: list[Step] = []
        reached = list(known)
        while solver.propagate(reached)[0]:
            for case in cases:
                literal = self._literal(case)
                if (
                    not {literal, -literal} & {*reached}
                    and not (solver.propagate([*reached, -literal])[0])
                ):
                    break
            else:
                return None
            follows.append(case)
            reached.append(literal)
        for step in follows[::-1]:
            fewer = [other for other in follows if other is not step]
            if _refuted(solver, self._encoding, known, fewer):
                follows = fewer
        return tuple(follows)


def proves(
    steps: Iterable[Step],
    names: Sequence[str],
    statements: Sequence[Statement],
    edges: Collection[Edge],
) -> bool:
    """Whether each step follows from the statements and those before it as it says, and after the
    last all ``edges`` among ``names``, and no others, are there without a further one."""
    encoding = Encoding(names)
    try:
        with closing(_Known(_AGAIN, encoding)) as known:
            known.tell(statements)
            for step in steps:
                literal = _literal(encoding, step)
                if not _refuted(known.solver, encoding, [-literal], step.under):
                    return False
                known.solver.add_clause([literal])
            return all(
                known.solver.propagate([-literal if pair in edges else literal]) == (False, [])
                for pair, literal in encoding.edge.items()
            )
    finally:
        encoding.close()


def _literal(encoding: Encoding, step: Step) -> int:
    """What a step decides."""
    return encoding.edge[step.edge] if step.there else -encoding.edge[step.edge]


def _refuted(
    solver: Solver, encoding: Encoding, known: Sequence[int], follows: Iterable[Step]
) -> bool:
    """Whether ``known`` is contradicted once what ``follows`` is known too, each of which is so."""
    reached = list(known)
    for step in follows:
        literal = _literal(encoding, step)
        if not _refuted(solver, encoding, [*reached, -literal], step.under):
            return False
        reached.append(literal)
    return not solver.propagate(reached)[0]


class _Known:
    """A solver that takes statements as true, once they are told."""

    def __init__(self, name: str, encoding: Encoding) -> None:
        self.solver = Solver(name)
        self.told: set[Statement] = set()
        self._encoding = encoding
        self._numbers = name != _SOLVER
        self._parts: set[Part] = set()

    def close(self) -> None:
        """Frees the solver."""
        self.solver.delete()

    def tell(self, statements: Iterable[Statement]) -> None:
        """Takes these statements as true too."""
        new = [statement for statement in statements if statement not in self.told]
        parts = self._encoding.parts(new, numbers=self._numbers)
        self.solver.append_formula(
            self._encoding.clauses(part for part in parts if part not in self._parts)
        )
        for literals, most in () if self._numbers else self._encoding.at_most(new):
            self.solver.add_atmost(literals, most)
        for statement in new:
            self.solver.add_clause([self._encoding.selector(statement)])
        self.told.update(new)
        self._parts.update(parts)
