"""Correlations from rows, and which of them a graph says are exactly zero.

With correlations r of X and Y, a of X and Z, b of Y and Z, the linear partial correlation of X and
Y given Z is ``(r − a b) / sqrt((1 − a²)(1 − b²))``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from baselines.causalds.double_sampling import Tables, draws
from baselines.causalds.estimators import ZERO, Chosen, Columns, Estimate, summary
from baselines.release import FloatArray
from builder.causal.graph import LatentDAG
from builder.scm.margins import association_margin

_CERTAIN = 4.0
"""The data overrule a zero that was read from the story from so many standard errors on."""


@dataclass(frozen=True, slots=True)
class Associations:
    """Of X and Y: the correlation, and given each third variable the partial one and the change."""

    plain: Estimate
    partial: Mapping[str, Estimate]
    change: Mapping[str, Estimate]


def associations(
    tables: Tables, graph: LatentDAG, x: str, y: str, weights: FloatArray
) -> Associations:
    """Correlations of x and y in the population, exactly zero where ``graph`` says so.

    Given Z a zero is taken from d-separation, although only where relations are linear in Z does
    it make the *linear* partial correlation vanish: the labels that are asked for are either of
    exact zeros or well away from zero.
    """

    def settled(found: FloatArray, zero: bool, *others: str) -> Estimate:
        """Exactly zero where the graph says so and the data do not contradict it."""
        estimate = summary(found)
        # The prompt's promise: a label's value is exactly zero or at least this far from it.
        margin = association_margin(measured=bool({x, y, *others} & tables.measured))
        doubt = max(_CERTAIN * estimate.error, margin / 2)
        return ZERO if zero and abs(estimate.value) < doubt else estimate

    def plain(data: Columns, w: FloatArray, chosen: Chosen) -> FloatArray:
        return correlations(data, (x, y), w)[:, 0, 1]

    def partial_and_change(z: str) -> FloatArray:
        def estimator(data: Columns, w: FloatArray, chosen: Chosen) -> FloatArray:
            found = correlations(data, (x, y, z), w)
            r = found[:, 0, 1]
            s = partial(r, found[:, 0, 2], found[:, 1, 2])
            return np.column_stack([s, s - r])

        return draws(tables, frozenset({x, y, z}), estimator, weights)

    both = {z: partial_and_change(z) for z in sorted(set(tables.rows) - {x, y})}
    apart = graph.d_separated
    return Associations(
        settled(draws(tables, frozenset({x, y}), plain, weights), apart((x,), (y,))),
        {z: settled(found[:, 0], apart((x,), (y,), (z,)), z) for z, found in both.items()},
        {z: settled(found[:, 1], _unchanged(graph, x, y, z), z) for z, found in both.items()},
    )


def correlations(data: Columns, names: tuple[str, ...], weights: FloatArray) -> FloatArray:
    """Weighted correlation matrices, shape (B, k, k); zero with a column that does not vary."""
    values = np.column_stack([data[name] - data[name].mean() for name in names])
    n, k = values.shape
    total = weights.sum(axis=1)[:, None]
    mean = weights @ values / total
    products = (values[:, :, None] * values[:, None, :]).reshape(n, k * k)
    covariance = (weights @ products / total).reshape(-1, k, k)
    covariance = covariance - mean[:, :, None] * mean[:, None, :]
    spread = np.sqrt(np.maximum(np.einsum("bii->bi", covariance), 0))
    scale = spread[:, :, None] * spread[:, None, :]
    return np.asarray(np.where(scale > 1e-12, covariance / np.maximum(scale, 1e-12), 0.0))


def partial(r: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """The linear partial correlation from three correlations, each of shape (B,)."""
    return np.asarray((r - a * b) / np.sqrt(np.maximum((1 - a**2) * (1 - b**2), 1e-9)))


def _unchanged(graph: LatentDAG, x: str, y: str, z: str) -> bool:
    """Whether Z cannot change the correlation: one of the three is apart from the other two."""
    return any(
        graph.d_separated((one,), rest) for one, rest in ((x, (y, z)), (y, (x, z)), (z, (x, y)))
    )
