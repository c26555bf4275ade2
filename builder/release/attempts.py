"""Trying until an instance will do: the loop, the reasons why tries failed, and the time spent.

A rejected try is replaced by the next sub-seed, by rule and without looking at other instances.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import process_time

from builder.splits.track import Built, InstanceSpec, Row
from grader.errors import UsageError


class Rejected(Exception):
    """This try at an instance will not do; ``reason`` is counted in the manifest.

    ``words`` says that the words failed, so that the next try needs others.
    """

    def __init__(self, reason: str, *, words: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.words = words


class Clock:
    """Adds up the seconds of named stages; they are reported and never enter a release."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Counts what happens inside for ``stage``."""
        start = process_time()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + process_time() - start


Try = Callable[[int, int, Clock], dict[str, list[Row]]]
"""One try at an instance: its number, and how many earlier ones lacked words; raises Rejected."""


def first_accepted(spec: InstanceSpec, attempt: Try, most: int, wanted: str, fix: str) -> Built:
    """The instance from the first of ``most`` tries that is not rejected.

    Raises ``UsageError`` with the reasons when there is none; ``wanted`` names what was tried for
    and ``fix`` what to change.
    """
    rejections: Counter[str] = Counter()
    wordless = 0
    clock = Clock()
    for number in range(most):
        try:
            rows = attempt(number, wordless, clock)
        except Rejected as rejected:
            rejections[rejected.reason] += 1
            wordless += rejected.words
            continue
        return Built(rows, rejections, clock.seconds)
    raise UsageError(f"{spec.label}: no {wanted} in {most} attempts: {listed(rejections)}; {fix}")


def listed(rejections: Mapping[str, int]) -> str:
    """The reasons with their counts, for messages."""
    return ", ".join(f"{reason} ({n}x)" for reason, n in sorted(rejections.items()))
