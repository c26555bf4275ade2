"""One narrow door to however many workers there are: ``map_instances``.

Behind it stand plain calls for one worker, a pool of processes, or Ray for many machines. No track
knows which, and no byte of a release depends on it.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, Literal, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.release.forking import start
from builder.release.processes import map_in_processes
from builder.release.trials import InstanceFailed, WorkerDied

__all__ = ["Engine", "InstanceFailed", "WorkerDied", "Workers", "map_instances", "processes_of"]

Item = TypeVar("Item")
Result = TypeVar("Result")

Kind = Literal["processes", "ray"]


@dataclass(frozen=True, slots=True)
class Engine:
    """Who does the work: so many ``workers`` here, or those of a Ray cluster at ``address``; the
    empty address starts a cluster on this machine."""

    kind: Kind = "processes"
    workers: int = 1
    address: str = ""

    def get_ready(self) -> None:
        """Lets processes import what workers need while nobody waits for them yet."""
        if self.kind == "processes" and self.workers > 1:
            start()


Workers = int | Engine
"""A number of processes on this machine, or an engine."""

_FEW: Final = 2
"""Fewer items than this are worked off in this process."""


def processes_of(workers: Workers) -> int:
    """How many processes of this machine an engine stands for."""
    return workers if isinstance(workers, int) else workers.workers


def map_instances(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: Workers,
    *,
    ordered: bool = True,
    label: Callable[[Item], str] = str,
) -> Generator[Result, None, None]:
    """The results of ``function`` over ``items``, in order or as they come.

    ``function`` must be a pure function found at module level, ``items`` and results picklable;
    items are taken as workers become free, so that a generator need not hold them all. With one
    worker (or one item) everything happens in this process, when a result is asked for; several
    processes begin at once, so that their parent can do something else meanwhile. Linear algebra
    runs on one thread either way: the number of threads can change the last bits of a sum.

    Raises whatever ``function`` raises, once, after the items under way are finished. An item whose
    worker is lost is tried again; after three tries ``WorkerDied`` names it by ``label``. On Ctrl-C
    nothing new is started.
    """
    engine = Engine(workers=workers) if isinstance(workers, int) else workers
    waiting = iter(items)
    known = list(islice(waiting, _FEW))
    waiting = chain(known, waiting)
    if len(known) < _FEW or (engine.kind == "processes" and engine.workers <= 1):
        return _here(function, waiting)
    if engine.kind == "ray":
        from builder.release.ray_cluster import map_in_cluster

        return map_in_cluster(function, waiting, engine.address, ordered, label)
    return map_in_processes(function, waiting, engine.workers, ordered, label)


def _here(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[Result, None, None]:
    for item in items:
        with threadpool_limits(limits=1):
            result = function(item)
        yield result
