"""Running a model's commands in a folder. This is no sandbox: use it inside a container.

A command may read whatever the user may read, and reach the network. It is only kept from the
obvious: it starts in a scratch folder, with an environment of a few harmless variables, and the
run's own (API keys, ``CAUSAL_EXAMS_*`` settings) cannot be read from it; its files are limited in
size; and it is killed with everything it started when it ends, when its time is over, or when the
run ends (:mod:`harness.supervisor`; where there is no ``/proc``, what leaves its group escapes).
"""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness import supervisor

_GRACE: Final = 10.0
"""Seconds to kill what was started."""
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "VIRTUAL_ENV")
_OUTPUT_LIMIT: Final = 10_000
"""Characters of output that a model is shown, half from the beginning, half from the end."""
_FILE_BLOCKS: Final = 1 << 21
"""Largest file a command may write, in blocks of 1024 bytes (2 GiB)."""


def child_environment(folder: Path) -> dict[str, str]:
    """The environment of a command: a few listed variables, and ``folder`` as home."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder)}


def hide() -> None:
    """Make this process's environment unreadable to others of the same user (Linux)."""
    supervisor.prctl(supervisor.NOT_DUMPABLE, 0)


def execute(command: str, folder: Path, timeout: float) -> str:
    """Run ``command`` with bash in ``folder``; returns its output and exit status as text.

    Output is truncated; after ``timeout`` seconds, and in any case when the shell itself has
    ended, everything that was started is killed. A command is a file, as the system takes no
    argument that is long or holds a NUL.
    """
    hide()
    with tempfile.TemporaryFile() as output, tempfile.NamedTemporaryFile(suffix=".sh") as script:
        script.write(f"ulimit -f {_FILE_BLOCKS}\n{command}".encode("utf-8", "replace"))
        script.flush()
        watched = [str(timeout), str(os.getpid()), script.name]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor.__file__, *watched],
            cwd=folder,
            env=child_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout + _GRACE)
            killed = code == supervisor.TIMED_OUT
            status = f"killed after {timeout:g} s" if killed else f"exit status {code}"
        except subprocess.TimeoutExpired:
            status = f"killed after {timeout:g} s"
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return f"{_read(output.fileno())}\n[{status}]"


def _read(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    half = _OUTPUT_LIMIT // 2
    if size <= _OUTPUT_LIMIT:
        return os.pread(descriptor, size, 0).decode("utf-8", "replace")
    head = os.pread(descriptor, half, 0).decode("utf-8", "replace")
    tail = os.pread(descriptor, half, size - half).decode("utf-8", "replace")
    return f"{head}\n[… {size - 2 * half} bytes left out …]\n{tail}"
