"""Percentile intervals by resampling instances: tasks of one world rise and fall together."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

REPLICATES: Final = 1000
LEVEL: Final = 0.95


def seed_of(task_ids: Iterable[str]) -> int:
    """A seed from the exam alone, so that equal answers get equal intervals."""
    text = "\n".join(sorted(task_ids))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def cluster_means(clusters: Sequence[tuple[float, int]], seed: int) -> list[float]:
    """Bootstrap replicates of a mean over tasks; ``clusters`` holds (sum, tasks) per instance.

    Resamples whole instances with replacement: the ratio of resampled sums to resampled counts.
    """
    generator = random.Random(seed)
    replicates = []
    for _ in range(REPLICATES):
        drawn = generator.choices(clusters, k=len(clusters))
        total = sum(points for points, _ in drawn)
        replicates.append(total / sum(tasks for _, tasks in drawn))
    return replicates


def percentile_interval(replicates: Sequence[float]) -> tuple[float, float]:
    """The central 95% of the replicates (linear interpolation between order statistics)."""
    ordered = sorted(replicates)
    tail = (1 - LEVEL) / 2
    return _quantile(ordered, tail), _quantile(ordered, 1 - tail)


def overall(per_track: Mapping[str, Sequence[float]]) -> list[float]:
    """Replicates of the unweighted mean over tracks."""
    return [sum(values) / len(values) for values in zip(*per_track.values(), strict=True)]


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
