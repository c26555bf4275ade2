"""Shares of scenes turned into scenes: whole numbers by largest remainder, dealt by chance."""

from collections.abc import Mapping

import numpy as np

from builder.causalds.plan.blueprint import largest_remainder
from builder.seeds import shuffled
from builder.words.types import Kind


def dealt(rng: np.random.Generator, weights: Mapping[str, float], total: int) -> list[str]:
    """``total`` names in their shares, by largest remainder, in a random order."""
    counts = largest_remainder(weights, total)
    return shuffled(rng, [name for name, count in counts.items() for _ in range(count)])


def spread(rng: np.random.Generator, share: float, total: int) -> list[bool]:
    """``total`` flags, the nearest whole number of them true, evenly spaced from a random start."""
    true = largest_remainder({"yes": share, "no": 1.0 - share}, total)["yes"]
    start = int(rng.integers(total))
    turned = ((start + i) % total for i in range(total))
    return [(i + 1) * true // total > i * true // total for i in turned]


def kind_of(binary: bool) -> Kind:
    """The kind of a variable that is binary or not."""
    return "binary" if binary else "continuous"
