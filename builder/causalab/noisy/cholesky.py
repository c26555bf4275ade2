"""Many small positive definite systems at once, in arithmetic that every processor does alike.

The axes of a matrix come first; what follows (sets, draws) is the batch. LAPACK would be chosen by
the processor, and its last bits differ; here every step is elementwise.
"""

import numpy as np

from builder.scm.elementary import log
from builder.scm.equation import Array


def solved(matrix: Array, right: Array) -> tuple[Array, Array]:
    """``matrix``⁻¹ ``right`` and ln det ``matrix``.

    ``matrix`` has shape (k, k, batch…), ``right`` (k, columns, batch…); the first result has the
    shape of ``right``, the second that of the batch.
    """
    lower, found = _factor(matrix), right.copy()
    size = len(lower)
    for i in range(size):
        found[i] /= lower[i, i]
        found[i + 1 :] -= lower[i + 1 :, i, None] * found[i]
    for i in reversed(range(size)):
        found[i] /= lower[i, i]
        found[:i] -= lower[i, :i, None] * found[i]
    determinant = np.zeros(lower.shape[2:])
    for i in range(size):
        determinant += 2.0 * log(lower[i, i])
    return found, determinant


def _factor(matrix: Array) -> Array:
    """The lower triangle L with L Lᵀ = ``matrix``; what is above the diagonal says nothing."""
    lower = matrix.copy()
    for j in range(len(lower)):
        lower[j:, j] /= np.sqrt(lower[j, j])
        below = lower[j + 1 :, j]
        lower[j + 1 :, j + 1 :] -= below[:, None] * below[None, :]
    return lower
