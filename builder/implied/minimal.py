"""Minimal sets of statements that still suffice, and smallest ones."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimal_set(items: Sequence[T], suffices: Callable[[Sequence[T]], bool]) -> list[T] | None:
    """A subset that suffices and of which nothing can be dropped; None if not even all do.

    ``suffices`` must hold for every set that contains one for which it holds. Earlier items are
    preferred: the result is the one that deleting items one by one, from the last to the first,
    leaves. It is found by halving (QuickXplain, Junker 2004), in far fewer questions.
    """
    if not suffices(items):
        return None
    return _needed([], True, list(items), suffices)


def _needed(
    kept: list[T], grown: bool, items: list[T], suffices: Callable[[Sequence[T]], bool]
) -> list[T]:
    """What is needed of ``items`` beside ``kept``; ``grown`` if that has grown since last asked."""
    if grown and suffices(kept):
        return []
    if len(items) <= 1:
        return items
    half = len(items) // 2
    first, last = items[:half], items[half:]
    needed_last = _needed(kept + first, True, last, suffices)
    needed_first = _needed(kept + needed_last, bool(needed_last), first, suffices)
    return needed_first + needed_last
