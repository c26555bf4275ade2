"""Working a graph out step by step: one assumption at a time, refuted by what follows at once.

A step supposes that an edge is there, or is not, and follows what that forces (unit propagation);
where it meets a contradiction, the opposite holds. Statements from which every edge is decided in
this way have one model, and a proof of it that a person could write down. What can be worked out
does not depend on the order of steps, nor on a solver: propagation has one outcome.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from pysat.solvers import Solver

from builder.implied.encoding import Edge, Encoding
from builder.implied.statements import Statement

_SOLVER: Final = "minisat22"
"""It propagates, and is never asked to search."""


class Reasoner:
    """Works out whether statements leave ``edges`` alone."""

    def __init__(self, encoding: Encoding, edges: Iterable[Edge]) -> None:
        self._encoding = encoding
        true = set(edges)
        self._wrong = [
            -literal if pair in true else literal for pair, literal in encoding.edge.items()
        ]

    def steps(self, statements: Sequence[Statement]) -> int | None:
        """The number of refutations after which every edge is decided; None where some stay open.

        Edges that follow without any supposition take no step.
        """
        with Solver(_SOLVER, bootstrap_with=self._encoding.clauses(statements)) as solver:
            for statement in statements:
                solver.add_clause([self._encoding.selector(statement)])
            open_still = self._wrong
            steps = 0
            while open_still:
                left = []
                for wrong in open_still:
                    possible, forced = solver.propagate([wrong])
                    if possible:
                        left.append(wrong)
                        continue
                    # What is refuted before anything follows from it was known already.
                    steps += len(forced) > 0
                    solver.add_clause([-wrong])
                if len(left) == len(open_still):
                    return None
                open_still = left
            return steps
