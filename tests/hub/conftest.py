"""A Hub on this machine, small releases on it, and commands that know nothing but its address."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hub_place import Says
from local_hub import LocalHub, serving

os.environ.setdefault("HF_HUB_DISABLE_XET", "1")  # read when the client is first imported
for folder in ("grader", "release"):  # whose small releases are put on the Hub
    sys.path.insert(0, str(Path(__file__).parent.parent / folder))


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
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release by hand with a public and a private split; read only."""
    from small_release import write_release

    return write_release(tmp_path_factory.mktemp("small") / "release")


@pytest.fixture
def says(capsys: pytest.CaptureFixture[str]) -> Says:
    """Runs a command of the grader: its exit code, output and errors."""
    from grader.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the builder with a public and a private split; read only."""
    import fake_builder
    from tiny_release import SECRET, SPLIT_FILE

    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(SPLIT_FILE, encoding="utf-8")
    out = folder / "release"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TINY_SECRET", SECRET)
        arguments = ["build", str(folder / "tiny.toml"), "--out", str(out), "--workers", "1"]
        assert fake_builder.main([*arguments, "--quiet"]) == 0
    return out
