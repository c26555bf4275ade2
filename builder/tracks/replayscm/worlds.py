"""Intervention worlds (ReplaySCM B.2.2, Algorithm 2), also under shifted root distributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from builder.tracks.replayscm.programs import HiddenProgram, name_of

Mode = Literal["none", "hard_constant", "hard_assigned"]
MODES: Final[dict[Mode, float]] = {"none": 0.08, "hard_constant": 0.22, "hard_assigned": 0.70}
LEVELS: Final = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Probabilities of a root, one drawn for each root and world."""
BIASES: Final = (0.3, 0.5, 0.7)
"""Probabilities of a 1 in an assigned column; if all its bits are equal, one is flipped."""

Bits = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Intervention:
    """The variables that a world sets (``targets``, ascending), and how. In mode hard_constant,
    ``constants[i]`` is the value of ``targets[i]`` in every row. In mode hard_assigned each row has
    values of its own, which only the world's rows hold. In mode none nothing is set. Two
    interventions have the same signature if their fields are equal."""

    mode: Mode
    targets: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayWorld:
    """A table of 0 and 1 under one intervention, (units, n): column v is variable v, set or not."""

    intervention: Intervention
    rows: Bits

    @property
    def targets(self) -> tuple[int, ...]:
        """Return the variables intervened on."""
        return self.intervention.targets


def worlds_json(worlds: Sequence[ReplayWorld], prefix: str) -> list[dict[str, Any]]:
    """Return worlds for a row, ids ``prefix_00`` on, targets as labels, rows as texts of bits."""
    return [
        {
            "id": f"{prefix}_{k:02d}",
            "mode": world.intervention.mode,
            "targets": [name_of(v) for v in world.targets],
            "rows": ["".join(map(str, row.tolist())) for row in world.rows],
        }
        for k, world in enumerate(worlds)
    ]


@dataclass(frozen=True, slots=True)
class UnitThresholds:
    """Uniform numbers in [0, 1) of every unit and root, (units, 3). A root is 1 below its
    probability. Unshifted worlds have the first of these units, ``fewest`` at least."""

    thresholds: NDArray[np.float64]
    fewest: int


def draw_intervention(rng: np.random.Generator, n: int) -> Intervention:
    """Draw a mode by its share, and one to three targets (none in mode none)."""
    mode: Mode = list(MODES)[int(rng.choice(len(MODES), p=list(MODES.values())))]
    return set_targets(rng, mode, n, 0 if mode == "none" else int(rng.integers(1, 4)))


def set_targets(rng: np.random.Generator, mode: Mode, n: int, count: int) -> Intervention:
    """Draw an intervention of ``mode`` on ``count`` random variables."""
    targets = tuple(sorted(int(v) for v in rng.choice(n, size=count, replace=False)))
    return intervene(rng, mode, targets)


def intervene(rng: np.random.Generator, mode: Mode, targets: tuple[int, ...]) -> Intervention:
    """Draw an intervention of ``mode`` on these targets, with constants if it is hard_constant."""
    constants = tuple(int(b) for b in rng.integers(2, size=len(targets)))
    return Intervention(mode, targets, constants if mode == "hard_constant" else ())


def is_vacuous(program: HiddenProgram, intervention: Intervention) -> bool:
    """Return whether the intervention sets every endogenous variable, so that nothing is scored."""
    return set(program.endogenous) <= set(intervention.targets)


def simulate(
    rng: np.random.Generator,
    program: HiddenProgram,
    units: UnitThresholds,
    intervention: Intervention,
) -> ReplayWorld:
    """Draw a world under the intervention: number of rows, root probabilities, assigned columns."""
    count = int(rng.integers(units.fewest, len(units.thresholds) + 1))
    rows = np.zeros((count, program.n), dtype=np.uint8)
    levels = np.array(LEVELS)[rng.integers(len(LEVELS), size=3)]
    for place, root in enumerate(program.roots):
        rows[:, root] = units.thresholds[:count, place] < levels[place]
    for place, target in enumerate(intervention.targets):
        if intervention.mode == "hard_constant":
            rows[:, target] = intervention.constants[place]
        else:
            rows[:, target] = rng.random(count) < rng.choice(BIASES)
            if rows[:, target].min() == rows[:, target].max():
                rows[int(rng.integers(count)), target] ^= 1
    run_program(program, rows, intervention.targets)
    return ReplayWorld(intervention, rows)


def run_program(program: HiddenProgram, rows: Bits, targets: tuple[int, ...]) -> None:
    """Compute the other endogenous variables in place, given roots and ``targets``."""
    for child in program.endogenous:
        if child not in targets:
            parents = list(program.parents[child])
            pattern = rows[:, parents].astype(np.int64) @ (1 << np.arange(len(parents)))
            rows[:, child] = (program.tables[child] >> pattern) & 1


RARE: Final = (0.05, 0.95)
"""Probabilities of a root in a shifted world with rare roots."""


def shift_world(
    rng: np.random.Generator, program: HiddenProgram, world: ReplayWorld
) -> ReplayWorld:
    """Draw a world with the same intervention and number of rows, but other roots: half of the time
    each with probability 0.05 or 0.95, else one fair coin a row or its opposite."""
    count = len(world.rows)
    rows = np.zeros((count, program.n), dtype=np.uint8)
    rare, coin = rng.random() < 0.5, rng.random(count) < 0.5
    for root in program.roots:
        side = int(rng.integers(2))
        rows[:, root] = rng.random(count) < RARE[side] if rare else coin ^ bool(side)
    for place, target in enumerate(world.targets):
        fixed = world.intervention.constants
        rows[:, target] = fixed[place] if fixed else rng.integers(2, size=count)
    run_program(program, rows, world.targets)
    return ReplayWorld(world.intervention, rows)
