"""What the best predictor of a scene earns, a second time: by weighted draws instead of quadrature.

Unmeasured variables and the outcome are drawn from their equations, given the row; a draw counts in
proportion to the density that it gives what was observed of their effects (likelihood weighting).
Unmeasured variables that the row separates from the outcome are left out, and so is what was
observed of their effects: it says nothing, and would leave a few draws all the weight.
Who predicts from few draws loses more than who knows the distribution. The draws are therefore
split: what is lost by all of them less what is lost by either piece says how the loss falls as
draws are added, and is taken off once more (Richardson's extrapolation); what parts the pieces says
how sure the result is, and the fewer there are, the less sure is that (Student's t).

Where the held-out rows are shown, the stored ceiling must be what that earns on them; the views of
a scene have the same rows, so that its clean view tells for all of them. Under measurements alone
the rows are not known: units of the world stand in for them, and chance may part the two.

A row that only rare values of what is unmeasured explain has no draws near it, and what chance
threw nearest would pass for sure. At a second look these variables stray further in half of the
draws, which count the less for it (:func:`_weighted`): of 20,000 scenes two had been refused for it
and one of these was accepted only because nothing could be told of it.

How much is seen at a first look, of 320 ceilings with 100 rows: one that is 0.03 off in all numbers
and 99% of intervals, one that is 0.01 off in 56% and 34%. Where a first look leaves doubt, a second
takes more draws: of 128 ceilings, with some hundred rows, one that is 0.03 off is
seen in 125. Under measurements alone a wrong one is seen for sure from 0.1 on.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import networkx as nx
import numpy as np
import scipy

from builder.causalds.check.equations import Array, conditional_mean, noise_law, noise_scale
from builder.causalds.check.hidden import Hidden
from builder.causalds.check.numbers import DRAWS

ALPHA: Final = 0.1
"""The miscoverage of prediction intervals, stated a second time."""

_DRAWS: Final = (300_000, 2_000_000)
"""All draws: at a first look; and, of shown rows, at a second one, where that says too little or
the scene itself is looked at again."""
_FEWEST: Final = 256
_MOST: Final = (4096, 8192)
_DOUBTFUL: Final = 0.02
"""A second look is taken where a right ceiling may be further off than this."""
_UNITS: Final = 1000
_SHARING: Final = 500
"""Rows after which the units of the world come round again."""
_CELLS: Final = 30_000
"""Draws looked at together: what stays in a processor's cache."""
_GRID: Final = (0.001, 0.008)
"""Points may differ by so much beside what chance explains, without unmeasured variables and with
some: the stored ones come from a grid, which is coarse for a row that tells nearly all of one."""

_SIGMAS: Final = 5.0
"""A right ceiling may be as far off as a Gaussian is this rarely."""
_PIECES: Final = (2, 8)
_PIECE: Final = 128
"""The draws of a row are split into so many pieces, of so many draws where that can be."""
_WIDER: Final = 3.0
"""At a second look unmeasured variables stray so many times as far in half of the draws."""

Losses = tuple[Array, Array, Array]
"""Of each row: the loss, extrapolated; by how much the extrapolation lowers it; and an error of
the size that chance gives it."""


def ceiling_again(
    hidden: Hidden, features: Mapping[str, Array] | None, labels: Array, interval: bool
) -> tuple[float, float]:
    """The share of the points, and how far a right one may be from it."""
    if features and hidden.population.draws > DRAWS:
        return _looked(hidden, features, labels, interval, 1)
    points, error = _looked(hidden, features, labels, interval, 0)
    if features and error > _DOUBTFUL:
        return _looked(hidden, features, labels, interval, 1)
    return points, error


def _looked(
    hidden: Hidden, features: Mapping[str, Array] | None, labels: Array, interval: bool, look: int
) -> tuple[float, float]:
    """The same at the first or second look."""
    scale = 1.0 + float(labels.std())
    found = _losses(hidden, {**features, hidden.y: labels}, look) if features else _fresh(hidden)
    each, lowered, chance = found[interval]
    mean = max(float(each.mean()), 0.0)
    # The error of a mean of rows, and of as many rows again where others stand in for them.
    spread = 0.0 if features else float(each.std()) * math.sqrt(1 / len(each) + 1 / len(labels))
    doubt = math.hypot(_SIGMAS * spread, _reach(chance, look) / len(each))
    wide = abs(float(lowered.mean())) + doubt
    loss = mean if interval else math.sqrt(mean)
    wide = wide if interval else wide / (2 * max(loss, 1e-12))
    points = scale / (scale + loss)
    grid = _GRID[bool(_connected(hidden))]
    return points, grid + wide * scale / (scale + loss) ** 2


def _reach(chance: Array, look: int = 0) -> float:
    """How far the sum of rows may be off by chance, given the error of each.

    A few rows can make up nearly all of it, such as those that an interval misses; the degrees of
    freedom behind their errors are then few (Welch and Satterthwaite).
    """
    squares = chance**2
    total = float(squares.sum())
    if total == 0.0:
        return 0.0
    pieces = _pieces(_draws(len(chance), look))
    freedom = (pieces - 1) * total**2 / float((squares**2).sum())
    return float(scipy.stats.t.isf(scipy.stats.norm.sf(_SIGMAS), freedom)) * math.sqrt(total)


def _fresh(hidden: Hidden) -> tuple[Losses, ...]:
    """The losses on units of the world."""
    units = {name: column[:_UNITS] for name, column in hidden.population.factual.items()}
    return _losses(hidden, {n: c for n, c in units.items() if n not in hidden.latent}, 0)


def _losses(hidden: Hidden, rows: Mapping[str, Array], look: int) -> tuple[Losses, ...]:
    """Squared errors and, of a continuous outcome, interval scores."""
    stored = tuple((name, column.tobytes()) for name, column in sorted(rows.items()))
    return _kept(hidden, stored, look)


@lru_cache(maxsize=3)
def _kept(hidden: Hidden, stored: tuple[tuple[str, bytes], ...], look: int) -> tuple[Losses, ...]:
    """The losses on these rows, for the tasks and views of a scene that ask of the same."""
    rows = {name: np.frombuffer(column) for name, column in stored}
    size = len(rows[hidden.y])
    draws = _draws(size, look)
    step = max(1, _CELLS // draws)
    parts = [
        _part(hidden, {name: column[start : start + step] for name, column in rows.items()},
              draws, start, look)
        for start in range(0, size, step)
    ]  # fmt: skip
    return tuple(
        (np.concatenate(each), np.concatenate(lowered), np.concatenate(chance))
        for each, lowered, chance in (zip(*kind, strict=True) for kind in zip(*parts, strict=True))
    )


def _draws(rows: int, look: int) -> int:
    """The draws of a row: as many in each of its pieces."""
    most = min(_MOST[look], max(_FEWEST, _DRAWS[look] // rows))
    return most - most % _pieces(most)


def _pieces(draws: int) -> int:
    low, high = _PIECES
    return min(high, max(low, draws // _PIECE))


def _part(
    hidden: Hidden, rows: Mapping[str, Array], draws: int, start: int, look: int
) -> list[Losses]:
    """The losses on some rows, of which the first is row ``start``, from so many draws in each."""
    known = {name: column for name, column in rows.items() if name != hidden.y}
    value, weight = _weighted(hidden, known, draws, start, wide=look > 0)
    label = rows[hidden.y]
    kinds = [_squared] if set(np.unique(label)) <= {0.0, 1.0} else [_squared, _scored]
    count = _pieces(draws)
    share, few = _shares(weight), [_in_pieces(column, count) for column in (value, weight)]
    few_shares, labels = _shares(few[1]), np.repeat(label, count)
    found = (
        (loss(value, share, label), loss(few[0], few_shares, labels).reshape(-1, count).T)
        for loss in kinds
    )
    return [_extrapolated(whole, several) for whole, several in found]


def _in_pieces(draws: Array, count: int) -> Array:
    """The draws of each row in so many pieces, each a row of its own. Neighbours in order of
    drawing, not of size, are parted: the pieces are independent of each other."""
    rows = len(draws)
    return draws.reshape(rows, -1, count).swapaxes(1, 2).reshape(rows * count, -1)


def _extrapolated(whole: Array, pieces: Array) -> Losses:
    """What infinitely many draws would lose, from that of all and that of each piece of them."""
    count = len(pieces)
    lowered = (pieces.mean(axis=0) - whole) / (count - 1)
    return whole - lowered, lowered, pieces.std(axis=0, ddof=1) / math.sqrt(count)


def _shares(weight: Array) -> Array:
    """Weights that sum to one; of draws that all count for nothing, each counts alike."""
    total = weight.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, weight / np.where(total > 0.0, total, 1.0), 1 / weight.shape[1])


def _squared(value: Array, share: Array, label: Array) -> Array:
    """The squared error of the mean."""
    found: Array = ((share * value).sum(axis=1) - label) ** 2
    return found


def _scored(value: Array, share: Array, label: Array) -> Array:
    """The interval score of the central interval."""
    if np.ptp(share) == 0.0:
        value = np.sort(value, axis=1)
    else:
        order = np.argsort(value, axis=1)
        value, share = (np.take_along_axis(part, order, axis=1) for part in (value, share))
    below = np.cumsum(share, axis=1) - 0.5 * share
    low, high = (_quantile(below, value, end) for end in (ALPHA / 2, 1 - ALPHA / 2))
    miss = np.clip(low - label, 0.0, None) + np.clip(label - high, 0.0, None)
    found: Array = high - low + 2.0 / ALPHA * miss
    return found


def _quantile(below: Array, value: Array, end: float) -> Array:
    """Where the share below reaches ``end``, by a line between neighbours; in every row."""
    last = value.shape[1] - 1
    right = np.clip((below < end).sum(axis=1), 1, last)[:, None]
    (x0, x1), (y0, y1) = (
        [np.take_along_axis(part, place, axis=1)[:, 0] for place in (right - 1, right)]
        for part in (below, value)
    )
    gap = np.where(x1 > x0, x1 - x0, 1.0)
    found: Array = y0 + np.clip((end - x0) / gap, 0.0, 1.0) * (y1 - y0)
    return found


def _connected(hidden: Hidden) -> frozenset[str]:
    """The unmeasured variables that the other observed ones do not d-separate from the outcome, and
    of which one of these or the outcome is an effect."""
    seen = set(hidden.graph) - hidden.latent - {hidden.y}
    told = {node for one in (*seen, hidden.y) for node in nx.ancestors(hidden.graph, one)}
    return frozenset(
        node
        for node in hidden.latent & told
        if not nx.is_d_separator(hidden.graph, {node}, {hidden.y}, seen)
    )


def _weighted(
    hidden: Hidden, known: Mapping[str, Array], draws: int, start: int, *, wide: bool
) -> tuple[Array, Array]:
    """Draws of the outcome in each row and what each counts, (rows, draws).

    ``wide``: in half of the draws all unmeasured variables stray ``_WIDER`` times as far, and count
    the less for it (a defensive mixture, Hesterberg 1995): a row that only rare values of them
    explain has draws then, and is not judged by the few that chance threw near it.
    """
    noise = hidden.population.noise
    size = len(next(iter(known.values()))) if known else 0
    shape = (size, draws)
    values: dict[str, Array] = {}
    weight = np.ones(shape)
    stretch = np.where(wide & (np.arange(draws) // _PIECES[1] % 2 == 1), _WIDER, 1.0)
    usual, far = np.ones(shape), np.ones(shape)
    drawn = {*_connected(hidden), hidden.y}
    aside = hidden.latent - drawn
    waiting = [node for node in hidden.record["world"]["nodes"] if node["name"] not in aside]
    # Every row has units of its own, so that what chance does to one it does not do to all.
    rows = (start + np.arange(size)[:, None]) % _SHARING
    places = (rows * draws + np.arange(draws)) % hidden.population.draws
    while waiting:
        node = next(n for n in waiting if all(p in values or p in aside for p in n["parents"]))
        waiting.remove(node)
        name = node["name"]
        if name not in drawn:
            values[name] = np.broadcast_to(known[name][:, None], shape)
            if not drawn.intersection(node["parents"]):
                continue
        # What no draw moves is the same for all draws of a row.
        across = draws if drawn.intersection(node["parents"]) else 1
        columns = [values[parent][:, :across].ravel() for parent in node["parents"]]
        mean = np.reshape(conditional_mean(node, columns, size * across), (size, across))
        scale = None
        if node["noise"] is not None:
            scale = np.reshape(noise_scale(node, columns, size * across), (size, across))
        if name in drawn:
            own = noise[name][places]
            if wide and scale is not None and name != hidden.y:
                own = own * stretch
                law = noise_law(node["noise"])
                usual, far = usual * law.pdf(own), far * law.pdf(own / _WIDER) / _WIDER
            values[name] = np.asarray(own < mean, float) if scale is None else mean + scale * own
        elif scale is None:
            weight = weight * np.where(values[name] == 1.0, mean, 1.0 - mean)
        else:
            law = noise_law(node["noise"])
            weight = weight * law.pdf((values[name] - mean) / scale) / scale
    if wide and len(drawn) > 1:
        weight = weight * 2.0 * usual / (usual + far)
    return values[hidden.y], weight
