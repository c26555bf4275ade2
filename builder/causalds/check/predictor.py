"""What the best predictor of a scene earns, a second time: by weighted draws instead of quadrature.

Unmeasured variables and the outcome are drawn from their equations, given the row; a draw counts in
proportion to the density that it gives what was observed of their effects (likelihood weighting).
Where the held-out rows are shown, the stored ceiling must be what that earns on them. Under
measurements the rows are not known: units of the world stand in for them, and chance may part the
two.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import numpy as np

from builder.causalds.check.equations import Array, conditional_mean, noise_law, noise_scale
from builder.causalds.check.hidden import Hidden
from builder.causalds.check.numbers import DRAWS

ALPHA: Final = 0.1
"""The miscoverage of prediction intervals, stated a second time."""

_DRAWS: Final = 300_000
_FEWEST: Final = 256
_MOST: Final = 4096
_UNITS: Final = 1000
_CHUNK: Final = 500
_ROUNDING: Final = 0.006
_OF_DRAWS: Final = 6.0
"""Points may differ by the first, and by the second over the draws of a row that count: who
predicts from few draws loses about one part in as many. Where the row tells much of the outcome,
few of many draws count (the effective sample size of their weights)."""

_SIGMAS: Final = 6.0

Losses = tuple[Array, Array | None, Array]
"""Of each row: squared error, interval score of a continuous outcome, and one over the draws that
count."""


def ceiling_again(
    hidden: Hidden, features: Mapping[str, Array] | None, labels: Array, interval: bool
) -> tuple[float, float]:
    """The share of the points, and how far a right one may be from it."""
    scale = 1.0 + float(labels.std())
    shown = bool(features)
    if shown:
        assert features is not None
        rows = {**features, hidden.y: labels}
        found = _losses(hidden, rows)
    else:
        found = _fresh(hidden)
    each = found[1] if interval else found[0]
    assert each is not None
    mean = float(each.mean())
    # The error of a mean of rows, and of as many rows again where others stand in for them.
    spread = 0.0 if shown else float(each.std()) * math.sqrt(1 / len(each) + 1 / len(labels))
    loss = mean if interval else math.sqrt(mean)
    wide = spread if interval else spread / (2 * max(loss, 1e-12))
    points = scale / (scale + loss)
    agrees = _ROUNDING + _OF_DRAWS * float(found[2].mean())
    return points, agrees + _SIGMAS * wide * scale / (scale + loss) ** 2


@lru_cache(maxsize=2)
def _fresh(hidden: Hidden) -> Losses:
    """The losses on units of the world, for all views of a scene."""
    units = {name: column[:_UNITS] for name, column in hidden.population.factual.items()}
    return _losses(hidden, {n: c for n, c in units.items() if n not in hidden.latent})


def _losses(hidden: Hidden, rows: Mapping[str, Array]) -> Losses:
    size = len(rows[hidden.y])
    parts = [
        _part(hidden, {name: column[start : start + _CHUNK] for name, column in rows.items()}, size)
        for start in range(0, size, _CHUNK)
    ]
    squares = np.concatenate([part[0] for part in parts])
    scores = [part[1] for part in parts if part[1] is not None]
    few = np.concatenate([part[2] for part in parts])
    return squares, np.concatenate(scores) if scores else None, few


def _draws(rows: int) -> int:
    return min(_MOST, max(_FEWEST, _DRAWS // rows))


def _part(hidden: Hidden, rows: Mapping[str, Array], size: int) -> Losses:
    known = {name: column for name, column in rows.items() if name != hidden.y}
    value, weight = _weighted(hidden, known, _draws(size))
    label = rows[hidden.y]
    share = weight / weight.sum(axis=1, keepdims=True)
    few = (share**2).sum(axis=1)
    mean = (share * value).sum(axis=1)
    squares = (mean - label) ** 2
    if set(np.unique(label)) <= {0.0, 1.0}:
        return squares, None, few
    order = np.argsort(value, axis=1)
    ranked = np.take_along_axis(share, order, axis=1)
    below = np.cumsum(ranked, axis=1) - 0.5 * ranked
    pairs = list(zip(below, np.take_along_axis(value, order, axis=1), strict=True))
    low, high = (
        np.array([np.interp(end, b, v) for b, v in pairs]) for end in (ALPHA / 2, 1 - ALPHA / 2)
    )
    miss = np.clip(low - label, 0.0, None) + np.clip(label - high, 0.0, None)
    return squares, high - low + 2.0 / ALPHA * miss, few


def _weighted(hidden: Hidden, known: Mapping[str, Array], draws: int) -> tuple[Array, Array]:
    """Draws of the outcome in each row and what each counts, (rows, draws)."""
    noise = hidden.population.noise
    size = len(next(iter(known.values()))) if known else 0
    shape = (size, draws)
    values: dict[str, Array] = {}
    weight = np.ones(shape)
    waiting = list(hidden.record["world"]["nodes"])
    drawn = {*hidden.latent, hidden.y}
    # Every row has units of its own, so that what chance does to one it does not do to all.
    places = (np.arange(size)[:, None] * draws + np.arange(draws)) % DRAWS
    while waiting:
        node = next(n for n in waiting if all(p in values for p in n["parents"]))
        waiting.remove(node)
        name = node["name"]
        columns = [values[parent].ravel() for parent in node["parents"]]
        mean = np.reshape(conditional_mean(node, columns, size * draws), shape)
        scale = None
        if node["noise"] is not None:
            scale = np.reshape(noise_scale(node, columns, size * draws), shape)
        if name in drawn:
            own = noise[name][places]
            values[name] = np.asarray(own < mean, float) if scale is None else mean + scale * own
            continue
        values[name] = np.broadcast_to(known[name][:, None], shape)
        if not drawn.intersection(node["parents"]):
            continue
        if scale is None:
            weight = weight * np.where(values[name] == 1.0, mean, 1.0 - mean)
        else:
            law = noise_law(node["noise"])
            weight = weight * law.pdf((values[name] - mean) / scale) / scale
    return values[hidden.y], weight
