"""What every test may use: the mini release, built once a session by the real command."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def mini_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``splits/mini.toml``, built with the command a user types; the gate included."""
    out = tmp_path_factory.mktemp("mini") / "release"
    command = [sys.executable, "build_dataset.py", "build", "splits/mini.toml", "--out", str(out)]
    done = subprocess.run([*command, "--quiet"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out
