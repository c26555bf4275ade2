"""Instances of a large split, planned a block at a time and never all in memory."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import overload

from builder.track import InstanceSpec


class BlockSpecs(Sequence[InstanceSpec]):
    """The instances of some blocks, one after another; ``plan(number)`` plans one, always alike.

    ``sizes`` are the numbers of instances that blocks have. Iterating plans every block once;
    another pass plans them again.
    """

    def __init__(self, sizes: Sequence[int], plan: Callable[[int], Sequence[InstanceSpec]]) -> None:
        self._starts = [0, *accumulate(sizes)]
        self.block: Callable[[int], Sequence[InstanceSpec]] = lru_cache(maxsize=2)(plan)

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[InstanceSpec]:
        for block in self.blocks():
            yield from block

    def blocks(self) -> Iterator[Sequence[InstanceSpec]]:
        """One block after another."""
        return map(self.block, range(len(self._starts) - 1))

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


def blocks_of(specs: Sequence[InstanceSpec]) -> Iterator[Sequence[InstanceSpec]]:
    """The blocks in which instances were planned; those of a small split are one."""
    return specs.blocks() if isinstance(specs, BlockSpecs) else iter([specs])
