"""The one resampler: draws of instances, figures under them, and the intervals that follow.

NumPy is imported inside functions: checking answers needs no interval.
"""

import hashlib
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from statistics import stdev
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

REPLICATES: Final = 1000
Clusters = Mapping[str, tuple[float, int]]
"""Instance to the sum of its values and their number."""


def sum_by_instance(values: Iterable[tuple[str, float]]) -> dict[str, tuple[float, int]]:
    """Return {instance: (sum, number)} of (instance, value) pairs, keys sorted."""
    found: dict[str, tuple[float, int]] = {}
    for name, value in values:
        total, count = found.get(name, (0.0, 0))
        found[name] = (total + value, count + 1)
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Draws:
    """Bootstrap draws of instances.

    ``place`` maps an instance to its row of ``counts``, of shape (instances, replicates): how often
    each replicate drew it.
    """

    place: Mapping[str, int]
    counts: "NDArray[Any]"

    def sums(self, values: Sequence[tuple[str, float]]) -> "NDArray[Any]":
        """Return sums (replicates,) of (instance, value) pairs, each as often as it is drawn."""
        import numpy as np

        places, terms = [self.place[name] for name, _ in values], [value for _, value in values]
        rows, inverse = np.unique(np.array(places, dtype=int), return_inverse=True)
        totals = np.bincount(inverse, terms, len(rows))
        # Row after row: every processor rounds this alike, which a matrix product is not sure to.
        sums: NDArray[Any] = (self.counts[rows] * totals[:, None]).sum(axis=0)
        return sums

    def means(self, clusters: Clusters) -> list[float]:
        """Return replicates of a mean over tasks: drawn sums over drawn numbers.

        Draws that hold none of ``clusters`` are left out.
        """
        sums = self.sums([(name, total) for name, (total, _) in clusters.items()])
        tasks = self.sums([(name, count) for name, (_, count) in clusters.items()])
        means: list[float] = (sums[tasks > 0] / tasks[tasks > 0]).tolist()
        return means

    def medians(self, values: Iterable[tuple[str, float]]) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Return the median of (instance, value) under each draw and the number of values that were
        drawn, both of shape (replicates,). Where that is 0, the median is any of the values."""
        import numpy as np

        ordered = sorted(values, key=itemgetter(1))
        sizes = np.array([value for _, value in ordered])
        running = self.counts[[self.place[name] for name, _ in ordered]].cumsum(axis=0)
        drawn = running[-1]
        middles = ((running <= rank).sum(axis=0) for rank in ((drawn - 1) // 2, drawn // 2))
        low, high = (sizes[np.minimum(place, len(sizes) - 1)] for place in middles)
        return (low + high) / 2, drawn


def draw_instances(names: Iterable[str], seed: int, replicates: int = REPLICATES) -> Draws:
    """Draw as many instances as there are, with replacement, ``replicates`` times.

    The order of ``names`` is part of what the seed stands for, and a repeated name counts once.
    Equal arguments get equal draws, so that every figure of an exam and every submission to it
    share them.
    """
    return _draws(tuple(dict.fromkeys(names)), seed, replicates)


@lru_cache(maxsize=16)  # sets of instances: those of an exam and of its tracks
def _draws(names: tuple[str, ...], seed: int, replicates: int) -> Draws:
    """Return the draws of distinct names, from a cache where possible."""
    import numpy as np

    rows, generator = range(len(names)), random.Random(seed)
    counts = np.zeros((len(names), replicates), dtype=np.int32)
    for replicate in range(replicates):
        drawn = generator.choices(rows, k=len(rows))
        counts[:, replicate] = np.bincount(drawn, minlength=len(rows))
    return Draws({name: k for k, name in enumerate(names)}, counts)


def cluster_means(clusters: Clusters, seed: int) -> list[float]:
    """Return ``REPLICATES`` bootstrap means over tasks. Only these clusters are resampled."""
    return draw_instances(clusters, seed).means(clusters)


LEVEL: Final = 0.95


def seed_of(task_ids: Iterable[str]) -> int:
    """Return a seed from the exam alone, so that equal answers get equal intervals."""
    text = "\n".join(sorted(task_ids))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def percentile_interval(replicates: Sequence[float]) -> list[float]:
    """Return the ends of the central 95% of the replicates."""
    import numpy as np

    ends: list[float] = np.quantile(replicates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return ends


def mean_interval(values: Iterable[tuple[str, float]]) -> list[float] | None:
    """Return the 95% interval of the mean of (instance, value) pairs; None for one instance."""
    clusters = sum_by_instance(values)
    if len(clusters) < 2:
        return None
    return percentile_interval(cluster_means(clusters, seed_of(clusters)))


def mean_over_tracks(replicates: Iterable[Sequence[float]]) -> list[float]:
    """Return replicates of the unweighted mean over tracks, equally many of each."""
    return [sum(values) / len(values) for values in zip(*replicates, strict=True)]


def detectable_difference(replicates: Sequence[float]) -> float:
    """Return 2.8 SD of replicates: what a two-sided 5% test sees with 80% power."""
    return 2.801585 * stdev(replicates)  # the normal quantiles of both, added


def between_systems(replicates: Sequence[float]) -> float | None:
    """Return the smallest difference to a second system that one exam would show, or ``None``.

    ``replicates`` are those of one system. The other is taken to be independent and to vary as
    much. ``None`` where the replicates do not vary: they say nothing of the spread of another
    system. `compare` pairs two systems task by task and sees smaller differences.
    """
    shown = detectable_difference(replicates)
    return math.sqrt(2) * shown if shown > 1e-9 else None


def wilson(successes: float, trials: int) -> list[float] | None:
    """Return Wilson's 95% interval of a share (0 to 1), never without width; None for no trial."""
    if not trials:
        return None
    share, z = successes / trials, 1.959963984540054
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return [max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)]
