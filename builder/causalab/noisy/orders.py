"""From what each node's parent sets are worth to what each edge is: sums over all causal orders.

After Koivisto and Sood (2004): a graph without a circle is a choice of parents for each node of an
order, so sums over graphs are sums over sets of placed nodes. Graphs count as often as they have
orders. All in plain sums; sets are bit masks, the last axis is the batch.
"""

import numpy as np

from builder.scm.equation import Array


def edge_chances(scores: Array) -> Array:
    """The probability of each edge; shape (node, parent, batch).

    ``scores`` has shape (node, mask, batch): the weight of a node's parent set, largest near 1.
    """
    count, masks = scores.shape[:2]
    with_edge = np.zeros((count, count, *scores.shape[1:]))
    for parent in range(count):
        chosen = [mask for mask in range(masks) if mask >> parent & 1]
        with_edge[:, parent, chosen] = scores[:, chosen]
    inside, with_edge = _over_subsets(scores, count), _over_subsets(with_edge, count)
    forward, backward = _forward(inside), _backward(inside)
    found = np.zeros((count, count, scores.shape[-1]))
    for node in range(count):
        for mask in range(masks):
            if not mask >> node & 1:
                rest = forward[mask] * backward[mask | 1 << node]
                found[node] += with_edge[node, :, mask] * rest
    return np.asarray(found / forward[-1])


def _over_subsets(values: Array, count: int) -> Array:
    """At each mask the sum over all its subsets; the mask axis is the one before the last."""
    total = values.copy()
    for bit in range(count):
        for mask in range(1 << count):
            if mask >> bit & 1:
                total[..., mask, :] += total[..., mask ^ 1 << bit, :]
    return total


def _forward(inside: Array) -> Array:
    """The weight of all ways to place the nodes of a mask first."""
    count, masks, batch = inside.shape
    found = np.zeros((masks, batch))
    found[0] = 1.0
    for mask in range(1, masks):
        for node in range(count):
            if mask >> node & 1:
                before = mask ^ 1 << node
                found[mask] += found[before] * inside[node, before]
    return found


def _backward(inside: Array) -> Array:
    """The weight of all ways to place the others after the nodes of a mask."""
    count, masks, batch = inside.shape
    found = np.zeros((masks, batch))
    found[-1] = 1.0
    for mask in reversed(range(masks - 1)):
        for node in range(count):
            if not mask >> node & 1:
                found[mask] += inside[node, mask] * found[mask | 1 << node]
    return found
