"""Working a graph out step by step: one assumption at a time, refuted by what follows at once.

A step supposes that an edge is there, or is not, and follows what that forces (unit propagation);
where it meets a contradiction, the opposite holds. Statements from which every edge is decided in
this way have one model, and a proof of it that a person could write down. What can be worked out
does not depend on the order of steps, nor on a solver: propagation has one outcome.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from pysat.solvers import Solver

from builder.implied.encoding import Edge, Encoding
from builder.implied.statements import Statement

Step = tuple[Edge, bool]
"""An edge, and whether it is there: what follows once the contrary is refuted."""

_SOLVER: Final = "minisat22"
"""It propagates, and is never asked to search."""
_AGAIN: Final = "glucose4"
"""By which steps that somebody states are gone through again."""


class Reasoner:
    """Works out whether statements leave ``edges`` alone."""

    def __init__(self, encoding: Encoding, edges: Iterable[Edge]) -> None:
        self._encoding = encoding
        true = set(edges)
        self._open = [
            (-literal if pair in true else literal, (pair, pair in true))
            for pair, literal in encoding.edge.items()
        ]

    def proof(self, statements: Sequence[Statement]) -> tuple[Step, ...] | None:
        """The refutations after which every edge is decided, in their order; None where some stay
        open.

        Edges that follow without any supposition take no step.
        """
        found: list[Step] = []
        with _given(_SOLVER, self._encoding, statements) as solver:
            open_still = self._open
            while open_still:
                left = []
                for wrong, step in open_still:
                    possible, forced = solver.propagate([wrong])
                    if possible:
                        left.append((wrong, step))
                        continue
                    # What is refuted before anything follows from it was known already.
                    if forced:
                        found.append(step)
                    solver.add_clause([-wrong])
                if len(left) == len(open_still):
                    return None
                open_still = left
            return tuple(found)


def proves(
    steps: Iterable[Step],
    names: Sequence[str],
    statements: Sequence[Statement],
    edges: Collection[Edge],
) -> bool:
    """Whether each step follows from the statements and those before it by one supposition, and
    after the last all ``edges`` among ``names``, and no others, are there without a further one."""
    encoding = Encoding(names)
    try:
        with _given(_AGAIN, encoding, statements) as solver:
            for edge, there in steps:
                literal = encoding.edge[edge] if there else -encoding.edge[edge]
                if solver.propagate([-literal])[0]:
                    return False
                solver.add_clause([literal])
            return all(
                solver.propagate([-literal if pair in edges else literal]) == (False, [])
                for pair, literal in encoding.edge.items()
            )
    finally:
        encoding.close()


@contextmanager
def _given(name: str, encoding: Encoding, statements: Sequence[Statement]) -> Iterator[Solver]:
    """A solver that takes the statements as true."""
    with Solver(name, bootstrap_with=encoding.clauses(statements)) as solver:
        for statement in statements:
            solver.add_clause([encoding.selector(statement)])
        yield solver
