"""Which pairs of variables a story may say to make a difference: those with a clear total effect.

"Makes a difference" promises a chain of effects that does not cancel along the way, nor is too weak
for anyone to notice. So a pair is told only where setting the cause from its lower to its upper
quartile (0 to 1 if it is binary) moves the mean of the other by a clear margin.
"""

from typing import Final

import numpy as np

from builder.scm.equation import Array, summary
from builder.scm.margins import EFFECT_MARGIN, STANDARD_ERRORS
from builder.scm.world import World

_DRAWS: Final = 4096
_QUARTILES: Final = (0.25, 0.75)


def clear_pairs(world: World, rng: np.random.Generator) -> frozenset[tuple[str, str]]:
    """The measured pairs (cause, effect) whose total effect is at least 0.05 standard deviations of
    the effect, with four standard errors to spare; both worlds run on the same noise."""
    noise = world.draw_noise(rng, _DRAWS)
    factual = world.run(noise)
    found = set()
    measured = world.graph.observed
    for cause in measured:
        reached = world.graph.descendants(cause) - {cause}
        if not reached:
            continue
        low, high = (
            world.run(noise, {cause: level})
            for level in _levels(factual[cause], world.node(cause).kind == "binary")
        )
        found |= {
            (cause, effect)
            for effect in measured
            if effect in reached and _clear(high[effect] - low[effect], factual[effect])
        }
    return frozenset(found)


def _levels(values: Array, binary: bool) -> tuple[float, float]:
    if binary:
        return 0.0, 1.0
    ordered = np.sort(values)
    low, high = (float(ordered[int(share * len(ordered))]) for share in _QUARTILES)
    return low, high


def _clear(difference: Array, outcome: Array) -> bool:
    """Whether a mean unit difference is clear of 0; rounded, so that every processor agrees."""
    mean, spread = (summary(float(f(difference))) for f in (np.mean, np.std))
    margin = EFFECT_MARGIN * summary(float(np.std(outcome)))
    return bool(abs(mean) - margin >= STANDARD_ERRORS * spread / len(difference) ** 0.5)
