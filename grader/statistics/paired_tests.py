"""Paired comparisons: mean difference by instances, the exact sign test, the signed-rank test."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Final

from grader.scoring.model import Score
from grader.statistics import bootstrap

RANKED_EXACTLY: Final = 50
"""Differences up to which all ways of giving them signs are counted."""


def signed_rank(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's test that differences are spread evenly about 0.

    Zeros are left out, and equal sizes share the mean of their ranks; 1 where nothing is left.
    Beyond :data:`RANKED_EXACTLY` differences it is the normal approximation, corrected for ties.
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
    if len(present) <= RANKED_EXACTLY:
        ways = [1] + [0] * smaller  # in how many ways some ranks add up to each sum
        for rank in ranks:
            ways = [w + (ways[k - rank] if k >= rank else 0) for k, w in enumerate(ways)]
        return min(1.0, sum(ways) / (1 << (len(present) - 1)))
    # Var(sum of ranks) = n(n + 1)(2n + 1)/24 - sum(t^3 - t)/48 over ties, here of doubled ranks.
    n = len(present)
    variance = n * (n + 1) * (2 * n + 1) / 6 - sum(t**3 - t for t in sizes.values()) / 12
    return math.erfc((total / 2 - smaller) / math.sqrt(2 * variance))


SAME: Final = 1e-12
"""Points that differ by less are equal: they went through the same formula in another order."""


Pairs = Sequence[tuple[Score, Score]]
"""Two score rows for each task, first and second."""


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided exact p-value of ``wins`` against ``losses`` under equal chances.

    With right/wrong marks this is McNemar's exact test.
    """
    decided, ways, total = wins + losses, 1, 1
    for k in range(min(wins, losses)):
        ways = ways * (decided - k) // (k + 1)
        total += ways
    tail = total / (1 << decided)
    return min(1.0, 2 * tail)


def compare_points(pairs: Pairs) -> dict[str, Any]:
    """Return the mean points of both (0 to 100), their difference, and who wins how often.

    ``by_task`` and ``by_instance`` count wins of the first; an instance is won by more points in
    total. Tasks of one instance rise and fall together, so the test by instance is the safer one.
    The interval resamples instances, and is None with one.
    """
    clusters = bootstrap.sum_by_instance((a.instance_id, a.points - b.points) for a, b in pairs)
    means = bootstrap.cluster_means(clusters, bootstrap.seed_of(clusters))
    first = 100 * math.fsum(a.points for a, _ in pairs) / len(pairs)
    second = 100 * math.fsum(b.points for _, b in pairs) / len(pairs)
    return {
        "tasks": len(pairs),
        "instances": len(clusters),
        **difference(first, second, [100 * mean for mean in means] if len(clusters) > 1 else []),
        "by_task": _record([a.points - b.points for a, b in pairs]),
        "by_instance": _record([total for total, _ in clusters.values()]),
    }


def compare_by_level(pairs: Pairs, level: Callable[[Score], str]) -> dict[str, Any]:
    """Return :func:`compare_points` by sorted ``level`` of each pair's first row."""
    levels = sorted({level(first) for first, _ in pairs})
    return {k: compare_points([pair for pair in pairs if level(pair[0]) == k]) for k in levels}


def difference(first: float, second: float, replicates: Sequence[float]) -> dict[str, Any]:
    """Return ``first``, ``second``, ``difference`` (first minus second), its 95% ``interval`` and
    ``detectable``, the smallest one that would show; both None without bootstrap ``replicates``."""
    return {
        "first": first,
        "second": second,
        "difference": first - second,
        "interval": bootstrap.percentile_interval(replicates) if replicates else None,
        "detectable": bootstrap.detectable_difference(replicates) if replicates else None,
    }


def _record(differences: Sequence[float]) -> dict[str, Any]:
    """Return wins, ties (up to ``SAME``), losses of the first and the sign test's p-value."""
    wins = sum(value > SAME for value in differences)
    losses = sum(value < -SAME for value in differences)
    return {
        "wins": wins,
        "ties": len(differences) - wins - losses,
        "losses": losses,
        "p_value": sign_test(wins, losses),
    }
