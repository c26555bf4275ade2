"""What every test may use: the mini release, built once a session by the real command."""

import fcntl
import gc
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_TESTS = count()


def pytest_unconfigure() -> None:
    """Hypothesis leaves a callback with the garbage collector, which keeps DuckDB's objects alive
    beyond the interpreter's end; DuckDB's binding would then print a page about leaks."""
    gc.callbacks.clear()


@pytest.fixture(autouse=True)
def _gradings_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No test may reuse what another graded, perhaps with a part of the grader replaced."""
    folder = tmp_path_factory.getbasetemp() / "gradings" / str(next(_TESTS))
    monkeypatch.setenv("CAUSAL_EXAMS_CACHE", str(folder))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def mini_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``splits/mini.toml``, built with the command a user types; the gate included.

    Test processes share it: whoever comes first builds it, the others wait. It is built in one
    process, since the others would spend as long on their imports as on their work.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of this run, with a folder for each worker
    out = folder / "mini" / "release"
    out.parent.mkdir(exist_ok=True)
    with (folder / "mini" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():  # it gets this name once it is complete
            command = [sys.executable, "build_dataset.py", "build", "splits/mini.toml"]
            command += ["--out", str(out), "--quiet", "--workers", "1"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    return out
