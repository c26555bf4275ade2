"""One narrow door to however many workers there are: ``map_instances``.

Today a process pool stands behind it, or plain calls for one worker. An existing distributed
engine fits behind the same signature without touching a track.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from typing import Final, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Item = TypeVar("Item")
Result = TypeVar("Result")

_THREAD_VARIABLES: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_AHEAD: Final = 2
"""Items handed out ahead per worker: enough to keep it busy, few enough to hold in memory."""


class InstanceFailed(Exception):
    """An unexpected error, in our own code, while building one instance.

    ``label`` is ``track/split/index``; ``details`` the traceback, as text so that it survives the
    way out of a worker process.
    """

    def __init__(self, label: str, summary: str, details: str) -> None:
        super().__init__(label, summary, details)
        self.label = label
        self.summary = summary
        self.details = details


class WorkerDied(Exception):
    """A worker process ended without a word, as when the system runs out of memory."""


def map_instances(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    *,
    ordered: bool = True,
) -> Iterator[Result]:
    """The results of ``function`` over ``items``, in order or as they come.

    ``function`` must be a pure function found at module level, ``items`` and results picklable;
    items are taken as workers become free, so that a generator need not hold them all. With one
    worker (or one item) everything happens in this process. Linear algebra runs on one
    thread either way: the number of threads can change the last bits of a sum.

    Raises whatever ``function`` raises, once, after the items under way are finished, and
    ``WorkerDied``. On Ctrl-C nothing new is started.
    """
    waiting = iter(items)
    known = list(islice(waiting, 2))
    waiting = chain(known, waiting)
    if workers <= 1 or len(known) <= 1:
        for item in waiting:
            with threadpool_limits(limits=1):
                result = function(item)
            yield result
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start_worker)
    try:
        yield from _drain(pool, function, waiting, _AHEAD * workers, ordered)
    except BrokenProcessPool:
        raise WorkerDied(
            "a worker process died; finished parts are kept: run the same command again, with "
            "fewer --workers if memory ran out"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _drain(
    pool: ProcessPoolExecutor,
    function: Callable[[Item], Result],
    waiting: Iterator[Item],
    ahead: int,
    ordered: bool,
) -> Iterator[Result]:
    """Keeps at most ``ahead`` items under way and yields what is done."""
    pending: list[Future[Result]] = []
    while True:
        room = ahead - len(pending)
        pending += [pool.submit(function, item) for item in islice(waiting, room)]
        if not pending:
            return
        if ordered:
            yield pending.pop(0).result()
            continue
        done, _ = wait(pending, return_when=FIRST_COMPLETED)
        for future in [future for future in pending if future in done]:
            pending.remove(future)
            yield future.result()


def _start_worker() -> None:
    """Runs first in each worker: linear algebra on one thread; dies quietly on Ctrl-C, and with
    its parent."""
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))  # for libraries not loaded yet
    threadpool_limits(limits=1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    # A worker whose parent was killed would wait for work for ever.
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
