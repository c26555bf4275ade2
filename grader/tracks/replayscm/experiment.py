"""Alternative-SCM: does a proposed experiment tell the alternative from the reference (§G)?

An experiment sets one variable to a constant. The roots that it does not set range over all their
assignments; a cell is any endogenous variable that it does not set.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.tracks.replayscm.boolean import input_column
from grader.tracks.replayscm.problem import Program
from grader.tracks.replayscm.replay import run


@dataclass(frozen=True, slots=True)
class Separation:
    """How far two programs with the same roots differ under one intervention.

    ``pair`` is the share of root assignments that give a different row (PairDisagreementRate),
    ``cell`` the share of differing cells (CellDifferenceRate).
    """

    pair: float
    cell: float


def separation(first: Program, second: Program, name: str, value: int) -> Separation:
    """Both rates of ``do(name = value)``, over all assignments of the other roots."""
    free = [root for root in first.roots if root != name]
    rows = 1 << len(free)
    inputs = {root: input_column(place, len(free)) for place, root in enumerate(free)}
    differing = _differences(first, second, inputs, name, value, (1 << rows) - 1)
    anywhere = 0
    for cells in differing.values():
        anywhere |= cells
    scored = rows * len(differing)
    return Separation(
        anywhere.bit_count() / rows,
        sum(cells.bit_count() for cells in differing.values()) / scored if scored else 0.0,
    )


def best_separation(first: Program, second: Program) -> float:
    """The largest PairDisagreementRate of any single-variable constant intervention."""
    return max(separation(first, second, name, value).pair for name, value in interventions(first))


def interventions(program: Program) -> Iterator[tuple[str, int]]:
    """Every way to set one variable to a constant."""
    for name in (*program.roots, *program.order):
        yield name, 0
        yield name, 1


def shows_difference(
    first: Program, second: Program, name: str, value: int, witness: Mapping[str, int]
) -> bool:
    """Whether the one row with these roots differs in a cell under ``do(name = value)``.

    The witness must give every root that is not set, and may repeat the value of one that is.
    """
    free = {root for root in first.roots if root != name}
    repeated = witness.keys() - free
    if not free <= witness.keys() or any(
        root != name or name not in first.roots or witness[root] != value for root in repeated
    ):
        return False
    inputs = {root: witness[root] for root in free}
    return any(_differences(first, second, inputs, name, value, 1).values())


def _differences(
    first: Program,
    second: Program,
    inputs: Mapping[str, int],
    name: str,
    value: int,
    full: int,
) -> dict[str, int]:
    """Rows where the programs differ, by endogenous variable that is not set."""
    clamp = {name: full if value else 0}
    given = {root: inputs.get(root, 0) for root in first.roots}
    ours, theirs = run(first, given, clamp, full), run(second, given, clamp, full)
    return {child: ours[child] ^ theirs[child] for child in first.order if child != name}
