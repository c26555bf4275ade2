"""Why an edge follows: a smallest set of statements that force it."""

from collections.abc import Callable, Sequence
from typing import Final

from pysat.examples.hitman import Hitman

from builder.causal.graph import LatentDAG
from builder.implied.encoding import Edge, Encoding
from builder.implied.statements import Statement

_ROUNDS: Final = 2000
"""Sets tried at most before a minimal set, perhaps not a smallest one, is shown."""


def cores(
    graph: LatentDAG, statements: Sequence[Statement]
) -> dict[Edge, tuple[tuple[Statement, ...], bool]]:
    """For every edge between measured variables, the statements of a smallest unsatisfiable core of
    its negation, in the order given, and whether it is known to be smallest.

    Statements that leave an edge open have no core: ``ValueError``.
    """
    told = [s for s in statements if s.kind not in ("reach", "closure")]
    encoding = Encoding(graph.observed)
    try:
        return {
            edge: _smallest(encoding, told, edge)
            for edge in graph.edges
            if edge[0] not in graph.latent
        }
    finally:
        encoding.close()


def _smallest(
    encoding: Encoding, statements: Sequence[Statement], edge: Edge
) -> tuple[tuple[Statement, ...], bool]:
    """Implicit hitting sets (Ignatiev et al. 2015): a core meets every set whose removal frees the
    edge, so a smallest set that meets all those found is a core, or shows another."""

    def forces(chosen: Sequence[int]) -> bool:
        return not encoding.possible((statements[i] for i in chosen), -encoding.edge[edge])

    everything = range(len(statements))
    if not forces(everything):
        raise ValueError(f"the statements do not force {edge[0]} -> {edge[1]}")
    with Hitman(solver="cadical153", htype="sorted") as hitman:
        for _ in range(_ROUNDS):
            chosen = sorted(hitman.get() or [])
            if forces(chosen):
                return tuple(statements[i] for i in chosen), True
            hitman.hit(_missing(chosen, everything, forces))
    kept = list(everything)
    for i in reversed(everything):
        if forces([j for j in kept if j != i]):
            kept.remove(i)
    return tuple(statements[i] for i in kept), False


def _missing(
    chosen: Sequence[int], everything: Sequence[int], forces: Callable[[Sequence[int]], bool]
) -> list[int]:
    """What is left out by a largest set around ``chosen`` that does not force the edge."""
    grown = list(chosen)
    for i in everything:
        if i not in grown and not forces([*grown, i]):
            grown.append(i)
    return [i for i in everything if i not in grown]
