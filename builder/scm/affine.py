"""Closed forms where a world is affine: path coefficients, means and covariances.

In a linear model V = B V + b + e with independent errors of variances D, the covariance of V is
(I - B)^-1 D (I - B)^-T (Bollen 1989, Eq. 4.10), and the total effect of X on Y is the sum over
directed paths of the products of their coefficients (Wright 1934). A binary root, or any node held
at a constant, fits in as a source with the mean and variance it has.
"""

from collections.abc import Mapping

import numpy as np

from builder.scm.equation import Array
from builder.scm.world import World


def total_coefficient(world: World, x: str, y: str) -> float | None:
    """Total effect of one unit of ``x`` on ``y``, or None unless it is the same for every unit.

    It is when every node after ``x`` on a directed path to ``y``, ``y`` included, is affine in its
    parents; ``x`` itself and everything off those paths may be anything. The effect is then a
    constant, so that the effect on any group of units (on the treated, say) equals the average one.
    """
    path = {v for v in world.ancestors((y,)) if v != x and x in world.ancestors((v,))}
    effect = {x: 1.0}
    for name in world.order:
        if name in path:
            node = world.node(name)
            form = node.affine
            if form is None:
                return None
            pairs = zip(form.weights, node.parents, strict=True)
            effect[name] = sum(w * effect[p] for w, p in pairs if p in effect)
    return effect.get(y, 0.0)


def affine_moments(
    world: World, targets: tuple[str, ...], held: Mapping[str, float] | None = None
) -> tuple[Array, Array] | None:
    """Population mean (k,) and covariance (k, k) of ``targets``, under do(``held``).

    None unless all their ancestors are affine in their parents, roots, or held.
    """
    held = {} if held is None else held
    needed = world.ancestors(targets, cut=held)
    names = [name for name in world.order if name in needed]
    place = {name: i for i, name in enumerate(names)}
    loading = np.zeros((len(names), len(names)))  # (I - B)^-1, row by row in topological order
    mean, variance = np.zeros(len(names)), np.zeros(len(names))
    for i, name in enumerate(names):
        if name in held:
            mean[i] = held[name]
            continue
        node = world.node(name)
        form = node.affine
        loading[i, i] = 1.0
        if form is not None:
            variance[i] = float(world.conditional_variance(name, {}))
            parents = [place[parent] for parent in node.parents]
            mean[i] = form.bias + sum(
                w * mean[j] for w, j in zip(form.weights, parents, strict=True)
            )
            for weight, j in zip(form.weights, parents, strict=True):
                loading[i] += weight * loading[j]
        elif not node.parents:
            mean[i] = float(world.conditional_mean(name, {}))
            variance[i] = float(world.conditional_variance(name, {}))
        else:
            return None
    rows = [place[target] for target in targets]
    # No @: in what order it adds depends on the processor.
    products = loading[rows][:, None, :] * loading[rows][None, :, :] * variance
    return mean[rows], products.sum(axis=2)
