"""Closed forms where a world is affine: means and covariances by matrices.

In a linear model V = B V + b + e with independent errors of variances D, the covariance of V is
(I - B)^-1 D (I - B)^-T (Bollen 1989, Eq. 4.10). A binary root fits in as a source with the mean and
variance it has.
"""

import numpy as np

from builder.scm.equation import Array
from builder.scm.world import World


def affine_moments(world: World, targets: tuple[str, ...]) -> tuple[Array, Array] | None:
    """Population mean (k,) and covariance (k, k) of ``targets``; None unless all their ancestors
    are affine in their parents, or roots."""
    needed = world.ancestors(targets)
    names = [name for name in world.order if name in needed]
    place = {name: i for i, name in enumerate(names)}
    loading = np.zeros((len(names), len(names)))  # (I - B)^-1, row by row in topological order
    mean, variance = np.zeros(len(names)), np.zeros(len(names))
    for i, name in enumerate(names):
        node, form = world.node(name), world.node(name).affine
        if form is None and node.parents:
            return None
        loading[i, i] = 1.0
        if form is None:
            mean[i] = float(world.conditional_mean(name, {}))
            variance[i] = mean[i] * (1.0 - mean[i])
            continue
        assert node.noise is not None
        variance[i] = node.noise.scale**2
        mean[i] = form.bias
        for weight, parent in zip(form.weights, node.parents, strict=True):
            mean[i] += weight * mean[place[parent]]
            loading[i] += weight * loading[place[parent]]
    rows = [place[target] for target in targets]
    return mean[rows], loading[rows] @ np.diag(variance) @ loading[rows].T
