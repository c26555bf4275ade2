"""What a whole submission may cost, besides the caps on each of its answers."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from grader.scoring.model import Checked, RawAnswer

REASON: Final = "budget"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one submission may cost, all its attempts together.

    ``mebibytes`` of answers after decompression and ``cells`` in them (commas and ends of lines)
    are the same on every machine; ``seconds`` of processor time are not, so that no honest
    submission should come near them.
    """

    mebibytes: int = 1024
    cells: int = 50_000_000
    seconds: int = 900


class Budget:
    """What of its ``limits`` a submission has used."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._bytes = self._cells = 0
        self._seconds = 0.0

    @property
    def spent(self) -> str:
        """Which limit on reading is passed and what to do, empty while none is."""
        limits = self.limits
        if self._bytes > limits.mebibytes << 20:
            return _told(f"{limits.mebibytes:,} MiB", "--max-mib")
        if self._cells > limits.cells:
            return _told(f"{limits.cells:,} cells", "--max-cells")
        return ""

    @property
    def late(self) -> str:
        """:attr:`spent` for the time that checking and scoring took: for all not yet scored."""
        if self._seconds <= self.limits.seconds:
            return ""
        return _told(f"{self.limits.seconds:,} s of processor time", "--max-seconds")

    def take(self, data: bytes) -> str:
        """Count what was read; what :attr:`spent` says then."""
        self._bytes += len(data)
        self._cells += 1 + len(data) - len(data.translate(None, b",\n\r"))
        return self.spent

    def refused(self, source: str) -> RawAnswer:
        """The raw answer that stands for one which is not read, or looked at, any more."""
        return RawAnswer(source, reason=REASON, message=self.spent or self.late)

    def exhausted(self, checked: Checked, source: str) -> Checked:
        """``checked``, or in its place an invalid answer where it comes too late."""
        if checked.status != "scored" or not (why := self.late):
            return checked
        return Checked("invalid", reason=REASON, message=f"{source}: {why}")

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the processor time of a block."""
        start = time.process_time()
        try:
            yield
        finally:
            self._seconds += time.process_time() - start


def _told(limit: str, option: str) -> str:
    return f"comes after the submission's budget of {limit} was used up ({option} sets another)"
