"""Ray as an engine: the same items on the workers of a cluster.

Every machine needs this checkout and its environment at the same path, and the staging folder, or
the address that stands for it. Ray tries an item again whose worker or machine is lost.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.release.trials import AHEAD, TRIES, died
from grader.errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_cluster(
    function: Callable[[Item], Result],
    items: Iterator[Item],
    address: str,
    ordered: bool,
    label: Callable[[Item], str],
) -> Generator[Result, None, None]:
    """See :func:`builder.release.engine.map_instances`; raises ``UsageError`` without Ray or a
    cluster."""
    ray = _connected(address)
    remote = ray.remote(num_cpus=1, max_retries=TRIES - 1)(_tried)
    under_way: dict[Any, Item] = {}
    while True:
        room = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1))) - len(under_way)
        for item in islice(items, max(room, 0)):
            under_way[remote.remote(function, item)] = item
        if not under_way:
            return
        first = next(iter(under_way))
        done = first if ordered else ray.wait(list(under_way), num_returns=1)[0][0]
        item = under_way.pop(done)
        try:
            result, error = ray.get(done)
        except ray.exceptions.RayError as lost:
            raise died(label(item), type(lost).__name__) from None
        if error is not None:
            raise error
        yield result


def _tried(function: Callable[[Item], Result], item: Item) -> tuple[Result | None, Any]:
    """The result, or the exception as it was: Ray would wrap it into one of its own."""
    try:
        with threadpool_limits(limits=1):
            return function(item), None
    except Exception as error:
        return None, error


def _connected(address: str) -> Any:
    """Ray, connected to the cluster at ``address``, or to one that is started here."""
    try:
        import ray
    except ImportError:
        raise UsageError(
            "--engine ray: ray is not installed here; pip install 'causal-exams[ray]'"
        ) from None
    if not ray.is_initialized():
        try:
            ray.init(
                address=address or None,
                log_to_driver=False,
                include_dashboard=False if not address else None,
                runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
            )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise UsageError(
                f"--engine ray:{address}: no cluster there ({reason}); start one with `ray start`"
            ) from None
    return ray
