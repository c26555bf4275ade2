"""Workers give every result, or say what failed. They import this module: it imports little."""

import os
import time

import pytest
from threadpoolctl import threadpool_info

from builder.release.engine import InstanceFailed, WorkerDied, Workers


def threads(_: int) -> set[int]:
    """The threads of every linear algebra library here."""
    import numpy  # noqa: F401 - loads the library that is asked about

    return {pool["num_threads"] for pool in threadpool_info()}


def whoami(_: int) -> int:
    time.sleep(0.05)  # so that every worker does something
    return os.getpid()


def misbehave(number: int) -> int:
    """Fails, or takes the whole process along."""
    if number == 3:
        raise InstanceFailed("ccr/dev/3", "three", "a trace")
    if number == 5:
        os._exit(1)
    return number


class Untellable(Exception):
    """An exception that cannot be made anew from its arguments."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)


def complains(number: int) -> int:
    raise Untellable("odd", f"of {number}")


@pytest.mark.parametrize("count", [1, 2])
def test_all_results_come_and_linear_algebra_runs_on_one_thread(count):
    """The number of threads changes the last bits of a sum, and eight workers of eight threads."""
    before = os.environ.get("OMP_NUM_THREADS")
    with Workers(count) as workers:
        assert sorted(workers.map(abs, range(-4, 1))) == [0, 1, 2, 3, 4]
        assert all(counts <= {1} for counts in workers.map(threads, range(2)))
        assert list(workers.map(abs, [])) == []
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_errors_pass_through_and_workers_go_on():
    """An exception must keep its type on the way out of a process."""
    with Workers(2) as workers:
        first = set(workers.map(whoami, range(6)))
        with pytest.raises(InstanceFailed, match=r"ccr/dev/3.*three.*trace"):
            list(workers.map(misbehave, [1, 2, 3, 4]))
        with pytest.raises(RuntimeError, match=r"(?s)in complains.*Untellable: of [12]"):
            list(workers.map(complains, [1, 2]))
        assert set(workers.map(whoami, range(6))) == first and os.getpid() not in first
    with Workers(1) as workers, pytest.raises(InstanceFailed, match=r"ccr/dev/3.*three.*trace"):
        list(workers.map(misbehave, [1, 2, 3, 4]))


def test_a_dead_worker_is_one_line_that_names_what_was_in_work():
    """The pool's own message names neither item nor cause."""
    with Workers(2) as workers, pytest.raises(WorkerDied, match=r"died with .*5.* in work"):
        list(workers.map(misbehave, [1, 5, 1, 1]))
