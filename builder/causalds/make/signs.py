"""The strengths of a wild graph's edges: what is wanted of a scene is decided here, from lines,
before any equation is drawn."""

from typing import Final

import numpy as np

from builder.causalds.make.looks import acceptable, look_at_sketches
from builder.causalds.plan.types import ScenePlan
from builder.scm.equation import Array
from builder.scm.profiles import BINARY_PROFILES
from builder.scm.straight import Edge, Sketches, sketch

SKETCHES: Final = 192
TRIED: Final = 6
"""So many of the sketches that fit lend their signs to further ones, of other weights."""
AGAIN: Final = 64

SLACKS: Final = (1.15, 1.4, 1.7, 2.0)
"""Sketches hold the bounds with at least so much to spare, and rather with more: curves bend what
lines promise."""

_RISING: Final = frozenset({"noisy_or", "noisy_and"})
"""Binary mechanisms that no cause lowers."""


def promising_strengths(
    rng: np.random.Generator, plan: ScenePlan
) -> tuple[dict[Edge, float], float]:
    """The strengths of a sketch that does what is wanted of a scene, with most to spare among those
    of the signs under which it comes about for most weights, of those tried; and for what share of
    the weights it does. None, and 0, where it never does."""
    assert plan.wild is not None
    query, wanted = plan.query, plan.wild.wanted
    binary = frozenset(v for v, kind in plan.kinds.items() if kind == "binary")
    rising = binary if set(BINARY_PROFILES[plan.binary]) <= _RISING else ()
    given = {(a, b): 1 for a, b in query.graph.edges if b in rising}

    def tried(count: int, signs: dict[Edge, int]) -> tuple[Sketches, Array]:
        """Sketches, and how much each has to spare: the number of slacks that it holds with."""
        found = sketch(rng, query.graph, count, binary=binary, signs=signs)
        look = look_at_sketches(found, query, binary=plan.treatment_kind == "binary")
        held = [acceptable(look, query, wanted, slack) for slack in SLACKS]
        return found, np.sum([np.broadcast_to(one, count) for one in held], axis=0)

    best: tuple[dict[Edge, float], float] = {}, 0.0
    first, spare = tried(SKETCHES, given)
    for place in np.argsort(-spare, kind="stable")[:TRIED]:
        if not spare[place]:
            break
        found, again = tried(AGAIN, first.signs(int(place)))
        worth = float(np.mean(again > 0))
        if worth > best[1]:
            best = found.strengths(int(np.argmax(again))), worth
    return best
