"""The one resampler: draws of instances, means under them, and the intervals that follow."""

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any, Final

from grader.statistics.repeats import standard_deviation

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


@dataclass(frozen=True)
class Draws:
    """The place of each instance (or of its group), and the places that each replicate drew."""

    place: Mapping[str, int]
    drawn: Sequence[tuple[int, ...]]
    _numbers: dict[tuple[int, ...], list[int]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @staticmethod
    def of(names: Iterable[str], seed: int, replicates: int = REPLICATES) -> "Draws":
        """Draw as many instances as there are, with replacement, ``replicates`` times.

        The order of ``names`` is part of what the seed stands for; of equal names the first counts.
        The same draws serve every figure of an exam and every submission to it.
        """
        return _drawn(tuple(dict.fromkeys(names)), seed, replicates)

    @cached_property
    def counts(self) -> Sequence[Sequence[int]]:
        """How often each place was drawn, one row for each replicate."""
        size = max(self.place.values(), default=-1) + 1
        rows = []
        for drawn in self.drawn:
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
        tasks = self._tasks(tuple(numbers))
        return [
            sum(pick(sums)) / count for pick, count in zip(self._picks, tasks, strict=True) if count
        ]

    def _tasks(self, numbers: tuple[int, ...]) -> Sequence[int]:
        """How many tasks each replicate drew, which is the same for every figure about them."""
        if numbers not in self._numbers:
            self._numbers[numbers] = [sum(pick(numbers)) for pick in self._picks]
        return self._numbers[numbers]

    @cached_property
    def _picks(self) -> Sequence["Picker"]:
        """What takes the drawn out of a column by place, one for each replicate."""
        return list(map(picker, self.drawn))


Picker = Callable[[Sequence[Any]], Sequence[Any]]


def picker(places: Sequence[int]) -> Picker:
    """What takes these places out of a row, quickly."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda row: [row[place] for place in places]  # an itemgetter would give no sequence


@lru_cache(maxsize=_EXAMS)
def _drawn(names: tuple[str, ...], seed: int, replicates: int) -> Draws:
    ordered = list(names)
    generator = random.Random(seed)
    if len(ordered) > MOST_CLUSTERS:
        generator.shuffle(ordered)
    places = range(min(len(ordered), MOST_CLUSTERS))
    place = {name: k % MOST_CLUSTERS for k, name in enumerate(ordered)}
    population = list(places)  # so that equal places are one object, however often drawn
    drawn = [tuple(generator.choices(population, k=len(places))) for _ in range(replicates)]
    return Draws(place, drawn)


def cluster_means(clusters: Clusters, seed: int) -> list[float]:
    """Replicates of a mean over tasks, by draws of its own."""
    return Draws.of(clusters, seed).means(clusters)


LEVEL: Final = 0.95
NORMAL_QUANTILE: Final = 1.959963984540054
"""Two-sided 95%."""
_POWER: Final = 2.801585
"""Normal quantiles of a two-sided 5% test and of 80% power, added."""
_NO_SPREAD: Final = 1e-9


def seed_of(task_ids: Iterable[str]) -> int:
    """A seed from the exam alone, so that equal answers get equal intervals."""
    text = "\n".join(sorted(task_ids))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def percentile_interval(replicates: Sequence[float]) -> list[float]:
    """The central 95% of the replicates (linear interpolation between order statistics)."""
    ordered = sorted(replicates)
    tail = (1 - LEVEL) / 2
    return [_quantile(ordered, tail), _quantile(ordered, 1 - tail)]


def overall(per_track: Mapping[str, Sequence[float]]) -> list[float]:
    """Replicates of the unweighted mean over tracks."""
    return [sum(values) / len(values) for values in zip(*per_track.values(), strict=True)]


def standard_error(replicates: Sequence[float]) -> float:
    """The standard deviation of the replicates (n - 1 in the denominator)."""
    return standard_deviation(replicates)


def detectable(error: float) -> float:
    """The difference that a two-sided 5% test sees with 80% power, given its standard error."""
    return _POWER * error


def between_systems(replicates: Sequence[float]) -> float | None:
    """The difference to a second system that one exam would show, as if the two were independent.

    `compare` pairs them task by task and sees smaller ones. ``None`` for what does not vary, of
    which no other system has the spread.
    """
    error = standard_error(replicates)
    return detectable(math.sqrt(2) * error) if error > _NO_SPREAD else None


def wilson(successes: float, trials: int) -> list[float] | None:
    """Wilson's 95% interval of a share, which has width at 0 and at 1; none without a trial."""
    if not trials:
        return None
    share, z = successes / trials, NORMAL_QUANTILE
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return [max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)]


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
