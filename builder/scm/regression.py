"""Regressions read off covariances, without a library: the same bits on every processor.

Covariances are stacks (..., k, k), so that hundreds of small problems are solved at once.
"""

from collections.abc import Sequence

import numpy as np

from builder.scm.equation import Array


def covariance(columns: Sequence[Array]) -> Array:
    """The covariances (k, k) of columns (n,)."""
    centred = [column - column.mean() for column in columns]
    return np.array([[float(np.mean(a * b)) for b in centred] for a in centred])


def slope(covariances: Array, x: int, y: int, given: Sequence[int] = ()) -> Array:
    """The coefficient of x in the linear regression of y on x and ``given``: shape (...)."""
    swept = _swept(covariances, given)
    return np.asarray(swept[..., x, y] / swept[..., x, x])


def correlation(covariances: Array, x: int, y: int, given: Sequence[int] = ()) -> Array:
    """The linear partial correlation of x and y given the others: shape (...)."""
    swept = _swept(covariances, given)
    return np.asarray(swept[..., x, y] / np.sqrt(swept[..., x, x] * swept[..., y, y]))


def _swept(covariances: Array, given: Sequence[int]) -> Array:
    """What is left of the covariances once ``given`` are regressed out, one after another."""
    left = np.array(covariances, dtype=np.float64)
    for z in given:
        row = left[..., z, :].copy()
        left -= row[..., :, None] * row[..., None, :] / row[..., z, None, None]
        # What is regressed out has no variance left, and must not divide anything again.
        left[..., z, :] = left[..., :, z] = 0.0
        left[..., z, z] = 1.0
    return left
