"""Where worker processes come from: a process of its own that has imported what they need, so that
each is forked from it in no time; a fresh interpreter takes a second and a half.

Where forking is not safe beside the system's own libraries, which is anywhere but on Linux, workers
are fresh interpreters.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, get_context
from multiprocessing.context import BaseContext
from typing import Any, Final

ONE_THREAD: Final = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)
"""Read by libraries of linear algebra as they are loaded."""

_PRELOADED: Final = "builder.cli.preloaded"


def start() -> BaseContext:
    """Starts the process that workers are forked from, unless it runs; what they are made with.

    It imports while its parent does something else: who calls this early waits less later.
    """
    if sys.platform != "linux":
        return get_context("spawn")
    forkserver.set_forkserver_preload([_PRELOADED])
    with _as_it_should_find_things():
        forkserver.ensure_running()
    atexit.unregister(stop)
    atexit.register(stop)
    return get_context("forkserver")


@contextmanager
def _as_it_should_find_things() -> Iterator[None]:
    """What the process inherits: one thread for linear algebra, and no ear for Ctrl-C, of which its
    parent tells."""
    own = {name: os.environ.get(name) for name in ONE_THREAD}
    main = threading.current_thread() is threading.main_thread()  # others may set no handler
    heeded = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in own.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if heeded is not None:
            signal.signal(signal.SIGINT, heeded)


def stop() -> None:
    """Ends that process and waits for it: only then its time and that of the workers, which it has
    waited for, is told as that of its parent's children."""
    server: Any = forkserver._forkserver  # as the standard library's own tests do
    if server._forkserver_pid is not None:
        os.kill(server._forkserver_pid, signal.SIGTERM)  # it may still be importing
        server._stop()
