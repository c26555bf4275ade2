"""The planner: the setting that teaches most, by a Bayesian linear or quadratic model.

The information that a reading would bring about a node's coefficients is ½ ln(1 + x' S x / e²): S
their covariance with each cause's prior variance times the probability of its edge, x what is
expected to be read, e² the error (Lindley 1956; MacKay 1992). Sums run over the nodes; what
sharpens the forecast of the reactor counts too.
"""

from typing import Final

import numpy as np

from builder.causalab.noisy.cholesky import solved
from builder.causalab.noisy.notebook import SPREAD, Notebook, Told
from builder.causalab.noisy.posterior import (
    OFFSET,
    SCALE,
    WEIGHT,
    Belief,
    Sums,
    believe,
    features,
    prior_of,
    steepness,
)
from builder.scm.elementary import log
from builder.scm.equation import Array

FORECAST: Final = 1.0
"""What sharpening the forecast counts beside what is learnt of the law."""
LEVELS: Final = (0.0, 1.0)
"""Settings that are considered, as shares of the range; the records show what lies between."""
_RARE: Final = 0.02


class Planner:
    """Believes, and chooses; a draw of the noise each."""

    def __init__(self, told: Told, draws: int) -> None:
        self.notebook = Notebook(told, draws)
        first = Sums(told, believe(Sums(told, None)).bends)
        self.belief: Belief = believe(first).repeated(draws)
        self.sums = first.repeated(draws)

    def see(self, place: Array, value: Array, reading: Array) -> None:
        """Takes in what was read after a setting."""
        self.notebook.add(place, value, reading)
        self.sums.add(self.notebook.own[-1], reading, self.belief.bends)
        self.belief = believe(self.sums)

    def choose(self) -> tuple[Array, Array]:
        """The property to set next and its value, by draw."""
        told = self.notebook.told
        options = [
            (place, told.low + level * (told.high - told.low))
            for place in told.settable
            for level in LEVELS
        ]
        expected = np.stack([self._expected(*option) for option in options], axis=1)
        gains = self._law_gain(options, expected) + self._frequency_gain(expected)
        best = gains.argmax(axis=0)
        places, values = (np.array(part) for part in zip(*options, strict=True))
        return places[best], values[best]

    def _expected(self, place: int, value: float) -> Array:
        """The properties after a setting, by the mean coefficients; shape (properties, draws)."""
        now, weights = self.notebook.readings[-1], self.belief.weights
        count = len(weights)
        inflow = np.zeros_like(now[0])
        for parent in range(count):
            inflow = inflow + weights[place, parent] * now[parent]
        own = self.notebook.own[-1][place]
        push = value - np.where(np.isnan(own), now[place] - inflow, own)
        moved = np.zeros_like(now[:count])
        moved[place] = push
        for _ in range(count - 1):
            carried = np.zeros_like(moved)
            for parent in range(count):
                carried += weights[:, parent] * moved[parent]
            moved = carried
            moved[place] += push
        return now[:count] + moved

    def _law_gain(self, options: list[tuple[int, float]], expected: Array) -> Array:
        """What is learnt of the properties' equations; shape (options, draws)."""
        told, sums, count = self.notebook.told, self.sums, len(self.notebook.told.names)
        error = told.noise**2 * (1.0 + 1.5 * WEIGHT**2)
        rough = sums.record_error + error
        gram = sums.gram / error + sums.record_gram[..., None] / rough
        chances = np.maximum(self.belief.edges[:count], _RARE)
        offset = OFFSET if told.confounded else 0.01
        variance = np.concatenate(
            [np.full((count, 1, self.notebook.draws), offset**2),
             np.full((count, 1, self.notebook.draws), SPREAD**2),
             chances * (WEIGHT * SCALE) ** 2], axis=1
        )  # fmt: skip
        for node in range(count):
            variance[node, 2 + node] = 1e-6
        matrix = np.moveaxis(gram, 0, 2).copy()
        for i in range(count + 2):
            matrix[i, i] += 1.0 / variance[:, i]
        rows = np.empty((count + 2, len(options), count, self.notebook.draws))
        rows[0] = 1.0
        unset = np.isnan(self.notebook.own[-1])
        for number, (place, _) in enumerate(options):
            rows[1, number] = unset
            rows[1, number, place] = 0.0
        rows[2:] = expected[:, :, None] / SCALE
        found, _ = solved(matrix, rows)
        gains: Array = 0.5 * log(1.0 + (rows * found).sum(axis=0) / error)
        return np.asarray(gains.sum(axis=1))

    def _frequency_gain(self, expected: Array) -> Array:
        """What is learnt of frequency's equation and of the reactor's frequency."""
        told, sums, belief = self.notebook.told, self.sums, self.belief
        count = len(told.names)
        chances = np.maximum(belief.edges[count], _RARE)
        shares = [np.ones_like(chances[:1]), chances]
        if told.curved:
            pairs = [chances[i] * chances[j] for i in range(count) for j in range(i + 1, count)]
            shares += [chances, np.stack(pairs)]
        variance = prior_of(told)[:, None] ** 2 * np.concatenate(shares)
        matrix = sums.bend_gram.copy()
        for i in range(len(variance)):
            matrix[i, i] += 1.0 / variance[i]
        rows = features(told, expected)
        goal = np.repeat(features(told, told.reactor)[:, None, None], sums.draws, axis=2)
        found, _ = solved(matrix, np.concatenate([rows, goal], axis=1))
        error = told.noise**2 * (1.0 + np.stack(
            [steepness(told, expected[:, k], belief.bends) for k in range(expected.shape[1])]
        ))  # fmt: skip
        spread = (rows * found[:, :-1]).sum(axis=0)
        blurred = (goal[:, 0] * found[:, -1]).sum(axis=0)
        shared = (rows * found[:, -1:]).sum(axis=0)
        left = 1.0 - shared * shared / ((error + spread) * blurred)
        law = 0.5 * log(1.0 + spread / error)
        return np.asarray(law - FORECAST * 0.5 * log(np.maximum(left, 1e-6)))
