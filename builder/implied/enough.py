"""Which sets of statements are enough to work a graph out, asked of many sets one after another.

More statements never say less. A set that contains one known to be enough is enough itself; one
that some other graph is known to satisfy is not; and where a few statements leave no other graph,
they are the first to work with. So most questions are answered by earlier ones, and the answer is
what it would be without them.
"""

from collections.abc import Sequence

from builder.causal.graph import LatentDAG
from builder.implied.encoding import Edge, Encoding
from builder.implied.reasoning import Reasoner
from builder.implied.statements import Statement, Truths


class Enough:
    """Whether some of the ``candidates``, all true, are enough to work out the graph with ``edges``
    by refuting one supposition at a time."""

    def __init__(
        self,
        encoding: Encoding,
        reasoner: Reasoner,
        edges: Sequence[Edge],
        candidates: Sequence[Statement],
    ) -> None:
        self._encoding = encoding
        self._reasoner = reasoner
        self._candidates = candidates
        self._enough: list[frozenset[Statement]] = []
        self._alone: list[frozenset[Statement]] = []
        self._broken: list[frozenset[Statement]] = []
        encoding.other_than(edges)

    def __call__(self, statements: Sequence[Statement]) -> bool:
        """Whether these are."""
        told = frozenset(statements)
        if any(few <= told for few in self._enough):
            return True
        if any(told.isdisjoint(broken) for broken in self._broken):
            return False
        alone = [few for few in self._alone if few <= told]
        first = min(alone, key=len) if alone else self._look(statements)
        found = None if first is None else self._reasoner.enough(statements, first)
        if found is not None:
            self._enough.append(found)
        return found is not None

    def _look(self, statements: Sequence[Statement]) -> frozenset[Statement] | None:
        """Statements among these that leave no other graph, as far as a brief search tells; None
        where it finds another."""
        other, alone = self._encoding.look(statements)
        if other is not None:
            holds = Truths(LatentDAG(self._encoding.names, other)).holds
            self._broken.append(frozenset(s for s in self._candidates if not holds(s)))
            return None
        if len(alone) < len(statements):
            self._alone.append(alone)
        return alone
