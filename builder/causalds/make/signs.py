"""The signs of a wild graph's equations: what is wanted of a scene is decided here, from lines,
before any equation is drawn."""

from typing import Final

import numpy as np

from builder.causalds.make.looks import acceptable, look_at_sketches
from builder.causalds.plan.types import ScenePlan
from builder.scm.profiles import BINARY_PROFILES
from builder.scm.straight import Edge, sketch

SKETCHES: Final = 192
TRIED: Final = 6
"""So many of the sketches that fit lend their signs to further ones, of other weights."""
AGAIN: Final = 64

SLACK: Final = 1.15
"""Sketches hold the bounds with so much to spare: curves bend what lines promise."""

_RISING: Final = frozenset({"noisy_or", "noisy_and"})
"""Binary mechanisms that no cause lowers."""


def promising_signs(rng: np.random.Generator, plan: ScenePlan) -> tuple[dict[Edge, int], float]:
    """Signs under which what is wanted of a scene comes about for most weights, of those tried;
    and for what share of the weights it does. No signs, and 0, where it never does."""
    assert plan.wild is not None
    query = plan.query
    binary = frozenset(v for v, kind in plan.kinds.items() if kind == "binary")
    rising = binary if set(BINARY_PROFILES[plan.binary]) <= _RISING else ()
    given = {(a, b): 1 for a, b in query.graph.edges if b in rising}

    def share(count: int, signs: dict[Edge, int]) -> tuple[list[dict[Edge, int]], float]:
        found = sketch(rng, query.graph, count, binary=binary, signs=signs)
        look = look_at_sketches(found, query, binary=plan.treatment_kind == "binary")
        fits = np.broadcast_to(acceptable(look, query, plan.wild.wanted, SLACK), count)  # type: ignore[union-attr]
        places = [int(i) for i in np.flatnonzero(fits)[:TRIED]]
        return [found.signs(place) for place in places], float(np.mean(fits))

    best: tuple[dict[Edge, int], float] = {}, 0.0
    for signs in share(SKETCHES, given)[0]:
        worth = share(AGAIN, signs)[1]
        best = max(best, (signs, worth), key=lambda pair: pair[1])
    return best
