"""``map_instances``: the one place where work is spread over processes."""

import os
import re
import resource
import signal
import sys
import time
from itertools import pairwise
from multiprocessing import forkserver
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from builder.release.engine import WorkerDied, map_instances
from builder.release.forking import start
from builder.release.processes import seconds_of_workers, stop


def slow_square(number: int) -> int:
    """Earlier items take longer, so that completion order differs from item order."""
    time.sleep(0.1 if number == 0 else 0.0)
    return number * number


def threads(_: int) -> tuple[set[int], str | None]:
    """The threads of every linear algebra library here, and what children would inherit."""
    import numpy  # noqa: F401 - loads the library that is asked about

    return {pool["num_threads"] for pool in threadpool_info()}, os.environ.get("OMP_NUM_THREADS")


def burns(seconds: float) -> str | None:
    """Takes so much processor time; what the environment says."""
    started = time.process_time()
    while time.process_time() - started < seconds:
        pass
    return os.environ.get("SAID_LATER")


def test_workers_have_the_environment_of_now_and_tell_what_they_took(monkeypatch):
    """They are forked from a process that may have been started long ago, and is their parent."""
    list(map_instances(burns, [0.0, 0.0], 2))
    monkeypatch.setenv("SAID_LATER", "so")
    before = seconds_of_workers()
    assert list(map_instances(burns, [0.05, 0.05], 2)) == ["so", "so"]
    assert 0.1 <= seconds_of_workers() - before < 0.2


def whoami(_: int) -> int:
    """Takes a moment, so that every worker does something."""
    time.sleep(0.05)
    return os.getpid()


def test_workers_wait_for_more_work_while_everything_is_as_it_was(monkeypatch):
    """What they have loaded serves the next stage; an environment, a number of workers or an error
    that is new does not meet old ones."""
    several = [set(map_instances(whoami, range(6), 2)) for _ in range(2)]
    assert several[0] == several[1] and os.getpid() not in several[0]
    monkeypatch.setenv("SAID_LATER", "so")
    several.append(set(map_instances(whoami, range(6), 2)))
    with pytest.raises(ZeroDivisionError):
        list(map_instances(misbehave, [1, 3, 1, 1], 2))
    several.append(set(map_instances(whoami, range(6), 2)))
    several.append(set(map_instances(whoami, range(6), 3)))
    left = next(map_instances(whoami, range(6), 3))  # somebody who needs no more of them
    several.append(set(map_instances(whoami, range(6), 3)))
    assert left in several[4] and all(not one & two for one, two in pairwise(several[1:]))


def leaves(file: str) -> str:
    """Leaves a file behind."""
    Path(file).touch()
    return file


def test_several_processes_begin_when_they_are_asked_not_when_a_result_is(tmp_path):
    """Their parent does something else meanwhile; one that never asks leaves nobody at work."""
    files = [str(tmp_path / str(number)) for number in range(3)]
    results = map_instances(leaves, files, 2)
    until = time.monotonic() + 60
    while not all(map(os.path.exists, files)) and time.monotonic() < until:
        time.sleep(0.02)
    assert len(list(tmp_path.iterdir())) == 3
    assert list(results) == files
    map_instances(whoami, range(6), 2).close()
    assert list(map_instances(slow_square, range(3), 2)) == [0, 1, 4]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are not forked")
def test_ctrl_c_while_workers_are_prepared_is_their_parents_business():
    """A process that is still importing would show a traceback of its own."""
    heeded = signal.getsignal(signal.SIGINT)
    start()
    assert signal.getsignal(signal.SIGINT) is heeded
    server = forkserver._forkserver._forkserver_pid
    status = Path(f"/proc/{server}/status").read_text(encoding="utf-8")
    (ignored,) = re.findall(r"^SigIgn:\s*(\w+)$", status, re.MULTILINE)
    assert int(ignored, 16) >> (signal.SIGINT - 1) & 1


@pytest.mark.slow
def test_the_time_of_workers_is_told_as_that_of_children_once_their_parent_is_stopped():
    """Who measures a build from outside would otherwise see next to nothing of it."""
    stop()
    list(map_instances(burns, [0.3, 0.3], 2))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    stop()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before > 0.6
    assert list(map_instances(slow_square, range(5), 2)) == [0, 1, 4, 9, 16]


def misbehave(number: int) -> int:
    """Fails, or takes the whole process along."""
    if number == 3:
        raise ZeroDivisionError("three")
    if number == 5:
        os._exit(1)
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_or_all_of_them_in_any(workers):
    """Callers that zip results with items rely on the order."""
    assert list(map_instances(slow_square, range(5), workers)) == [0, 1, 4, 9, 16]
    assert sorted(map_instances(slow_square, range(5), workers, ordered=False)) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("workers", [1, 2])
def test_linear_algebra_runs_on_one_thread(workers):
    """The number of threads changes the last bits of a sum, and eight workers of eight threads."""
    before = os.environ.get("OMP_NUM_THREADS")
    for counts, _ in map_instances(threads, range(2), workers):
        assert counts <= {1}
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_errors_pass_through_and_a_dead_worker_is_one(capfd):
    """An exception must keep its type on the way out of a process."""
    with pytest.raises(ZeroDivisionError, match="three"):
        list(map_instances(misbehave, [1, 2, 3, 4], 2))
    with pytest.raises(ZeroDivisionError, match="three"):
        list(map_instances(misbehave, [1, 2, 3, 4], 1))
    with pytest.raises(WorkerDied, match=r"died 3 times at number 5; .* same command again"):
        list(map_instances(misbehave, [1, 5, 1, 1], 2, label="number {}".format))


class Untellable(Exception):
    """An exception that cannot be made anew from its arguments."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)


def complains(number: int) -> int:
    raise Untellable("odd", f"of {number}")


def test_an_error_that_cannot_travel_arrives_in_words():
    """It would look like the death of a worker: `fewer --workers if memory ran out`."""
    with pytest.raises(RuntimeError, match=r"(?s)in complains.*Untellable: of [12]"):
        list(map_instances(complains, [1, 2], 2))


def dies_once(job: tuple[Path, int]) -> int:
    """Takes its process along the first time that anybody asks for 3."""
    folder, number = job
    if number == 3 and not (folder / "died").exists():
        (folder / "died").touch()
        os._exit(1)
    return number


def test_a_lost_worker_costs_a_try_and_no_result(tmp_path):
    """A machine that went away once must not end a build of days."""
    jobs = [(tmp_path, number) for number in range(6)]
    assert list(map_instances(dies_once, jobs, 2)) == list(range(6))


def test_nothing_to_do_is_fine():
    """A resumed build may find every part finished."""
    assert list(map_instances(slow_square, [], 4)) == []


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        ("rays", "--engine rays: no such engine; write processes, ray or ray:ADDRESS"),
        ("ray", "--engine ray: ray is not installed here; pip install 'causal-exams[ray]'"),
    ],
)
def test_an_engine_that_is_not_there_is_one_line(engine, says, split_file, command, secret,
                                                 monkeypatch, tmp_path, capsys):  # fmt: skip
    """The extra is not everybody's."""
    monkeypatch.setitem(sys.modules, "ray", None)
    options = ("--out", tmp_path / "out", "--engine", engine)
    assert command("build", split_file, *options) == 2
    assert says in capsys.readouterr().err
