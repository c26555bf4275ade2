"""What the planner's policy decides, over many draws of the noise.

A pair of nodes is decided when in at least 95% of the draws the planner, its budget spent, holds
the truth about it (edge or none) with a probability of at least 95%. Records and opening are as the
episode shows them; the errors of all later readings are drawn anew. The prediction is judged by the
same sessions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from builder.causalab.noisy.notebook import Told
from builder.causalab.noisy.planner import Planner
from builder.scm.equation import Array

SURE: Final = 0.95
"""The probability at which a verdict is held, and the share of draws in which it must be."""

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Law:
    """An episode's hidden side as arrays; properties by index, in a causal ``order``.

    ``weights`` (property, parent); frequency's ``base``, ``slopes``, ``squares`` by parent and
    ``products`` by pair. ``start`` are the manipulator's own bases, ``added`` what its unmeasured
    cause adds to each property.
    """

    order: Sequence[int]
    weights: Array
    base: float
    slopes: Array
    squares: Array
    products: Array
    start: Array
    added: Array

    def values(self, own: Array) -> Array:
        """What a crystal with ``own`` bases (properties, draws) shows without errors."""
        count = len(own)
        found = np.zeros((count + 1, own.shape[1]))
        for node in self.order:
            found[node] = own[node] + self.added[node]
            for parent in range(count):
                if self.weights[node, parent]:
                    found[node] += self.weights[node, parent] * found[parent]
        found[count] = self.base
        for i in range(count):
            found[count] += (self.slopes[i] + self.squares[i] * found[i]) * found[i]
            for j in range(i + 1, count):
                if self.products[i, j]:
                    found[count] += self.products[i, j] * found[i] * found[j]
        return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the planner's sessions end: ``held`` (node, parent) is the share of draws in which the
    truth is held, ``right`` that in which it is the more probable; ``errors`` (draws,) are those
    of the prediction."""

    held: Array
    right: Array
    errors: Array

    def decided(self, node: int, parent: int) -> bool:
        """Whether the pair is decided."""
        return bool(self.held[node, parent] >= SURE)


def play(told: Told, law: Law, target: float, rng: np.random.Generator, draws: int) -> Outcome:
    """Sessions of the planner under ``draws`` draws of the noise."""
    planner = Planner(told, draws)
    count = len(told.names)
    own = np.repeat(law.start[:, None], draws, axis=1)
    for _ in range(told.budget):
        place, value = planner.choose()
        own[place, np.arange(draws)] = value
        errors = told.noise * standard_errors(rng, (count + 1, draws))
        planner.see(place, value, law.values(own) + errors)
    truth = np.zeros((count + 1, count))
    truth[:count] = law.weights != 0
    truth[count] = (law.slopes != 0) | (law.squares != 0)
    chances = planner.belief.edges
    for_truth = np.where(truth[:, :, None] > 0, chances, 1.0 - chances)
    return Outcome(
        (for_truth >= SURE).mean(axis=2),
        (for_truth > 0.5).mean(axis=2),
        np.abs(planner.belief.predicted - target),
    )


def standard_errors(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Draws of the errors' distribution in units of their standard deviation: the sum of twelve
    uniform numbers less 6, as :mod:`grader.laboratory.noise` makes them."""
    return np.asarray(rng.integers(0, 1 << 16, (12, *shape)).sum(axis=0) / (1 << 16) - 6.0)
