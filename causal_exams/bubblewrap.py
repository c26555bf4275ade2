"""A sandbox of Inspect without a container engine: bubblewrap (``bwrap``), Linux only.

Every command is a process tree of its own in new user, process, network, mount, IPC and host-name
namespaces: no network, no privileges, an empty environment, one writable folder (the sample's, as
``/workspace``), the system's programs and one Python read-only, and nothing else of this machine.
What a command starts dies with it, and with the run. Root gives up its rights before it enters.

The Python is that of ``$CAUSAL_EXAMS_SANDBOX_PYTHON``, by default the one that runs the exam.
"""

import os
import shutil
import subprocess as processes
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    sandboxenv,
    subprocess,
)

from grader.errors import UsageError

NAME: Final = "bubblewrap"
PYTHON: Final = "CAUSAL_EXAMS_SANDBOX_PYTHON"
HOME: Final = "/workspace"
_LIMITS: Final = f"ulimit -v {8 << 20} -f {2 << 20} -t 3600 -c 0"
"""KiB of address space of a process (half of it can be in use at once as a rule) and of its largest
file, and seconds of its processor."""
_SCRATCH: Final = str(2 << 30)
"""Bytes of ``/tmp``, and of ``/dev/shm``."""
NOBODY: Final = 65534
"""The user and the group that root becomes before it runs a command."""
_KERNEL: Final = tuple(f"/proc/{n}" for n in ("sys", "irq", "bus", "sysrq-trigger", "pressure"))
"""Places that no command may write."""
_BOUND: Final = "/tmp"
"""The folder under which root binds what only root may reach, for the user that it becomes."""
_OUTPUT: Final = 10 << 20
_LARGEST_FILE: Final = 100 << 20
_WHERE: Final = (
    "import sys; print(sys.base_prefix); print(sys.prefix); "
    "[print(p) for p in sys.path if p.endswith(('site-packages', 'dist-packages'))]"
)
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")


@cache
def _find_python() -> tuple[str, tuple[str, ...]]:
    """Return the folder of the sandbox's Python, and what it must read; raises ``UsageError``."""
    program = os.environ.get(PYTHON) or sys.executable
    try:
        done = processes.run(
            [program, "-c", _WHERE], capture_output=True, text=True, check=True, cwd="/"
        )
    except (OSError, processes.CalledProcessError) as error:
        raise UsageError(f"${PYTHON}: {program} does not run as Python ({error})") from None
    places = {str(Path(line)) for line in done.stdout.splitlines()}
    return str(Path(program).parent), tuple(sorted(places))


def _find_bwrap() -> str:
    """Return the path of bwrap; raises ``UsageError`` where it is not installed."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise UsageError(
            "--sandbox bubblewrap: bwrap is not installed; install the package bubblewrap (Linux)"
        )
    return bwrap


def _root_arguments(workspace: str) -> tuple[str, ...]:
    """Return what root puts before :func:`bwrap_arguments`, nothing for another user.

    It binds the workspace and Python's folders below ``/tmp`` and becomes ``NOBODY``. Else the
    user inside were root of the machine, whatever its number there. Raises ``UsageError``.
    """
    if os.geteuid():
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise UsageError(
            "--sandbox bubblewrap: as root it needs setpriv; install util-linux, or run it as "
            "another user"
        )
    words = ["/usr/bin/env", "-i", _find_bwrap(), "--die-with-parent", "--dev-bind", "/", "/"]
    words += ["--tmpfs", _BOUND, "--bind", workspace, f"{_BOUND}/workspace"]
    for number, place in enumerate(_find_python()[1]):
        words += ["--ro-bind", place, f"{_BOUND}/{number}"]
    rights = ("--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--no-new-privs")
    return (*words, "--", setpriv, *rights, "--")


@cache
def bwrap_arguments() -> tuple[str, ...]:
    """Return ``bwrap`` with all options but those of the workspace; raises ``UsageError``."""
    bwrap = _find_bwrap()
    folder, places = _find_python()
    # bwrap itself gets an empty environment too: it is process 1 inside, and its own can be read.
    words = [
        "/usr/bin/env", "-i", bwrap, "--unshare-all", "--unshare-user", "--die-with-parent",
        "--new-session", "--clearenv", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000",
        "--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev",
        "--size", _SCRATCH, "--tmpfs", "/tmp", "--size", _SCRATCH, "--tmpfs", "/dev/shm",
        "--remount-ro", "/dev",
    ]  # fmt: skip
    options = processes.run([bwrap, "--help"], capture_output=True, text=True, check=False).stdout
    if "--disable-userns" in options:  # from version 0.8
        words.append("--disable-userns")
    for place in _KERNEL:
        if Path(place).exists():
            words += ["--ro-bind", place, place]
    for place in _SYSTEM:
        if Path(place).is_symlink():
            words += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).is_dir():
            words += ["--ro-bind", place, place]
    for number, place in enumerate(places):
        if not place.startswith("/usr/") and place != "/usr":
            words += ["--ro-bind", place if os.geteuid() else f"{_BOUND}/{number}", place]
    paths = ":".join((folder, "/usr/local/bin", "/usr/bin", "/bin"))
    variables = {"PATH": paths, "HOME": HOME, "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
    variables |= {"OPENBLAS_NUM_THREADS": "2", "PYTHONDONTWRITEBYTECODE": "1"}
    for name, value in variables.items():
        words += ["--setenv", name, value]
    return tuple(words)


@sandboxenv(name=NAME)
class BubblewrapSandboxEnvironment(SandboxEnvironment):
    """One sample's sandbox: a temporary folder that its commands see as ``/workspace``."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="sandbox-", ignore_cleanup_errors=True)
        if os.geteuid() == 0:
            os.chown(self._folder.name, NOBODY, NOBODY)

    @classmethod
    async def task_init(cls, task_name: str, config: Any) -> None:
        """Raise ``UsageError`` where not even the command ``true`` runs in a sandbox."""
        probe = cls()
        done = await probe.exec(["true"])
        if not done.success:
            why = " ".join(done.stderr.split())
            raise UsageError(
                f"--sandbox bubblewrap: does not work here ({why}); it needs user namespaces, "
                "which many containers forbid: allow them, or use --sandbox docker"
            )

    @classmethod
    async def sample_init(
        cls, task_name: str, config: Any, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Return one new, empty sandbox under the name ``default``."""
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: Any,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Remove the sandboxes' folders; every process ended with its command."""
        for environment in environments.values():
            environment.as_type(cls)._folder.cleanup()

    async def exec(
        self, cmd: list[str], input: str | bytes | None = None, cwd: str | None = None,
        env: dict[str, str] | None = None, user: str | None = None, timeout: int | None = None,
        timeout_retry: bool = True, concurrency: bool = True,
    ) -> ExecResult[str]:  # fmt: skip
        """Run a command; raises ``TimeoutError`` after ``timeout`` seconds.

        A relative ``cwd`` is below ``/workspace``. ``user`` and ``timeout_retry`` are not used:
        there is one user, and nothing is tried again.
        """
        words = [*self._command(cwd, env), *cmd]
        return await subprocess(
            words, input=input, timeout=timeout, output_limit=_OUTPUT, concurrency=concurrency
        )

    def _command(self, cwd: str | None = None, env: dict[str, str] | None = None) -> list[str]:
        """Return the words in front of a command: the sandbox, its folder and the limits."""
        place = f"{_BOUND}/workspace" if os.geteuid() == 0 else self._folder.name
        words = [*_root_arguments(self._folder.name), *bwrap_arguments(), "--bind", place, HOME]
        for name, value in (env or {}).items():
            words += ["--setenv", name, value]
        cwd = cwd or "."
        words += ["--chdir", cwd if cwd.startswith("/") else f"{HOME}/{cwd}"]
        return [*words, "--", "/bin/bash", "-c", f'{_LIMITS}; exec "$@"', "sandbox"]

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file, and the folders above it, from inside the sandbox.

        So a link cannot lead out of it. Raises ``IsADirectoryError`` or ``PermissionError``.
        """
        script = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'
        data = contents.encode("utf-8") if isinstance(contents, str) else contents
        # Without any input there would be no standard input to read.
        if not data:
            script = script.replace("cat >", ":>")
        done = await self.exec(["/bin/bash", "-c", script, "write", file], input=data or None)
        if not done.success:
            kind = IsADirectoryError if "Is a directory" in done.stderr else PermissionError
            raise kind(f"{file}: {done.stderr.strip()}")

    async def read_file(self, file: str, text: bool = True) -> Any:
        """Return the content of a file as text or bytes, read from inside the sandbox.

        So a link cannot lead out of it. Raises ``FileNotFoundError``, ``IsADirectoryError``,
        ``PermissionError``, or ``OutputLimitExceededError`` above 100 MiB.
        """
        script = '[ -d "$1" ] && exit 21; [ -e "$1" ] || exit 2; head -c "$2" < "$1"'
        most = str(_LARGEST_FILE + 1)
        words = [*self._command(), "/bin/bash", "-c", script, "read", file, most]
        done = await subprocess(words, text=False, output_limit=_LARGEST_FILE + 1, timeout=60)
        if done.returncode:
            kinds = {2: FileNotFoundError, 21: IsADirectoryError}
            raise kinds.get(done.returncode, PermissionError)(file)
        if len(done.stdout) > _LARGEST_FILE:
            raise OutputLimitExceededError("100 MiB", None)
        return done.stdout.decode("utf-8") if text else done.stdout
