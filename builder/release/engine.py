"""Items spread over worker processes; no byte of a release depends on how many there are."""

import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from pickle import dumps, loads
from typing import Final, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Item = TypeVar("Item")
Result = TypeVar("Result")

_ONE_THREAD: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Read by libraries of linear algebra as they are loaded."""


@dataclass(eq=False)
class InstanceFailed(Exception):
    """An unexpected error, in our own code, while building one instance.

    ``label`` is ``track/split/index``. ``summary`` is the error in one line. ``details`` is the
    traceback, as text so that it survives the way out of a worker process.
    """

    label: str
    summary: str
    details: str


class WorkerDied(Exception):
    """A worker process ended without an exception, as without memory; says what was in work."""


class Workers(ExitStack):
    """A pool of ``count`` worker processes, from the first items to the end of the block.

    A pool of one works in this process. Linear algebra runs on one thread either way: the number of
    threads can change the last bits of a sum.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of ``function`` over ``items`` in the order in which they are ready.

        ``function`` must be at module level, and items and results can be pickled. Raises what
        ``function`` raises, and ``WorkerDied`` if a process ends.
        """
        if self._count <= 1:
            for item in items:
                with threadpool_limits(limits=1):
                    result = function(item)
                yield result
            return
        if self._pool is None:
            # A fork after Arrow and DuckDB have threads can hang.
            spawn = get_context("spawn")
            self._pool = self.enter_context(
                ProcessPoolExecutor(self._count, mp_context=spawn, initializer=_start_worker)
            )
        waiting = iter(items)
        in_work: dict[Future[Result], Item] = {}
        while True:
            for item in islice(waiting, self._count - len(in_work)):
                in_work[self._pool.submit(_call, function, item)] = item
            if not in_work:
                return
            for future in wait(in_work, return_when=FIRST_COMPLETED).done:
                try:
                    result = future.result()
                except BrokenProcessPool:
                    lost = ", ".join(map(str, in_work.values()))
                    raise WorkerDied(f"a worker process died with {lost} in work") from None
                del in_work[future]
                yield result


def _start_worker() -> None:
    """Prepare this process as a worker: linear algebra gets one thread, and the worker ends quietly
    on Ctrl-C, and when its parent is gone."""
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))  # for libraries that are not loaded yet
    threadpool_limits(limits=1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait until the parent is gone, then kill this worker, which would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)


def _call(function: Callable[[Item], Result], item: Item) -> Result:
    """Return ``function(item)``. An error that cannot be pickled becomes a ``RuntimeError``."""
    try:
        return function(item)
    except Exception as error:
        try:
            loads(dumps(error))
        except Exception:  # pickling runs the error's own code; it would look like a death
            raise RuntimeError("".join(traceback.format_exception(error))) from None
        raise
