"""A pool of processes on this machine, and what to do when one of them dies.

A pool whose work is done waits for more of it: what follows in a build finds its processes with
everything loaded.

When a worker dies, its pool cannot tell at which item. So the items that were under way are tried
again, one at a time, each in a process of its own: the one that kills it twice more is named, the
others are done, and the rest goes on in a new pool.
"""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from itertools import islice
from multiprocessing import parent_process
from typing import Any, Final, Generic, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.release import forking
from builder.release.forking import ONE_THREAD, start
from builder.release.trials import AHEAD, TRIES, died, tellable

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_processes(
    function: Callable[[Item], Result],
    items: Iterator[Item],
    workers: int,
    ordered: bool,
    label: Callable[[Item], str],
) -> Generator[Result, None, None]:
    """See :func:`builder.release.engine.map_instances`."""
    results = _results(function, items, workers, ordered, label)
    next(results)  # work begins now, not when the first result is asked for
    return results


def _results(
    function: Callable[[Item], Result],
    items: Iterator[Item],
    workers: int,
    ordered: bool,
    label: Callable[[Item], str],
) -> Generator[Any, None, None]:
    """Nothing, when work has begun; then the results."""
    under_way: list[Item] = []
    begun = False
    while True:
        try:
            with _waiting_pool(workers) as pool:
                work = _Work(pool, function, items, AHEAD * workers, under_way)
                if not begun:
                    begun = True
                    yield None
                yield from work.results(ordered)
            return
        except BrokenProcessPool:
            suspects = list(under_way)
            under_way.clear()
        if not begun:
            begun = True
            yield None
        for item in suspects:
            yield _alone(function, item, label)


def _alone(function: Callable[[Item], Result], item: Item, label: Callable[[Item], str]) -> Result:
    """The result for an item that was under way when a worker died, in a process of its own."""
    for _ in range(TRIES - 1):
        try:
            with _Pool(1, dict(os.environ)) as pool:
                return _Spent.on(pool.submit(_timed, function, item))
        except BrokenProcessPool:
            continue
    raise died(label(item))


class _Pool(ProcessPoolExecutor):
    """Processes with nothing in them but imports; what was not begun is dropped when the block is
    left."""

    def __init__(self, workers: int, environment: Mapping[str, str]) -> None:
        super().__init__(
            workers, mp_context=start(), initializer=_start_worker, initargs=(environment,)
        )

    def __exit__(self, *_: object) -> None:
        self.shutdown(wait=True, cancel_futures=True)


_waiting: Final[list[tuple[int, dict[str, str], _Pool]]] = []
"""The pool that was used last, with its number of processes and their environment; or nothing."""


@contextmanager
def _waiting_pool(workers: int) -> Iterator[_Pool]:
    """The pool that waits for work, if it is one of so many processes in the environment of now,
    else a new one. It waits for more when all that it was given is done, and ends otherwise."""
    environment = dict(os.environ)
    wanted = workers, environment
    kept = _waiting.pop() if _waiting else None
    if kept is not None and kept[:2] != wanted:
        kept[2].shutdown()
        kept = None
    with ExitStack() as ending:
        pool = ending.enter_context(_Pool(*wanted) if kept is None else kept[2])
        yield pool
        if not _waiting:
            ending.pop_all()
            _waiting.append((workers, environment, pool))


def dismiss() -> None:
    """Ends the pool that waits for work, where none comes soon: its processes hold memory."""
    while _waiting:
        _waiting.pop()[2].shutdown()


def stop() -> None:
    """Ends that pool, and the process that workers are forked from: only then the time of all of
    them is told as that of this process's children."""
    dismiss()
    forking.stop()


class _Work(Generic[Item, Result]):
    """Items that a pool works off, at most ``ahead`` of them at a time; ``under_way`` holds what
    has not been yielded. The first are under way when it is made."""

    def __init__(
        self,
        pool: ProcessPoolExecutor,
        function: Callable[[Item], Result],
        waiting: Iterator[Item],
        ahead: int,
        under_way: list[Item],
    ) -> None:
        self._pool, self._function, self._waiting = pool, function, waiting
        self._ahead, self._under_way = ahead, under_way
        self._pending: list[Future[tuple[Result, float]]] = []
        self._submit()

    def _submit(self) -> None:
        for item in islice(self._waiting, self._ahead - len(self._pending)):
            self._under_way.append(item)
            self._pending.append(self._pool.submit(_timed, self._function, item))

    def results(self, ordered: bool) -> Iterator[Result]:
        """What is done, as it comes or in order."""
        pending = self._pending
        while pending:
            if not ordered:
                wait(pending, return_when=FIRST_COMPLETED)
            done = [place for place, future in enumerate(pending) if future.done()]
            place = 0 if ordered or not done else done[0]
            result = _Spent.on(pending[place])
            del pending[place], self._under_way[place]
            yield result
            self._submit()


def _timed(function: Callable[[Item], Result], item: Item) -> tuple[Result, float]:
    """What a worker does with an item, and the processor time that it took."""
    started = time.process_time()
    try:
        result = function(item)
    except Exception as error:  # goes on, in words where it could not travel
        if (told := tellable(error)) is error:
            raise
        raise told from None
    return result, time.process_time() - started


class _Spent:
    """Processor time of workers, which are no children of this process: it has to be told."""

    seconds = 0.0

    @classmethod
    def on(cls, future: "Future[tuple[Result, float]]") -> Result:
        """The result, whose time is added up."""
        result, seconds = future.result()
        cls.seconds += seconds
        return result


def seconds_of_workers() -> float:
    """Processor time that workers have spent so far on what this process gave them to do."""
    return _Spent.seconds


def _start_worker(environment: Mapping[str, str]) -> None:
    """Runs first in each worker: the environment is its parent's, but linear algebra runs on one
    thread; dies quietly on Ctrl-C, and with its parent."""
    gc.freeze()  # nobody looks for garbage in what was imported, or copies its pages by doing so
    gc.enable()
    os.environ.clear()
    os.environ.update({**environment, **ONE_THREAD})  # for libraries not loaded yet
    threadpool_limits(limits=1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    # A worker whose parent was killed would wait for work for ever.
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
