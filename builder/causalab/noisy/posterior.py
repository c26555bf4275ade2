"""What readings with errors say of each node's causes: Bayesian regression over sets of causes.

A property is its base plus what its causes add, so its readings are linear in the coefficients; the
base is the value set, or one unknown number of the crystal. Frequency is a polynomial of its causes
with one base for all crystals. A reading's error counts once for the node and, times a coefficient,
once for each cause; that the causes' errors are shared between nodes is not used.
"""

from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from builder.causalab.noisy.cholesky import solved
from builder.causalab.noisy.notebook import MIDDLE, SPREAD, Told
from builder.causalab.noisy.orders import edge_chances
from builder.scm.elementary import exp, log
from builder.scm.equation import Array

MOST_CAUSES: Final = 3
CHANCE: Final = 0.35
"""Of an edge, before anything is seen."""
SCALE: Final = 50.0
"""Values of properties are divided by it."""
WEIGHT: Final = 1.0
"""Standard deviation of a coefficient between properties."""
OFFSET: Final = 40.0
"""Standard deviation of what an unmeasured cause adds."""
COEFFICIENTS: Final = (100.0, 90.0, 35.0)
"""Standard deviations of frequency's base, linear and other coefficients, in scaled values around
the middle."""
STEEP: Final = 1.5
"""Mean square of what a unit of a cause adds to frequency, before anything is seen."""
_LEAST: Final = -60.0


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed, by draw.

    ``edges`` (node, parent, draws) are probabilities, the row of frequency last; ``weights``
    (property, parent, draws) mean coefficients between properties; ``bends`` (features, draws)
    frequency's mean coefficients over :func:`features`; ``predicted`` (draws,) the reactor's
    frequency.
    """

    edges: Array
    weights: Array
    bends: Array
    predicted: Array

    def repeated(self, draws: int) -> "Belief":
        """What is believed of one draw for so many."""
        parts = (self.edges, self.weights, self.bends, self.predicted)
        return Belief(*(np.repeat(part, draws, axis=-1) for part in parts))


def features(told: Told, values: Array) -> Array:
    """Frequency's regressors for properties of shape (properties, …): 1, values, squares, products.

    Without curves there are only the first two kinds.
    """
    scaled = (values[: len(told.names)] - MIDDLE) / SCALE
    parts = [np.ones_like(scaled[:1]), scaled]
    if told.curved:
        products = [scaled[i] * scaled[j] for i, j in pairs_of(len(scaled))]
        parts += [scaled * scaled, np.stack(products)]
    return np.concatenate(parts)


def pairs_of(count: int) -> list[tuple[int, int]]:
    """The pairs of so many properties, in the order of their products."""
    return list(combinations(range(count), 2))


def columns(told: Told, causes: tuple[int, ...]) -> list[int]:
    """The features that a set of causes has."""
    count = len(told.names)
    found = [0, *(1 + i for i in causes)]
    if told.curved:
        pairs = pairs_of(count)
        found += [1 + count + i for i in causes]
        found += [1 + 2 * count + pairs.index(pair) for pair in combinations(causes, 2)]
    return found


def prior_of(told: Told) -> Array:
    """Prior standard deviation of each feature's coefficient."""
    count = len(told.names)
    bends = count + count * (count - 1) // 2 if told.curved else 0
    base, slope, bend = COEFFICIENTS
    return np.array([base, *[slope] * count, *[bend] * bends])


class Sums:
    """The sums over rows that regression needs, for every property and for frequency.

    A row's error is judged by ``bends``, what was believed of frequency before it was read; of
    records and opening, which all draws share, by what they say themselves.
    """

    def __init__(self, told: Told, bends: Array | None) -> None:
        """Records and opening, for one draw."""
        self.told, self.draws = told, 1
        count, kinds = len(told.names), len(prior_of(told))
        width = count + 2
        self.gram, self.moment = np.zeros((count, width, width, 1)), np.zeros((count, width, 1))
        self.square, self.rows = np.zeros((count, 1)), 0
        self.bend_gram, self.bend_moment = np.zeros((kinds, kinds, 1)), np.zeros((kinds, 1))
        self._note_records(bends)
        self.add(np.full((count, 1), np.nan), told.opening[:, None], bends)

    def repeated(self, draws: int) -> "Sums":
        """The same for so many draws."""
        found = copy(self)
        found.draws = draws
        for name in ("gram", "moment", "square", "bend_gram", "bend_moment"):
            setattr(found, name, np.repeat(getattr(self, name), draws, axis=-1))
        return found

    def add(self, own: Array, reading: Array, bends: Array | None) -> None:
        """Takes in a reading of the manipulator, of shape (nodes, draws)."""
        count = len(self.told.names)
        unset = np.isnan(own)
        left = reading[:count] - np.where(unset, MIDDLE, own)
        row = np.empty((count, count + 2, self.draws))
        row[:, 0], row[:, 1] = 1.0, unset
        row[:, 2:] = reading[None, :count] / SCALE
        self.gram += row[:, :, None] * row[:, None, :]
        self.moment += row * left[:, None]
        self.square += left * left
        self.rows += 1
        self._note_frequency(reading, bends)

    def _note_records(self, bends: Array | None) -> None:
        """Records: bases are unknown and differ, so that each is a row with a large error."""
        told, count = self.told, len(self.told.names)
        self.given = 0 if told.confounded else len(told.records)
        shape = (count, count + 2, count + 2)
        self.record_gram, self.record_moment = np.zeros(shape), np.zeros(shape[:2])
        self.record_square = np.zeros(count)
        self.record_error = told.record_spread**2
        for record in told.records:
            self._note_frequency(record[:, None], bends)
        for record in told.records[: self.given]:
            row = np.zeros((count, count + 2))
            row[:, 2:] = record[:count] / SCALE
            left = record[:count] - MIDDLE
            self.record_gram += row[:, :, None] * row[:, None, :]
            self.record_moment += row * left[:, None]
            self.record_square += left * left

    def _note_frequency(self, reading: Array, bends: Array | None) -> None:
        row = features(self.told, reading)
        error = self.told.noise**2 * (1.0 + steepness(self.told, reading, bends))
        self.bend_gram += row[:, None] * row[None, :] / error
        self.bend_moment += row * reading[-1] / error


def steepness(told: Told, reading: Array, bends: Array | None) -> Array:
    """Sum over the causes of the squared slopes of frequency there; shape (draws,)."""
    count = len(told.names)
    if bends is None:
        return np.full(reading.shape[1:], 2.0 * STEEP)
    scaled = (reading[:count] - MIDDLE) / SCALE
    slopes = bends[1 : 1 + count].copy()
    if told.curved:
        slopes += 2.0 * bends[1 + count : 1 + 2 * count] * scaled
        for place, (i, j) in enumerate(pairs_of(count), start=1 + 2 * count):
            slopes[i] += bends[place] * scaled[j]
            slopes[j] += bends[place] * scaled[i]
    total = np.zeros(reading.shape[1:])
    for slope in slopes / SCALE:
        total += slope * slope
    return total


def believe(sums: Sums) -> Belief:
    """The posterior over graphs without a circle, and mean coefficients."""
    count = len(sums.told.names)
    scores, weights = _properties(sums)
    edges = np.zeros((count + 1, count, sums.draws))
    edges[:count] = edge_chances(scores)
    edges[count], bends, predicted = _frequency(sums)
    return Belief(edges, weights, bends, predicted)


def _properties(sums: Sums) -> tuple[Array, Array]:
    """The weight of every property's set of causes (property, mask, draws), and mean coefficients
    (property, parent, draws)."""
    told, count = sums.told, len(sums.told.names)
    fixed = [0, 1] if told.confounded else [1]
    prior = np.array([OFFSET, SPREAD, *[WEIGHT * SCALE] * count])
    scores = np.full((count, 1 << count, sums.draws), -np.inf)
    means = np.zeros((count, 1 << count, count, sums.draws))
    places = np.arange(count)[:, None]
    for size in range(min(MOST_CAUSES, count - 1) + 1):
        sets = _sets(count, size)
        chosen = [np.full(sets.shape[:2], column) for column in fixed]
        chosen += [sets[:, :, i] + 2 for i in range(size)]
        error = told.noise**2 * (1.0 + WEIGHT**2 * size)
        rough = sums.record_error + error
        gram = sums.gram / error + sums.record_gram[..., None] / rough
        moment = sums.moment / error + sums.record_moment[..., None] / rough
        left = sums.square / error + sums.record_square[:, None] / rough
        matrix = np.stack([np.stack([gram[places, a, b] for b in chosen]) for a in chosen])
        right = np.stack([moment[places, a] for a in chosen])
        found, value = _regressed(matrix, right, np.stack([prior[a] for a in chosen]))
        value -= 0.5 * left[:, None] + size * _ODDS
        value -= 0.5 * (sums.rows * _ln(error) + sums.given * _ln(rough))
        masks = (1 << sets).sum(axis=2)
        scores[places, masks] = value
        for i in range(size):
            means[places, masks, sets[:, :, i]] = found[len(fixed) + i] / SCALE
    scores = _weights_of(scores, axis=1)
    chances = scores / scores.sum(axis=1, keepdims=True)
    return scores, (chances[:, :, None] * means).sum(axis=1)


def _sets(count: int, size: int) -> "np.ndarray[tuple[int, int, int], np.dtype[np.int64]]":
    """For each property the sets of so many others; shape (properties, sets, size)."""
    others = [[i for i in range(count) if i != node] for node in range(count)]
    return np.array([list(combinations(rest, size)) for rest in others], dtype=np.int64)


def _regressed(matrix: Array, right: Array, prior: Array) -> tuple[Array, Array]:
    """Posterior means (columns, sets…, draws), and the log evidence but for what only the left
    sides and errors decide.

    ``matrix`` and ``right`` are the sums over rows by their errors, ``prior`` (columns, sets…) the
    coefficients' standard deviations.
    """
    for i, spread in enumerate(prior):
        matrix[i, i] += (1.0 / (spread * spread))[..., None]
    found, determinant = solved(matrix, right[:, None])
    value = -0.5 * determinant
    for i, spread in enumerate(prior):
        value += 0.5 * right[i] * found[i, 0] - log(spread)[..., None]
    return found[:, 0], value


def _weights_of(logs: Array, axis: int) -> Array:
    """Exponentials relative to the largest; impossible ones are 0."""
    relative = logs - logs.max(axis=axis, keepdims=True)
    return np.where(np.isfinite(logs), exp(np.maximum(relative, _LEAST)), 0.0)


def _frequency(sums: Sums) -> tuple[Array, Array, Array]:
    """Probabilities of frequency's causes (parent, draws), mean coefficients (features, draws), and
    the reactor's frequency (draws,)."""
    told, count = sums.told, len(sums.told.names)
    prior = prior_of(told)
    logs, means, members = [], [], []
    for size in range(1, min(MOST_CAUSES, count) + 1):
        sets = list(combinations(range(count), size))
        chosen = np.array([columns(told, causes) for causes in sets]).T
        gram, moment = sums.bend_gram, sums.bend_moment
        matrix = np.stack([np.stack([gram[a, b] for b in chosen]) for a in chosen])
        found, value = _regressed(matrix, moment[chosen], prior[chosen])
        logs.append(value - size * _ODDS)
        full = np.zeros((len(sets), len(prior), sums.draws))
        for column, mean in zip(chosen, found, strict=True):
            full[np.arange(len(sets)), column] = mean
        means.append(full)
        members += sets
    chances = _weights_of(np.concatenate(logs), axis=0)
    chances = chances / chances.sum(axis=0)
    bends = (chances[:, None] * np.concatenate(means)).sum(axis=0)
    edges = np.zeros((count, sums.draws))
    for chance, causes in zip(chances, members, strict=True):
        edges[list(causes)] += chance
    seen = features(told, told.reactor)
    return edges, bends, (bends * seen[:, None]).sum(axis=0)


def _ln(value: float) -> float:
    return float(log(np.array(value)))


_ODDS: Final = _ln((1.0 - CHANCE) / CHANCE)
