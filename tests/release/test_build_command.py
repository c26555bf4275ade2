"""The command line of the builder: bad input is one line, help shows how."""

import json
import signal
import subprocess
import sys
import time

import fake_builder
import pytest
from fake_builder import ENVIRONMENT, SECRET

from grader.commands.main import main as grader


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["bild"], "bild: no such command; did you mean 'build'?"),
        (["build"], "required: TOML"),
        (["build", "none.toml"], "none.toml: not found"),
        (["build", "none.toml", "--workers", "0"], "--workers: 0 is no whole number from 1"),
        (["build", "none.toml", "--worker", "2"], "unrecognized arguments"),
        (["check", "none"], "none: no release there"),
        (["diff", "none", "none"], "none: no release there"),
    ],
)
def test_unusable_arguments_give_one_line_and_exit_code_two(arguments, expected, command, capsys):
    """A traceback, or a page of usage, hides the one word that was wrong."""
    assert command(*arguments) == 2
    message = capsys.readouterr().err
    assert expected in message
    assert message.startswith("error: ") and message.count("\n") == 1


@pytest.mark.parametrize("label", ["causalds/dve/1", "causalds/dev/45", "causalds/dev", "7", ""])
def test_an_instance_that_is_not_there_is_explained(label, split_file, command, secret, capsys):
    """The label is copied by hand from a message."""
    assert command("build", split_file, "--only", label) == 2
    assert "--only" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_named(split_file, command, secret, tmp_path, capsys):
    """These are found before any work, and nothing is left behind."""
    (tmp_path / "file").write_text("x")
    assert command("build", split_file, "--out", tmp_path / "file") == 2
    assert "is a file" in capsys.readouterr().err
    assert command("build", split_file, "--out", tmp_path / "file/below") == 2
    assert "cannot write" in capsys.readouterr().err
    assert command("build", split_file, "--out", "/") == 2
    assert command("build", split_file, "--out", "/proc/release") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "x"


def test_a_new_secret_is_256_random_bits_that_build_accepts(
    command, capsys, split_file, monkeypatch, tmp_path
):
    """The two commands must agree on what a secret looks like."""
    assert command("new-secret") == 0
    first = capsys.readouterr().out.strip()
    assert command("new-secret") == 0
    assert first != capsys.readouterr().out.strip()
    assert len(bytes.fromhex(first)) == 32
    monkeypatch.setenv("TINY_SECRET", first)
    assert command("build", split_file, "--only", "causalds/test/0") == 0


def test_standard_output_stays_free_for_data(split_file, command, secret, tmp_path, capsys):
    """`build ... > log` must not be needed to keep a pipe clean; --quiet says where it is."""
    assert command("build", split_file, "--out", tmp_path / "a", "--workers", 1) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    for part in ("Parquet shards", "rejected attempts: bound not met 9", "next:"):
        assert part in shown.err
    quiet = ("build", split_file, "--out", tmp_path / "b", "--workers", 1, "--quiet")
    for status in ("built", "already built"):
        assert command(*quiet) == 0
        assert capsys.readouterr().err == f"{status}: {tmp_path / 'b'}\n"


def test_an_unchecked_release_says_so_and_is_neither_published_nor_ranked(
    split_file, command, secret, tmp_path, capsys
):
    """An experiment of a dozen scenes fails a gate; nobody may take it for an exam."""
    out = tmp_path / "try"
    words = ("build", split_file, "--out", out, "--workers", 1, "--quiet", "--unchecked")
    assert command(*words, "--update-lock") == 2 and "drop --unchecked" in capsys.readouterr().err
    assert command(*words) == 0
    assert "UNCHECKED" in (out / "GATE.md").read_text()
    assert "tiny-UNCHECKED" in (out / "public" / "README.md").read_text()
    assert json.loads((out / "public/manifest.json").read_bytes())["release"] == "tiny-UNCHECKED"
    capsys.readouterr()
    assert command("publish", out, "--repo", "org/exams") == 2
    assert "is UNCHECKED, for experiments, and is not published" in capsys.readouterr().err
    (tmp_path / "answers").mkdir()
    board = ("leaderboard", tmp_path, "--release", out, "--split", "dev")
    assert grader([str(word) for word in board]) == 2
    assert "ranks nobody; build it without --unchecked" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_keeps_finished_parts(split_file, tmp_path):
    """Stopping a long build is ordinary, not an accident."""
    build = subprocess.Popen(
        [sys.executable, fake_builder.__file__, "build", str(split_file), "--workers", "1",
         "--out", str(tmp_path / "r")],
        env=ENVIRONMENT | {"TINY_SECRET": SECRET, "FAKE_SLOW": "0.05"},
        stderr=subprocess.PIPE, text=True,
        # Children of a background job ignore SIGINT unless told otherwise.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("r.partial/parts/causalds/*/*/part.json")):
        assert time.monotonic() < deadline and build.poll() is None
        time.sleep(0.02)
    build.send_signal(signal.SIGINT)
    _, message = build.communicate(timeout=60)
    assert build.returncode == 130
    assert "finished parts are kept" in message and "Traceback" not in message
    assert not (tmp_path / "r").exists()
