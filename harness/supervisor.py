"""Run one shell script and leave nothing of it behind. A program of its own, without imports of
ours: ``python supervisor.py SECONDS PARENT SCRIPT``.

Whatever a command starts, in a session of its own or not, stays below this process (a subreaper),
and is killed when the script ends, when its time is over, or when the parent dies or asks. It can
look into no environment but its own: the parent has made itself unreadable
(:func:`harness.shell.hide`), and the right to look all the same is given up.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

_DEATH_SIGNAL, NOT_DUMPABLE, _DROP_RIGHT, _SUBREAPER = 1, 4, 24, 36
_RIGHTS_TO_LOOK = (19, 21, 38)
"""CAP_SYS_PTRACE, CAP_SYS_ADMIN and CAP_PERFMON: by each root reads the memory of others."""
TIMED_OUT = -signal.SIGALRM
"""What is returned when the time was over: no script's own status."""


def prctl(option: int, value: int) -> bool:
    """One call of Linux's ``prctl``; false where there is none, or it is refused."""
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def descendants(root: int) -> set[int]:
    """Every process below ``root``, by ``/proc``."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # gone in the meantime
        parents[int(entry.parent.name)] = int(fields[1])
    found, before = {root}, 0
    while len(found) > before:
        before = len(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return found - {root}


def _kill_all() -> None:
    """Kill and reap until nothing is left: who forks is stopped before the next look."""
    for _ in range(200):
        left = descendants(os.getpid())
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in left:
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main(seconds: float, parent: int, script: str) -> int:
    """Run the script; returns its exit status, ``TIMED_OUT`` after ``seconds``."""
    signal.signal(signal.SIGTERM, _stop)
    prctl(_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:
        return 1  # it died before the signal was asked for
    prctl(_SUBREAPER, 1)
    for right in _RIGHTS_TO_LOOK:
        prctl(_DROP_RIGHT, right)
    shell = subprocess.Popen(["bash", script], stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        status = shell.wait(seconds)
        return status if status >= 0 else 128 - status
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        _kill_all()


if __name__ == "__main__":
    ended = main(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    if ended == TIMED_OUT:
        os.kill(os.getpid(), signal.SIGALRM)
    sys.exit(ended)
