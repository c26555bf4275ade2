"""A small split file and the builder with a small track, for every test of the release."""

import shutil
from collections.abc import Callable
from pathlib import Path

import fake_builder
import pytest
from fake_builder import SECRET, SPLIT_FILE
from gate_release import SPLITS
from ungated import build_ungated


@pytest.fixture
def split_file(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.toml"
    file.write_text(SPLIT_FILE, encoding="utf-8")
    return file


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TINY_SECRET", SECRET)
    return SECRET


@pytest.fixture
def command() -> Callable[..., int]:
    """Runs a builder command in this process, with the small track and a gate that passes."""
    return lambda *arguments: fake_builder.main([*map(str, arguments)])


@pytest.fixture
def build(command: Callable[..., int], split_file: Path, secret: str) -> Callable[..., int]:
    """Builds the small track's release into a folder, in this process."""
    return lambda out, *more: command("build", split_file, "--out", out, "--workers", 1, *more)


@pytest.fixture(scope="session")
def built(shared: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """A small real release that no gate has seen; do not change."""

    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / "gated.toml").write_text(SPLITS, encoding="utf-8")
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setenv("GATE_SECRET", SECRET)
            build_ungated(folder / "gated.toml", folder / "release")

    return shared("gated", make) / "release"


@pytest.fixture
def release(built: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(built, tmp_path / "copy"))
