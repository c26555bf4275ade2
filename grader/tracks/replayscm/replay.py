"""Semantic replay (ReplaySCM B.1): set what is intervened on, copy roots, compute the rest.

With it: does an experiment tell an alternative from the reference (§G)? An experiment sets one
variable to a constant. The roots that it does not set range over all their assignments; a cell is
any endogenous variable that it does not set. And two controls. HeldoutExact-shifted stands beside
HeldoutExact and never counts: a program that learned the distribution of the training worlds, and
not the mechanisms, does worse there. Mechanisms by the place of their variable in the prompt show
whether places are read as a cue.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from grader.errors import UsageError
from grader.scoring.model import Truth
from grader.tracks.replayscm.boolean import Formula, evaluate, input_column
from grader.tracks.replayscm.problem import BooleanProgram, Problem, Worlds, pack


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of one program on some worlds; ``cells`` are those that are scored.

    ``wrong`` maps each endogenous variable to the rows where its cell is wrong (a bit set).
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


def replay(program: BooleanProgram, worlds: Worlds) -> Replay:
    """Run the program on all rows; scored are its endogenous cells where they are not set."""
    values = {root: worlds.values[root] for root in program.roots}
    wrong: dict[str, int] = {}
    cells = 0
    for child in program.order:
        clamped, observed = worlds.clamped[child], worlds.values[child]
        computed = evaluate(program.mechanisms[child], values, worlds.full)
        values[child] = computed & ~clamped | observed & clamped
        wrong[child] = values[child] ^ observed
        cells += (worlds.full & ~clamped).bit_count()
    anywhere = reduce(or_, wrong.values(), 0)
    return Replay(
        wrong,
        sum(not anywhere & mask for mask in worlds.masks),
        len(worlds.masks),
        sum(rows.bit_count() for rows in wrong.values()),
        cells,
    )


def run(
    program: BooleanProgram, inputs: Mapping[str, int], clamp: Mapping[str, int], full: int
) -> dict[str, int]:
    """Return all variables (bits of ``full``) given roots, under ``clamp``: variable to values."""
    values = {root: clamp.get(root, inputs[root]) for root in program.roots}
    for child in program.order:
        values[child] = (
            clamp[child] if child in clamp else evaluate(program.mechanisms[child], values, full)
        )
    return values


def separation(
    first: BooleanProgram, second: BooleanProgram, name: str, value: int
) -> tuple[float, float]:
    """Return how far ``do(name = value)`` separates two programs over all assignments of the other
    roots: the shares of assignments whose rows differ, and of cells that differ."""
    free = [root for root in first.roots if root != name]
    rows = 1 << len(free)
    inputs = {root: input_column(place, len(free)) for place, root in enumerate(free)}
    differing = _differences(first, second, inputs, name, value, (1 << rows) - 1)
    anywhere = reduce(or_, differing.values(), 0)
    scored = rows * len(differing)
    cells_apart = sum(cells.bit_count() for cells in differing.values())
    return anywhere.bit_count() / rows, cells_apart / scored if scored else 0.0


def best_separation(first: BooleanProgram, second: BooleanProgram) -> float:
    """Return the largest PairDisagreementRate of any single-variable constant intervention."""
    return max(separation(first, second, name, value)[0] for name, value in interventions(first))


def interventions(program: BooleanProgram) -> Iterator[tuple[str, int]]:
    """Yield every way to set one variable to a constant, as (variable, value)."""
    for name in (*program.roots, *program.order):
        yield name, 0
        yield name, 1


def shows_difference(
    first: BooleanProgram, second: BooleanProgram, name: str, value: int, witness: Mapping[str, int]
) -> bool:
    """Return whether the programs differ under ``do(name = value)`` in the row of ``witness``.

    False if it lacks a root that is not set, or gives more than a set root with its ``value``.
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
    first: BooleanProgram,
    second: BooleanProgram,
    inputs: Mapping[str, int],
    name: str,
    value: int,
    full: int,
) -> dict[str, int]:
    """Return the rows (bits) where the programs differ, by endogenous variable that is not set."""
    clamp = {name: full if value else 0}
    given = {root: inputs.get(root, 0) for root in first.roots}
    ours, theirs = run(first, given, clamp, full), run(second, given, clamp, full)
    return {child: ours[child] ^ theirs[child] for child in first.order if child != name}


PLACES: Final = 5
"""Places in a prompt are counted in fifths of its list of variables."""


def shifted_figures(
    problem: Problem, truth: Truth, program: BooleanProgram, fits: bool
) -> dict[str, Any]:
    """Return ``shifted_exact`` (0 or 1) and ``shifted_world_exact`` (a share of worlds); {} for a
    record without shifted worlds.

    A program that ``fits`` (is train-exact) and errs where the audit says that none can is an error
    in the truth, and raises ``UsageError``.
    """
    stated = truth.target.get("shifted")
    if stated is None:
        return {}
    found = replay(program, pack(problem.names, stated["worlds"]))
    if fits and stated["determined"] and not found.exact:
        raise UsageError(
            "a legal train-exact program fails a shifted world that the audit calls determined"
        )
    return {
        "shifted_exact": int(fits and found.exact),
        "shifted_world_exact": found.world_rate,
    }


def by_place(
    worlds: Sequence[Worlds], gold: Iterable[str], mechanisms: Mapping[str, Formula]
) -> dict[str, int]:
    """Return, for each fifth k of the list of variables, ``asked_place_k``, how many have a hidden
    mechanism (``gold``), and ``right_place_k``, how many of these have a right one in
    ``mechanisms``: one that gives every computed cell from the cells as they stand in ``worlds``.
    """
    names, computed = worlds[0].names, set(gold)
    counts = {f"{what}_place_{k}": 0 for k in range(PLACES) for what in ("asked", "right")}
    for place, name in enumerate(names):
        if name in computed:
            fifth = PLACES * place // len(names)
            counts[f"asked_place_{fifth}"] += 1
            counts[f"right_place_{fifth}"] += name in mechanisms and all(
                not (evaluate(mechanisms[name], w.values, w.full) ^ w.values[name])
                & ~w.clamped[name]
                for w in worlds
            )
    return counts
