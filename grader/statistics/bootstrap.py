"""Percentile intervals by resampling instances: tasks of one world rise and fall together."""

import hashlib
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

REPLICATES: Final = 1000
LEVEL: Final = 0.95
MOST_CLUSTERS: Final = 5_000
"""More instances than these are resampled in this many random groups of nearly equal size: the
variance of a mean is the same, and the time no longer grows with the exam."""
_Z95: Final = 1.959964
_POWER: Final = _Z95 + 0.841621
"""Normal quantiles of a two-sided 5% test and of 80% power."""


def seed_of(task_ids: Iterable[str]) -> int:
    """A seed from the exam alone, so that equal answers get equal intervals."""
    text = "\n".join(sorted(task_ids))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def cluster_means(clusters: Sequence[tuple[float, int]], seed: int) -> list[float]:
    """Bootstrap replicates of a mean over tasks; ``clusters`` holds (sum, tasks) per instance.

    Resamples whole instances with replacement: the ratio of resampled sums to resampled counts.
    """
    generator = random.Random(seed)
    if len(clusters) > MOST_CLUSTERS:
        clusters = _grouped(clusters, generator)
    replicates = []
    for _ in range(REPLICATES):
        drawn = generator.choices(clusters, k=len(clusters))
        total = sum(points for points, _ in drawn)
        replicates.append(total / sum(tasks for _, tasks in drawn))
    return replicates


def _grouped(
    clusters: Sequence[tuple[float, int]], generator: random.Random
) -> list[tuple[float, int]]:
    shuffled = list(clusters)
    generator.shuffle(shuffled)
    groups = (shuffled[k::MOST_CLUSTERS] for k in range(MOST_CLUSTERS))
    return [(sum(p for p, _ in group), sum(n for _, n in group)) for group in groups]


def percentile_interval(replicates: Sequence[float]) -> tuple[float, float]:
    """The central 95% of the replicates (linear interpolation between order statistics)."""
    ordered = sorted(replicates)
    tail = (1 - LEVEL) / 2
    return _quantile(ordered, tail), _quantile(ordered, 1 - tail)


def overall(per_track: Mapping[str, Sequence[float]]) -> list[float]:
    """Replicates of the unweighted mean over tracks."""
    return [sum(values) / len(values) for values in zip(*per_track.values(), strict=True)]


def standard_error(replicates: Sequence[float]) -> float:
    """The standard deviation of the replicates (n - 1 in the denominator)."""
    mean = math.fsum(replicates) / len(replicates)
    spread = math.fsum((value - mean) ** 2 for value in replicates)
    return math.sqrt(spread / (len(replicates) - 1))


def detectable(error: float) -> float:
    """The difference that a two-sided 5% test sees with 80% power, given its standard error."""
    return _POWER * error


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share; unlike a bootstrap it has width at 0 and at 1."""
    share, z = successes / trials, _Z95
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2)) * z
    half /= 1 + z * z / trials
    return max(0.0, middle - half), min(1.0, middle + half)


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
