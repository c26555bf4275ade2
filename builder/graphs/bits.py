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
    """Return the mask of everything reachable from `start` along `neighbours` without leaving
    `within`.

    `neighbours` holds a mask for each index. With parent masks this is the ancestor set, with child
    masks the descendant set, with bidirected neighbours the district. The members of `start` that
    lie in `within` are included. -1 as `within` sets no bounds.
    """
    seen = waiting = start & within
    while waiting:
        low = waiting & -waiting
        new = neighbours[low.bit_length() - 1] & within & ~seen
        seen |= new
        waiting = (waiting ^ low) | new
    return seen


def components(within: int, neighbours: Sequence[int]) -> list[int]:
    """Return the masks of the connected components of `within`, ordered by smallest member.
    `neighbours` holds a mask for each index and is symmetric."""
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
