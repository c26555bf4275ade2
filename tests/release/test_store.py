"""Parts behind an address: the same bytes, resumed from there, and nothing left behind."""

import shutil
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pytest
from tiny_release import tree


@pytest.fixture
def address() -> str:
    """A folder of fsspec's file system in memory, which behaves like an object store."""
    return f"memory://{uuid4().hex}/parts"


def _kept(address: str) -> list[str]:
    system, folder = fsspec.core.url_to_fs(address)
    return list(system.find(folder))


def test_a_build_over_a_store_has_the_same_bytes_and_is_resumed_from_it(
    address: str, tiny: Path, split_file: Path, command: Any, secret: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The machine that asked for the build may be lost, too."""
    out = tmp_path / "out"
    build = ("build", split_file, "--out", out, "--workers", 1, "--staging", address)
    monkeypatch.setenv("FAKE_GATE_FAILS", "1")
    assert command(*build) == 1
    assert sum(file.endswith("part.json") for file in _kept(address)) == 6
    shutil.rmtree(tmp_path / "out.partial")
    monkeypatch.delenv("FAKE_GATE_FAILS")
    capsys.readouterr()
    assert command(*build) == 0
    assert "6 of 6 parts are kept" in capsys.readouterr().err
    assert tree(out) == tree(tiny)
    assert _kept(address) == []


def test_a_part_without_its_record_is_built_again(
    address: str, tiny: Path, split_file: Path, command: Any, secret: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """A worker that was lost while it wrote leaves half a part."""
    out = tmp_path / "out"
    build = ("build", split_file, "--out", out, "--workers", 1, "--staging", address)
    monkeypatch.setenv("FAKE_GATE_FAILS", "1")
    assert command(*build) == 1
    system, _ = fsspec.core.url_to_fs(address)
    record = next(file for file in _kept(address) if file.endswith("part.json"))
    system.rm(record)
    shutil.rmtree(tmp_path / "out.partial")
    monkeypatch.delenv("FAKE_GATE_FAILS")
    assert command(*build) == 0
    assert "5 of 6 parts are kept" in capsys.readouterr().err
    assert tree(out) == tree(tiny)


def test_an_address_that_cannot_be_used_is_one_line(
    split_file: Path, command: Any, secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """fsspec has a traceback for it."""
    out = ("--out", tmp_path / "out", "--workers", 1)
    assert command("build", split_file, *out, "--staging", "nosuch://bucket") == 2
    assert "error: --staging nosuch://bucket: cannot be used" in capsys.readouterr().err
