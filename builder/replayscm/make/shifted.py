"""Held-out worlds again, under other root distributions (the control of HeldoutExact-shifted).

In training and held-out worlds the roots are independent and each is 1 with a chance of 0.2 to 0.8.
Here every second world, by chance, has rare roots (chance 0.05 or 0.95 each), and in the others one
coin decides them all: each root equals it or its negation. The interventions are those of the
held-out worlds, with set values drawn anew.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from builder.replayscm.make.programs import HiddenProgram
from builder.replayscm.make.worlds import World, run_program

RARE: Final = (0.05, 0.95)


def shift(
    rng: np.random.Generator, program: HiddenProgram, worlds: Sequence[World]
) -> tuple[World, ...]:
    """One world for each of ``worlds``, with as many rows."""
    return tuple(_shifted(rng, program, world) for world in worlds)


def _shifted(rng: np.random.Generator, program: HiddenProgram, world: World) -> World:
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
    return World(world.intervention, rows)
