"""A Hub on this machine, small releases on it, and commands that know nothing but its address."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from local_hub import LocalHub, Says, serving

os.environ.setdefault("HF_HUB_DISABLE_XET", "1")  # read when the client is first imported


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """An empty Hub with two users: ``ann`` of ``org``, whose token is in use, and ``bob``."""
    import huggingface_hub.utils._http as http
    from huggingface_hub import constants

    monkeypatch.setattr(http, "time", SimpleNamespace(sleep=lambda seconds: None))  # of retries
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    own = LocalHub()
    ann = own.add_user("ann", "org")
    own.add_user("bob")
    with serving(own):
        monkeypatch.setenv("HF_ENDPOINT", own.endpoint)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HF_TOKEN", ann)
        yield own


@pytest.fixture(scope="session")
def release(small: Path) -> Path:
    """A release by hand with a public and a private split; read only."""
    return small


@pytest.fixture
def own(tiny: Path, tmp_path: Path) -> Path:
    """A built release to change."""
    return Path(shutil.copytree(tiny, tmp_path / "release"))


@pytest.fixture
def says(capsys: pytest.CaptureFixture[str]) -> Says:
    """Runs a command of the grader: its exit code, output and errors."""
    from grader.commands.main import main

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run
