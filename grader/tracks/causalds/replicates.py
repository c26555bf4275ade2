"""Bootstrap replicates of CausalDSScore, and of means inside one slice, under shared draws."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from grader.shape import LOSS_CAP
from grader.statistics import bootstrap
from grader.statistics.resample import REPLICATES, Draws, clustered

SMALL_EXAM: Final = 5_000
"""Exams with more tasks have an interval of their points only: others would be narrow and slow."""
SLICE_REPLICATES: Final = 400
"""Draws for the slices; the whole exam has :data:`grader.statistics.resample.REPLICATES`."""

Line = tuple[str, str, float]
"""Instance, pool and loss of one task in one reading."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How often each instance was drawn, one row per replicate.

    Sums by weight cost what a slice holds, not what the exam does.
    """

    place: Mapping[str, int]
    rows: Sequence[Sequence[int]]

    @classmethod
    def of(cls, draws: Draws, replicates: int = REPLICATES) -> Self:
        """The weights of the first ``replicates`` of ``draws``."""
        return cls(draws.place, draws.counts(replicates))

    def first(self, replicates: int) -> Self:
        """The first of these replicates alone."""
        return type(self)(self.place, self.rows[:replicates])

    def means(self, values: Iterable[tuple[str, float]]) -> list[float]:
        """Replicates of the mean of (instance, value); draws without any of them are left out."""
        columns = [(self.place[name], *sums) for name, sums in clustered(values).items()]
        replicates = []
        for row in self.rows:
            tasks = sum(row[k] * count for k, _, count in columns)
            if tasks:
                replicates.append(sum(row[k] * total for k, total, _ in columns) / tasks)
        return replicates

    def scores(self, lines: Iterable[Line]) -> list[float | None]:
        """Replicates of CausalDSScore (Eq. 4), one per draw; ``None`` where it is empty."""
        pools = _Pools.of(lines, self.place)
        return [pools.score(row) for row in self.rows]


def interval(replicates: Iterable[float | None]) -> list[float] | None:
    """The central 95% of the replicates that exist; ``None`` unless most of them do."""
    values = list(replicates)
    present = [value for value in values if value is not None]
    if not present or len(present) < len(values) / 2:
        return None
    return bootstrap.percentile_interval(present)


@dataclass(frozen=True, slots=True)
class _Pools:
    """The losses of one reading, arranged for quick weighted means and medians."""

    passes: list[tuple[int, float, int]]
    intervals: list[tuple[int, float, int]]
    points: list[tuple[float, int]]
    sets: list[tuple[float, int]]

    @classmethod
    def of(cls, lines: Iterable[Line], place: Mapping[str, int]) -> "_Pools":
        sums: dict[str, dict[int, tuple[float, int]]] = {"pass": {}, "nrel_interval": {}}
        lists: dict[str, list[tuple[float, int]]] = {"nrel_point": [], "f1": []}
        for instance, pool, loss in lines:
            k = place[instance]
            if pool in lists:
                lists[pool].append((loss, k))
            else:
                total, count = sums[pool].get(k, (0.0, 0))
                sums[pool][k] = (total + min(loss, LOSS_CAP), count + 1)
        passes, intervals = (
            [(k, total, count) for k, (total, count) in sums[pool].items()]
            for pool in ("pass", "nrel_interval")
        )
        return cls(passes, intervals, sorted(lists["nrel_point"]), sorted(lists["f1"]))

    def score(self, row: Sequence[int]) -> float | None:
        """Eq. 4 as a weighted sum: a pool's weight cancels the denominator of its mean."""
        failed, n_pass = _sums(self.passes, row)
        capped, n_interval = _sums(self.intervals, row)
        point, n_point = _median(self.points, row)
        shape, n_f1 = _median(self.sets, row)
        tasks = n_pass + n_interval + n_point + n_f1
        if not tasks:
            return None
        return (failed + capped + n_point * point + n_f1 * shape) / tasks


def _sums(column: Sequence[tuple[int, float, int]], row: Sequence[int]) -> tuple[float, int]:
    total, tasks = 0.0, 0
    for k, losses, count in column:
        weight = row[k]
        if weight:
            total += weight * losses
            tasks += weight * count
    return total, tasks


def _median(ordered: Sequence[tuple[float, int]], row: Sequence[int]) -> tuple[float, int]:
    """Median of the losses repeated by their weights, and how many that makes."""
    tasks = 0
    for _, k in ordered:
        tasks += row[k]
    if not tasks:
        return 0.0, 0
    low_place, high_place = (tasks - 1) // 2, tasks // 2
    seen, low = 0, None
    for loss, k in ordered:
        seen += row[k]
        if low is None and seen > low_place:
            low = loss
        if seen > high_place:
            assert low is not None
            return (low + loss) / 2, tasks
    raise AssertionError("the weights do not add up")
