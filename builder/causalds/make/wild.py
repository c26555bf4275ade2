"""Equations for a wild graph, drawn until they do what is wanted of them.

The strengths of edges come from sketches that are lines throughout; then mechanisms of the scene's
profiles are drawn that come near to them, and kept if a sample of the world shows what is wanted.
"""

from typing import Final

import numpy as np

from builder.attempts import Rejected
from builder.causalds.make.looks import acceptable, look_at_world
from builder.causalds.make.signs import promising_strengths
from builder.causalds.plan.types import ScenePlan
from builder.scm.profiles import profile
from builder.scm.sampling import NoWorldFound, sample_world
from builder.scm.world import World

SLACK: Final = 1.1
"""A sample of a world holds the bounds with so much to spare: it is off by a little."""

WORLDS: Final = 4
"""Worlds drawn before an attempt is given up."""


def sample_wild_world(rng: np.random.Generator, plan: ScenePlan) -> World:
    """A world for a wild graph. Raises :class:`Rejected`."""
    assert plan.wild is not None
    query = plan.query
    for _ in range(WORLDS):
        strengths, share = promising_strengths(rng, plan)
        if not share:
            continue
        try:
            world = sample_world(
                rng,
                query.graph,
                plan.kinds,
                outcome=query.outcome,
                profile=profile(plan.continuous, plan.binary),
                strengths=strengths,
            )
        except NoWorldFound:
            continue
        if acceptable(look_at_world(rng, world, query), query, plan.wild.wanted, SLACK):
            return world
    raise Rejected("no world does what is wanted of it")
