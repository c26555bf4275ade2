"""Bootstrap replicates of CausalDSScore, and of means inside one slice, under shared draws."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Final, Self

from grader.scoring.shape import LOSS_CAP
from grader.statistics import bootstrap
from grader.statistics.bootstrap import Draws, Picker, clustered, picker

SMALL_EXAM: Final = 5_000
"""Exams with more tasks have an interval of their points only: others would be narrow and slow."""
SLICE_REPLICATES: Final = 400
"""Draws for the slices; the whole exam has :data:`grader.statistics.bootstrap.REPLICATES`."""

MEDIANS: Final[Mapping[str, Collection[str]]] = {"paper": ("nrel_point", "f1"), "fixed": ()}
"""The pools of which a reading takes the median; of the others, the mean of the capped losses."""

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
    def of(cls, draws: Draws) -> Self:
        """The weights of ``draws``."""
        return cls(draws.place, draws.counts)

    def first(self, replicates: int) -> Self:
        """The first of these replicates alone."""
        return type(self)(self.place, self.rows[:replicates])

    def means(self, values: Iterable[tuple[str, float]]) -> list[float]:
        """Replicates of the mean of (instance, value); draws without any of them are left out."""
        clusters = clustered(values)
        column = _Column.of([(self.place[name], *own) for name, own in clusters.items()])
        drawn = map(column.sums, self.rows)
        return [total / tasks for total, tasks in drawn if tasks]

    def sums(self, values: Iterable[tuple[str, float]]) -> list[float]:
        """Replicates of the sum of (instance, value), one per draw."""
        clusters = clustered(values)
        column = _Column.of([(self.place[name], *own) for name, own in clusters.items()])
        return [column.sums(row)[0] for row in self.rows]

    def scores(self, lines: Iterable[Line], reading: str) -> list[float | None]:
        """Replicates of CausalDSScore (Eq. 4), one per draw; ``None`` where it is empty."""
        pools = _Pools.of(lines, self.place, MEDIANS[reading])
        return [pools.score(row) for row in self.rows]


def interval(replicates: Iterable[float | None]) -> list[float] | None:
    """The central 95% of the replicates that exist; ``None`` unless most of them do."""
    values = list(replicates)
    present = [value for value in values if value is not None]
    if not present or len(present) < len(values) / 2:
        return None
    return bootstrap.percentile_interval(present)


@dataclass(frozen=True, slots=True)
class _Column:
    """Sums of values and their numbers by place, for quick sums by weight."""

    pick: Picker
    totals: Sequence[float]
    counts: Sequence[int]

    @classmethod
    def of(cls, rows: Sequence[tuple[int, float, int]]) -> Self:
        """The column of (place, sum, number)."""
        return cls(picker([k for k, _, _ in rows]), [t for _, t, _ in rows], [n for *_, n in rows])

    def sums(self, row: Sequence[int]) -> tuple[float, int]:
        """Sum and number under the weights in ``row``."""
        weights = self.pick(row)
        return sum(map(mul, weights, self.totals)), sum(map(mul, weights, self.counts))


@dataclass(frozen=True, slots=True)
class _Pools:
    """The losses of one reading, arranged for quick weighted sums and medians."""

    summed: _Column
    ordered: list[list[tuple[float, int]]]

    @classmethod
    def of(
        cls, lines: Iterable[Line], place: Mapping[str, int], medians: Collection[str]
    ) -> "_Pools":
        sums: dict[int, tuple[float, int]] = {}
        lists: dict[str, list[tuple[float, int]]] = {pool: [] for pool in medians}
        for instance, pool, loss in lines:
            k = place[instance]
            if pool in lists:
                lists[pool].append((loss, k))
            else:
                total, count = sums.get(k, (0.0, 0))
                sums[k] = (total + min(loss, LOSS_CAP), count + 1)
        summed = [(k, total, count) for k, (total, count) in sums.items()]
        return cls(_Column.of(summed), [sorted(losses) for losses in lists.values()])

    def score(self, row: Sequence[int]) -> float | None:
        """Eq. 4 as a weighted sum: a pool's weight cancels the denominator of its mean."""
        total, tasks = self.summed.sums(row)
        for losses in self.ordered:
            middle, count = _median(losses, row)
            total, tasks = total + count * middle, tasks + count
        return total / tasks if tasks else None


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
