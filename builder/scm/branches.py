"""Summing over binary variables instead of drawing them.

A binary node cut from a uniform makes an integrand jump. Replacing the draw by both values,
weighted with their probabilities given the parents, gives the conditional expectation given the
rest of the noise: same mean, smaller variance, and smooth (Rao-Blackwell).
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Final

import numpy as np

from builder.scm.equation import Array
from builder.scm.world import Values, World

MAX_BRANCHED: Final = 4
"""Binary nodes summed over (2**4 runs); any further ones are drawn, which is right, but slower."""


def branched_nodes(world: World, candidates: Collection[str]) -> tuple[str, ...]:
    """The binary nodes among ``candidates`` to sum over, in topological order."""
    binary = [v for v in world.order if v in candidates and world.node(v).kind == "binary"]
    return tuple(binary[:MAX_BRANCHED])


def branches(
    world: World,
    noise: Values,
    do: Mapping[str, float],
    branched: tuple[str, ...],
    only: Collection[str],
) -> Iterator[tuple[Array, dict[str, Array]]]:
    """Every assignment of ``branched``: its probability given the rest, and the values of ``only``.

    The probabilities, of shape (n,) or scalar, sum to one for every unit.
    """
    for assignment in product((0.0, 1.0), repeat=len(branched)):
        setting = dict(zip(branched, assignment, strict=True))
        values = world.run(noise, {**do, **setting}, only)
        weight = np.asarray(1.0)
        for name, value in setting.items():
            weight = weight * world.conditional_density(name, value, values)
        yield weight, values
