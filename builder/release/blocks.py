"""Instances of a large split, planned a block at a time, by whoever builds them, and never all in
memory."""

import hashlib
import pickle
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import overload

from builder.track import InstanceSpec

Plan = Callable[[int], Sequence[InstanceSpec]]
"""Plans the block of a number, always alike; picklable, so that workers can."""


@dataclass(frozen=True, slots=True)
class _Planner:
    """A plan with a mark by which a process knows it again, wherever its copies come from."""

    mark: str
    plan: Plan = field(compare=False)


@lru_cache(maxsize=2)
def _block(planner: _Planner, number: int) -> Sequence[InstanceSpec]:
    return planner.plan(number)


class BlockSpecs(Sequence[InstanceSpec]):
    """The instances of some blocks, one after another.

    ``sizes`` are the numbers of instances that blocks have; ``plan(number)`` plans one, and
    ``identify(index)`` gives the public id of an instance without that. Iterating plans every block
    once; another pass plans them again.
    """

    def __init__(self, sizes: Sequence[int], plan: Plan, identify: Callable[[int], str]) -> None:
        self._starts = [0, *accumulate(sizes)]
        self._planner = _Planner(hashlib.sha256(pickle.dumps(plan)).hexdigest(), plan)
        self.identify = identify

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[InstanceSpec]:
        for number in range(len(self._starts) - 1):
            yield from self.block(number)

    def ends(self) -> Iterator[tuple[int, int]]:
        """Where each block begins, and where the next one does."""
        return pairwise(self._starts)

    def block(self, number: int) -> Sequence[InstanceSpec]:
        """The instances of one block."""
        return _block(self._planner, number)

    @overload
    def __getitem__(self, place: int) -> InstanceSpec: ...

    @overload
    def __getitem__(self, place: slice) -> list[InstanceSpec]: ...

    def __getitem__(self, place: int | slice) -> InstanceSpec | list[InstanceSpec]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        number = bisect_right(self._starts, place) - 1
        return self.block(number)[place - self._starts[number]]


@dataclass(frozen=True, slots=True)
class Members:
    """The instances ``start`` to ``stop`` - 1 of a split; those of a large one are planned when
    they are asked for."""

    specs: Sequence[InstanceSpec]
    start: int
    stop: int

    @staticmethod
    def of(specs: Sequence[InstanceSpec], start: int, stop: int) -> "Members":
        """Some instances, without the others where these are in memory."""
        if isinstance(specs, BlockSpecs):
            return Members(specs, start, stop)
        return Members(specs[start:stop], 0, stop - start)

    def names(self) -> list[str]:
        """The public ids of the instances."""
        if isinstance(self.specs, BlockSpecs):
            return list(map(self.specs.identify, range(self.start, self.stop)))
        return [spec.instance_id for spec in self]

    def __iter__(self) -> Iterator[InstanceSpec]:
        return iter(self.specs[self.start : self.stop])


def blocks_of(specs: Sequence[InstanceSpec]) -> list[Members]:
    """The blocks in which instances were planned; those of a small split are one."""
    if not isinstance(specs, BlockSpecs):
        return [Members(specs, 0, len(specs))]
    return [Members(specs, *ends) for ends in specs.ends()]


def unlike(specs: Sequence[InstanceSpec]) -> list[tuple[Sequence[InstanceSpec], int]]:
    """Blocks that stand for a whole plan, each with how many there are of its kind.

    Blocks of one size meet the same shares; the last one may have what no other has. A million
    instances are planned in a quarter of an hour, which is too long for who only asks.
    """
    if not isinstance(specs, BlockSpecs):
        return [(specs, 1)]
    sizes = [stop - start for start, stop in specs.ends()]
    last = len(sizes) - 1
    counts = Counter(sizes[:last])
    return [
        *((specs.block(sizes.index(size)), count) for size, count in sorted(counts.items())),
        (specs.block(last), 1),
    ]
