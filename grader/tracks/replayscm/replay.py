"""Semantic replay (ReplaySCM B.1): clamp what is intervened on, copy roots, compute the rest."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.tracks.replayscm.boolean import evaluate
from grader.tracks.replayscm.problem import Program, Worlds


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of one program on some worlds.

    ``wrong`` maps each endogenous variable to the rows where its scored cell is wrong (a bit set);
    ``worlds_exact`` and ``worlds`` count worlds, ``cells`` and ``cells_wrong`` scored cells.
    """

    wrong: Mapping[str, int]
    worlds_exact: int
    worlds: int
    cells_wrong: int
    cells: int

    @property
    def exact(self) -> bool:
        """Every scored cell of every world is right: E_w = 1 for all w."""
        return self.cells_wrong == 0

    @property
    def world_rate(self) -> float:
        """The mean of E_w over worlds."""
        return self.worlds_exact / self.worlds

    @property
    def cell_rate(self) -> float:
        """The share of scored cells that are right; 1 where nothing is scored."""
        return 1.0 if self.cells == 0 else 1 - self.cells_wrong / self.cells


def replay(program: Program, worlds: Worlds) -> Replay:
    """Run the program on all rows of all worlds at once and compare the scored cells."""
    values = {root: worlds.values[root] for root in program.roots}
    wrong: dict[str, int] = {}
    cells = 0
    for child in program.order:
        clamped, observed = worlds.clamped[child], worlds.values[child]
        computed = evaluate(program.mechanisms[child], values, worlds.full)
        values[child] = computed & ~clamped | observed & clamped
        wrong[child] = values[child] ^ observed
        cells += (worlds.full & ~clamped).bit_count()
    anywhere = 0
    for rows in wrong.values():
        anywhere |= rows
    return Replay(
        wrong,
        sum(not anywhere & mask for mask in worlds.masks),
        len(worlds.masks),
        sum(rows.bit_count() for rows in wrong.values()),
        cells,
    )


def run(program: Program, inputs: Mapping[str, int], clamp: Mapping[str, int], full: int
        ) -> dict[str, int]:  # fmt: skip
    """All variables over rows given by the roots (``inputs``) under the intervention ``clamp``.

    Everything is a bit set over the rows in ``full``.
    """
    values = {root: clamp.get(root, inputs[root]) for root in program.roots}
    for child in program.order:
        values[child] = (
            clamp[child] if child in clamp else evaluate(program.mechanisms[child], values, full)
        )
    return values
