"""The one resampler: which instances each bootstrap replicate draws, and means under the draws.

One set of draws may serve a whole exam and every slice of it, so that the replicates of two
systems, or of two slices, belong together draw by draw.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

REPLICATES: Final = 1000
MOST_CLUSTERS: Final = 5_000
"""More instances than these are resampled in this many random groups of nearly equal size: the
variance of a mean is the same, and the time no longer grows with the exam."""

_EXAMS: Final = 16
"""Draws of so many sets of instances are kept: those of an exam and of its tracks."""

Clusters = Mapping[str, tuple[float, int]]
"""Instance to the sum of its values and their number."""


def clustered(values: Iterable[tuple[str, float]]) -> dict[str, tuple[float, int]]:
    """Sum and number of the values of each instance, by instance."""
    found: dict[str, tuple[float, int]] = {}
    for name, value in values:
        total, count = found.get(name, (0.0, 0))
        found[name] = (total + value, count + 1)
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class Draws:
    """The place of each instance (or of its group), and the places that each replicate drew."""

    place: Mapping[str, int]
    drawn: Sequence[Sequence[int]]

    @classmethod
    def of(cls, names: Iterable[str], seed: int, replicates: int = REPLICATES) -> "Draws":
        """Draw as many instances as there are, with replacement, ``replicates`` times.

        The order of ``names`` is part of what the seed stands for; of equal names the first counts.
        The same draws serve every figure of an exam and every submission to it.
        """
        return cls(*_drawn(tuple(dict.fromkeys(names)), seed, replicates))

    def counts(self, replicates: int) -> list[list[int]]:
        """How often each place was drawn, one row for each of the first ``replicates``."""
        size = max(self.place.values(), default=-1) + 1
        rows = []
        for drawn in self.drawn[:replicates]:
            row = [0] * size
            for place in drawn:
                row[place] += 1
            rows.append(row)
        return rows

    def means(self, clusters: Clusters) -> list[float]:
        """Replicates of a mean over tasks: the ratio of the drawn sums to the drawn numbers.

        Draws that hold none of ``clusters`` are left out.
        """
        sums = [0.0] * len(self.place)
        numbers = [0] * len(self.place)
        for name, (total, count) in clusters.items():
            sums[self.place[name]] += total
            numbers[self.place[name]] += count
        replicates = []
        for drawn in self.drawn:
            if tasks := sum(map(numbers.__getitem__, drawn)):
                replicates.append(sum(map(sums.__getitem__, drawn)) / tasks)
        return replicates


@lru_cache(maxsize=_EXAMS)
def _drawn(
    names: tuple[str, ...], seed: int, replicates: int
) -> tuple[Mapping[str, int], Sequence[Sequence[int]]]:
    ordered = list(names)
    generator = random.Random(seed)
    if len(ordered) > MOST_CLUSTERS:
        generator.shuffle(ordered)
    places = range(min(len(ordered), MOST_CLUSTERS))
    place = {name: k % MOST_CLUSTERS for k, name in enumerate(ordered)}
    population = list(places)  # so that equal places are one object, however often drawn
    return place, [generator.choices(population, k=len(places)) for _ in range(replicates)]


def cluster_means(clusters: Clusters, seed: int) -> list[float]:
    """Replicates of a mean over tasks, by draws of its own."""
    return Draws.of(clusters, seed).means(clusters)
