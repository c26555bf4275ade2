"""A pool of processes on this machine, and what to do when one of them dies.

When a worker dies, its pool cannot tell at which item. So the items that were under way are tried
again, one at a time, each in a process of its own: the one that kills it twice more is named, the
others are done, and the rest goes on in a new pool.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Final, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.release.trials import AHEAD, TRIES, died

Item = TypeVar("Item")
Result = TypeVar("Result")

_THREAD_VARIABLES: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def map_in_processes(
    function: Callable[[Item], Result],
    items: Iterator[Item],
    workers: int,
    ordered: bool,
    label: Callable[[Item], str],
) -> Iterator[Result]:
    """See :func:`builder.release.engine.map_instances`."""
    under_way: list[Item] = []
    while True:
        try:
            with _Pool(workers) as pool:
                yield from _drain(pool, function, items, AHEAD * workers, ordered, under_way)
            return
        except BrokenProcessPool:
            suspects = list(under_way)
            under_way.clear()
        for item in suspects:
            yield _alone(function, item, label)


def _alone(function: Callable[[Item], Result], item: Item, label: Callable[[Item], str]) -> Result:
    """The result for an item that was under way when a worker died, in a process of its own."""
    for _ in range(TRIES - 1):
        try:
            with _Pool(1) as pool:
                return pool.submit(function, item).result()
        except BrokenProcessPool:
            continue
    raise died(label(item))


class _Pool(ProcessPoolExecutor):
    """Fresh interpreters; what was not begun is dropped when the block is left."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers, mp_context=get_context("spawn"), initializer=_start_worker)

    def __exit__(self, *_: object) -> None:
        self.shutdown(wait=True, cancel_futures=True)


def _drain(
    pool: ProcessPoolExecutor,
    function: Callable[[Item], Result],
    waiting: Iterator[Item],
    ahead: int,
    ordered: bool,
    under_way: list[Item],
) -> Iterator[Result]:
    """Keeps at most ``ahead`` items under way and yields what is done; ``under_way`` holds what has
    not been yielded."""
    pending: list[Future[Result]] = []
    while True:
        for item in islice(waiting, ahead - len(pending)):
            under_way.append(item)
            pending.append(pool.submit(function, item))
        if not pending:
            return
        if not ordered:
            wait(pending, return_when=FIRST_COMPLETED)
        done = [place for place, future in enumerate(pending) if future.done()]
        place = 0 if ordered or not done else done[0]
        result = pending[place].result()
        del pending[place], under_way[place]
        yield result


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
