"""Work on files of strangers, each in a process with a limit on memory and time.

A process is a fork: what the parent has read, such as a release, is read once for all of them.
Whatever a piece of work does (ends its process, eats memory, never ends), the others go on.
"""

import multiprocessing
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final, TypeVar

from grader.errors import UsageError

_DONE: Final = b"+"
_FAILED: Final = b"-"
_OURS: Final = b"!"
_MEMORY: Final = ("OutOfMemoryException", "MemoryError")
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """Limits of one piece of work: ``memory`` in bytes beside what is shared, and ``seconds``."""

    memory: int
    seconds: float


@dataclass(frozen=True, slots=True)
class WorkFailure:
    """A piece of work without a result, and why, in one line.

    ``again`` is whether it may end otherwise another time: it ran out of time or memory, its
    process ended, or the fault is ours. It is false where its input is what is wrong.
    """

    reason: str
    again: bool = False


Outcome = bytes | WorkFailure
Thing = TypeVar("Thing")


def run_limited(
    work: Callable[[Thing], bytes], things: Sequence[Thing], workers: int, limits: WorkLimits
) -> Iterator[tuple[int, Outcome]]:
    """Yield place and outcome of ``work`` on each of ``things``, as each is finished.

    Each has a process of its own, so that nothing of it is left for the next: no outcome depends on
    the number of ``workers`` or on the other things. What may end otherwise another time is tried
    once more, alone.
    """
    jobs = [partial(work, thing) for thing in things]
    late = []
    for place, outcome in _run_once(jobs, workers, limits):
        if isinstance(outcome, WorkFailure) and outcome.again:
            late.append(place)
        else:
            yield place, outcome
    for k, outcome in _run_once([jobs[place] for place in late], 1, limits):
        yield late[k], outcome


def _run_once(
    jobs: Sequence[Callable[[], bytes]], workers: int, limits: WorkLimits
) -> Iterator[tuple[int, Outcome]]:
    """Yield place and outcome of one try at each of ``things``."""
    waiting = enumerate(jobs)
    busy: dict[Connection, tuple[int, _Worker]] = {}
    try:
        while True:
            for place, job in islice(waiting, workers - len(busy)):
                worker = _Worker(job, limits, list(busy))
                busy[worker.end] = place, worker
            if not busy:
                return
            soonest = min(worker.until for _, worker in busy.values())
            ready = wait(list(busy), max(0.0, soonest - time.monotonic()))
            for end, (place, worker) in list(busy.items()):
                if end in ready or worker.until <= time.monotonic():
                    del busy[end]
                    outcome = worker.outcome(end in ready)
                    worker.stop()
                    yield place, outcome
    finally:
        for _, worker in busy.values():
            worker.stop()


class _Worker:
    """The process of one piece of work and our end of the pipe to it."""

    def __init__(
        self, job: Callable[[], bytes], limits: WorkLimits, others: Sequence[Connection]
    ) -> None:
        context = multiprocessing.get_context("fork")
        self.end, theirs = context.Pipe(duplex=False)
        self._limits = limits
        # A process that is stopped, or ends as forks do, removes none of its temporary files.
        self._scratch = tempfile.TemporaryDirectory(
            prefix="causal-exams-", ignore_cleanup_errors=True
        )
        ours = [self.end, *others]
        self._process = context.Process(target=self._serve, args=(job, theirs, ours), daemon=True)
        self._process.start()
        theirs.close()
        self.until = time.monotonic() + limits.seconds

    def outcome(self, ready: bool) -> Outcome:
        """Return the result or why there is none. ``ready`` is whether there is one to read."""
        if not ready:
            return WorkFailure(f"took more than {self._limits.seconds:g} s", again=True)
        try:
            message = self.end.recv_bytes()
        except (EOFError, OSError):
            self._process.join(1.0)
            code = self._process.exitcode or 0
            how = f" ({signal.Signals(-code).name})" if code < 0 else ""
            return WorkFailure(f"ended its process{how}", again=True)
        if message[:1] == _DONE:
            return message[1:]
        reason = message[1:].decode("utf-8", errors="replace")
        return WorkFailure(reason, again=message[:1] == _OURS)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self.end.close()
        self._scratch.cleanup()

    def _serve(
        self, job: Callable[[], bytes], connection: Connection, ours: Sequence[Connection]
    ) -> None:
        """Do the work in the child process and send its result, or why there is none."""
        tempfile.tempdir = self._scratch.name
        for end in ours:  # else no worker would see that its parent has gone
            end.close()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
        # Limited are bytes beyond those of the parent that can be written: an allocator reserves
        # hundreds of mebibytes of addresses.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        pages, memory = Path("/proc/self/statm"), self._limits.memory
        inherited = 0
        if pages.is_file():
            written = int(pages.read_text(encoding="ascii").split()[5])
            inherited = written * os.sysconf("SC_PAGE_SIZE")
        with suppress(OSError, ValueError):  # a system that knows no such limit, or has a lower one
            resource.setrlimit(resource.RLIMIT_DATA, (inherited + memory,) * 2)
        try:
            message = _DONE + job()
        except Exception as error:
            sign, reason = _OURS, " ".join(str(error).split())[:_LONGEST]
            if isinstance(error, UsageError):
                sign = _FAILED
            elif type(error).__name__ in _MEMORY:
                reason = f"needs more than {memory >> 20} MiB of memory"
            else:
                reason = f"{type(error).__name__}: {reason} (our fault; please report it)"
            message = sign + reason.encode("utf-8", errors="replace")
        with suppress(OSError):
            connection.send_bytes(message)
