"""Sets of node indices as integer bitmasks: bit i stands for node i.

A union is one machine operation and a closure a handful of them, which is what lets the
identification of a graph cost microseconds instead of milliseconds.
"""

from collections.abc import Iterator, Sequence


def members(mask: int) -> Iterator[int]:
    """Yield the indices in `mask`, smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def closure(start: int, neighbours: Sequence[int], within: int) -> int:
    """Return the mask of all that is reachable from `start` along `neighbours` inside `within`.
    `neighbours` holds a mask for each index: parents give ancestors, children descendants,
    bidirected neighbours the district. `start` is included inside `within` (-1: no bounds)."""
    seen = waiting = start & within
    while waiting:
        low = waiting & -waiting
        new = neighbours[low.bit_length() - 1] & within & ~seen
        seen |= new
        waiting = (waiting ^ low) | new
    return seen


def components(within: int, neighbours: Sequence[int]) -> list[int]:
    """Return the connected components of `within`, as masks, ordered by smallest member."""
    parts = []
    while within:
        part = closure(within & -within, neighbours, within)
        parts.append(part)
        within &= ~part
    return parts


def subsets(mask: int) -> Iterator[int]:
    """Yield every subset of `mask` (the empty one first) in increasing integer order."""
    subset = 0
    while True:
        yield subset
        if subset == mask:
            return
        subset = (subset - mask) & mask
