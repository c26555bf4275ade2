"""Parts behind an address: the same bytes, resumed from there, and nothing left behind."""

import shutil
from collections.abc import Iterator
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


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder of a bucket behind a local server that speaks S3."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    fsspec.filesystem("s3").mkdir("exams")
    yield "s3://exams/parts"
    running.stop()
    fsspec.filesystem("s3").clear_instance_cache()


@pytest.mark.slow
def test_a_build_over_s3_has_the_same_bytes_and_is_resumed_from_it(
    bucket: str, tiny: Path, split_file: Path, command: Any, secret: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Behind HTTP, with several workers, things differ from a dictionary in memory."""
    test_a_build_over_a_store_has_the_same_bytes_and_is_resumed_from_it(
        bucket, tiny, split_file, command, secret, monkeypatch, tmp_path, capsys
    )
    again = ("build", split_file, "--out", tmp_path / "two", "--workers", 2, "--staging", bucket)
    assert command(*again) == 0
    assert tree(tmp_path / "two") == tree(tiny) and _kept(bucket) == []


def _kept(address: str) -> list[str]:
    system, folder = fsspec.core.url_to_fs(address)
    system.invalidate_cache()
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
    parts = sum(file.endswith("part.json") for file in _kept(address))
    shutil.rmtree(tmp_path / "out.partial")
    monkeypatch.delenv("FAKE_GATE_FAILS")
    capsys.readouterr()
    assert command(*build) == 0
    assert f"{parts} of {parts} parts are kept" in capsys.readouterr().err
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
    records = [file for file in _kept(address) if file.endswith("part.json")]
    system.rm(records[0])
    shutil.rmtree(tmp_path / "out.partial")
    monkeypatch.delenv("FAKE_GATE_FAILS")
    assert command(*build) == 0
    assert f"{len(records) - 1} of {len(records)} parts are kept" in capsys.readouterr().err
    assert tree(out) == tree(tiny)


def test_an_address_that_cannot_be_used_is_one_line(
    split_file: Path, command: Any, secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """fsspec has a traceback for it."""
    out = ("--out", tmp_path / "out", "--workers", 1)
    assert command("build", split_file, *out, "--staging", "nosuch://bucket") == 2
    assert "error: --staging nosuch://bucket: cannot be used" in capsys.readouterr().err
