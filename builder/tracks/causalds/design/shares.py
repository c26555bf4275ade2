"""Turn shares into whole numbers, and set requested beside realised numbers."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from builder.splits.seeds import random_order

ByName = dict[str, dict[str, float]]
ByAxis = dict[str, ByName]
"""Axis -> name -> {"requested": number of scenes, maybe fractional, "realised": number}."""


def largest_remainder(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """Return whole counts by key, in proportion to ``weights``, of sum ``total`` (Hamilton's
    method). Ties go to the first key. Raises ``ValueError`` when all weights are zero."""
    mass = sum(weights.values())
    if mass <= 0:
        raise ValueError("all weights are zero")
    shares = {key: total * weight / mass for key, weight in weights.items()}
    counts = {key: int(share) for key, share in shares.items()}
    by_remainder = sorted(weights, key=lambda key: -round(shares[key] - counts[key], 9))
    for key in by_remainder[: total - sum(counts.values())]:
        counts[key] += 1
    return counts


def count_of(share: float, total: int) -> int:
    """Return ``share`` (0 to 1) of ``total``, rounded to a whole number, a half up."""
    return largest_remainder({"yes": share, "no": 1.0 - share}, total)["yes"]


def deal_names(rng: np.random.Generator, weights: Mapping[str, float], total: int) -> list[str]:
    """Return ``total`` names by largest remainder of ``weights``, in a random order."""
    counts = largest_remainder(weights, total)
    return random_order(rng, [name for name, count in counts.items() for _ in range(count)])


def spread(rng: np.random.Generator, share: float, total: int) -> list[bool]:
    """Return ``total`` flags, a ``share`` (0 to 1) of them true, evenly from a random start."""
    true = count_of(share, total)
    start = int(rng.integers(total))
    turned = ((start + i) % total for i in range(total))
    return [(i + 1) * true // total > i * true // total for i in turned]


def requested_and_realised(requested: Mapping[str, float], realised: Counter[str]) -> ByName:
    """Return requested (rounded) and realised numbers by name, names not requested last."""
    names = [*requested, *sorted(set(realised) - set(requested))]
    return {
        name: {"requested": round(requested.get(name, 0.0), 2), "realised": realised[name]}
        for name in names
    }
