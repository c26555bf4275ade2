"""Where to put the nodes over which an unmeasured variable is integrated, and what each counts.

Nodes lie on the normal score of the variable's noise. Equally spaced ones integrate a smooth
function as well as any (the trapezoidal rule over the whole line); but an equation that jumps at
some value of the variable, such as a gate's, is no smooth function, and what lies between the jump
and the next node would count for the wrong side. Such a range is divided at the jumps, and each
piece has Gauss and Legendre's nodes.
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy import special

from builder.scm.equation import Array
from builder.scm.mechanisms import MECHANISMS
from builder.scm.world import World

REACH: Final = 4.8
"""Scores go from minus to plus this."""
_FEWEST: Final = 3
"""Nodes of the smallest piece."""
_PLACES: Final = 12
"""Decimals of Gauss and Legendre's nodes: a linear-algebra library's last bits must not matter."""


def quadrature(world: World, name: str, count: int) -> tuple[Array, Array]:
    """Normal scores of the noise of a continuous variable and their weights, both of one length,
    ``count`` or a few more."""
    jumps = sorted({score for score in _jumps(world, name) if abs(score) < REACH})
    if not jumps:
        scores = np.linspace(-REACH, REACH, count)
        return scores, np.exp(-0.5 * scores * scores)
    ends = np.array([-REACH, *jumps, REACH])
    pieces = []
    for low, width in zip(ends[:-1], np.diff(ends), strict=True):
        nodes, weights = np.polynomial.legendre.leggauss(
            max(_FEWEST, math.ceil(count * width / (2 * REACH)))
        )
        scores = low + width * (nodes.round(_PLACES) + 1.0) / 2
        pieces.append((scores, width * weights.round(_PLACES) * np.exp(-0.5 * scores * scores)))
    scores, weights = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return scores, weights


def _jumps(world: World, name: str) -> Iterator[float]:
    """The scores at which an equation jumps that is fed the variable. A variable with causes of its
    own has other ones in every row, and is left alone."""
    law = world.node(name).noise
    if law is None or world.node(name).parents:
        return
    mean, scale = float(world.conditional_mean(name, {})), float(law.scale_at([]))
    for node in world.nodes:
        jump = MECHANISMS[node.mechanism].jump
        if name in node.parents and jump is not None:
            value = jump(node.parameters, node.parents.index(name))
            if value is not None:
                yield float(special.ndtri(law.cdf(np.array((value - mean) / scale))))
