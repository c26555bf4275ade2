"""Interrupts, outputs that are closed or full, and strange file names: never our fault."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from small_release import FEW, task_id
from some_cases import some_of

from grader.commands import main as cli
from grader.errors import UsageError
from grader.io import files
from grader.io.process import is_interrupt

SLOW = "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b"
FULL = Path("/dev/full")


def test_ctrl_c_inside_a_query_is_an_interrupt(monkeypatch, capsys):
    """DuckDB makes a RuntimeError of it, which used to be reported as a bug of ours."""

    def press() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    def query(*_: object) -> int:
        threading.Thread(target=press).start()
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.execute(SLOW).fetchall()
        return 0

    monkeypatch.setattr(cli, "_dispatch", query)
    # A job in the background inherits an ignored SIGINT: the query would then never end.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert cli.main(["x"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interrupt_is_seen_behind_what_was_made_of_it() -> None:
    """A scorer's exception names its task; what lies behind it decides."""
    with pytest.raises(ValueError, match="wrapped") as caught:
        try:
            raise RuntimeError("Query interrupted")
        except RuntimeError as error:
            raise ValueError("wrapped") from error
    assert is_interrupt(caught.value)
    assert not is_interrupt(RuntimeError("another"))


def command(words: str, release: Path) -> list[str]:
    """A shell line; its ``{py}`` and ``{release}`` are filled in."""
    return ["sh", "-c", words.format(py=sys.executable, release=release)]


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", ["schema", "verify {release}", "--help"])
def test_a_full_disk_is_one_line_and_exit_2(release: Path, words: str) -> None:
    """It used to be "our fault", or a traceback and exit 120 after the last line."""
    line = f"'{{py}}' -m grader {words} > /dev/full"
    done = subprocess.run(command(line, release), capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: output: No space left") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["parquet", "html", "pack", "workspace"])
def test_no_room_for_an_output_is_one_line_and_nothing_is_left(release, gold, tmp_path, kind):
    """DuckDB's own words for it named a temporary file, with JSON inside."""
    out = tmp_path / "outputs" / f"x.{kind}"
    out.parent.mkdir()
    words: list[str | Path] = [gold, "--exam", "all", f"--{kind}", out]
    if kind == "pack":
        out = out.with_name("x.parquet")
        words = ["pack", gold, "--exam", "all", "--name", "x", "--out", out]
    if kind == "workspace":
        words = ["workspace", "--exam", "all", "--out", out]
    shell = 'ulimit -f 1; "$0" -m grader "$@" --release "$RELEASE" --split dev'
    done = subprocess.run(
        ["bash", "-c", shell, sys.executable, *words],
        env=os.environ | {"RELEASE": str(release)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    fault = f"error: {out}: cannot be written (File too large); choose another place\n"
    assert done.stderr == fault
    assert os.listdir(out.parent) == []


def write_and_die(path: Path, kind: str) -> None:
    """Begin an output in a process that is killed in the middle of it."""
    code = (
        "import os, signal, sys; from pathlib import Path; from grader.io import files\n"
        f"with files.{kind}(Path(sys.argv[1])) as temporary:\n"
        "    place = temporary if temporary.is_file() else temporary / 'half'\n"
        "    place.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, path], check=False)


@pytest.mark.parametrize("name", ["report.json", "n" * 250, "[*?]"])
@pytest.mark.parametrize("kind", ["replacing", "new_folder"])
def test_what_a_killed_run_left_is_gone_after_the_next(tmp_path, kind, name):
    """Every killed run used to leave one more hidden file beside its output."""
    out = tmp_path / "outputs" / name
    out.parent.mkdir()
    for _ in range(2):
        write_and_die(out, kind)
        assert len(os.listdir(out.parent)) == 1 and not out.exists()
    with getattr(files, kind)(out) as temporary:
        assert not temporary.is_dir() or not list(temporary.iterdir())
        place = temporary / "whole" if kind == "new_folder" else temporary
        assert kind == "new_folder" or place.read_bytes() == b""
        place.write_text("whole", encoding="ascii")
    assert os.listdir(out.parent) == [name]


@pytest.mark.parametrize("kind", ["replacing", "new_folder"])
def test_two_that_write_one_output_do_not_meet(tmp_path: Path, kind: str) -> None:
    """What another is still writing is no leftover."""
    out = tmp_path / "outputs" / "x"
    with suppress(UsageError), getattr(files, kind)(out) as first:
        mine = first / "a" if kind == "new_folder" else first
        mine.write_text("first", encoding="ascii")
        with getattr(files, kind)(out) as second:
            assert second != first
            (second / "a" if kind == "new_folder" else second).write_text("second", "ascii")
        assert mine.read_text(encoding="ascii") == "first"
    assert os.listdir(out.parent) == ["x"]


@pytest.mark.parametrize("kind", ["replacing", "new_folder"])
@pytest.mark.parametrize("there", ["link", "pipe", "folder", "file"])
def test_a_stranger_in_the_place_of_a_temporary_file_is_passed_over(tmp_path, kind, there):
    """Its name can be known beforehand: nothing is written through it."""
    out = tmp_path / "outputs" / "x"
    with pytest.raises(ZeroDivisionError), getattr(files, kind)(out) as temporary:
        raise ZeroDivisionError
    elsewhere = tmp_path / "elsewhere"
    match there:
        case "link":
            temporary.symlink_to(elsewhere)
        case "pipe":
            os.mkfifo(temporary)
        case "folder":
            temporary.mkdir()
        case "file":
            temporary.touch()
    with getattr(files, kind)(out) as used:
        (used / "a" if kind == "new_folder" else used).write_text("mine", encoding="ascii")
    assert out.exists() and not out.is_symlink() and not elsewhere.exists()


@pytest.mark.parametrize(
    ("closed", "said"),
    [
        (">&-", "error: standard output is closed; send it somewhere, > /dev/null\n"),
        (">&- 2>&-", ""),  # a daemon's child has neither
    ],
)
def test_a_closed_output_is_one_line_and_exit_2(release: Path, closed: str, said: str) -> None:
    """Nobody can have what was asked for."""
    line = f"'{{py}}' -m grader schema {closed}; echo $?"
    done = subprocess.run(command(line, release), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2\n", said)


def test_a_folder_is_locked_for_one_run_and_through_no_link(tmp_path):
    """The folder may be a stranger's: a link in it led to any file of who writes there."""
    place = tmp_path / "new" / "folder"
    with files.lock_folder(place, "--out x", 0o700):
        assert place.stat().st_mode & 0o777 == 0o700
        with pytest.raises(UsageError, match="another run is at work in"):
            files.lock_folder(place, "--out x").__enter__()
    with files.lock_folder(place, "--out x"):
        pass
    with pytest.raises(UsageError, match="--out x: cannot write"):
        files.lock_folder(place / files.LOCK / "below", "--out x").__enter__()
    (place / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match="link: is a symbolic link"):
        files.lock_folder(place, "--out x").__enter__()


NAMES = (
    "a\\*b", "[!a]", "**", "a?b[c]", "x\\", "~", "{a,b}", "s3:\\x", "'quote' \"double\"",
    "line\nbreak", "%41 task_id=zzz", "-x",
)  # fmt: skip


@pytest.mark.parametrize("name", some_of(NAMES, 3))
def test_a_submission_of_any_name_can_be_read(runner, few_release, gold, tmp_path, name):
    """A backslash before a star was neither escaped nor found; a neighbour must not be matched."""
    runner.release = few_release
    board = gold.rename(tmp_path / name)
    dev = (*runner.dev, "--exam", "all")
    assert f"{len(FEW)} valid" in runner.run("validate", board, *dev).out
    packed = board / f"{name}.parquet"
    assert runner.run("pack", board, *dev, "--name=x", "--out", packed).code == 0
    (board / "\\\\.parquet").write_bytes(b"no Parquet")  # stopped every pattern in its folder
    (board / "aXXb.parquet").write_bytes(b"no Parquet")
    assert f"{len(FEW)} valid" in runner.run("validate", packed, *dev).out


RELEASES = ("re\\*lease", "[release]", "re?lease", "re*lease", "variant=5")


@pytest.mark.parametrize("name", some_of(RELEASES, 4))
def test_a_release_in_a_folder_of_any_name_can_be_read(runner, few_release, gold, tmp_path, name):
    """Shards are named one by one, too."""
    runner.release = few_release.rename(tmp_path / name)
    assert runner.grade(gold).report["points"] == 100.0
    assert runner.run("verify", runner.release).code == 0
    at = (*runner.dev, "--task", task_id("ate"))
    assert runner.run("workspace", *at, "--out", tmp_path / "w").code == 0


@pytest.mark.parametrize("name", ["a*b", "[ab]", "plain"])
def test_workers_leave_no_folder_behind(runner, few_release, gold, tmp_path, monkeypatch, name):
    """A file that could be a pattern is read by a link, in a folder that nobody removed since a
    worker never ends as other processes do."""
    runner.release, scratch = few_release, tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    board = tmp_path / "board"
    board.mkdir()
    packed = board / f"{name}.parquet"
    dev = (*runner.dev, "--exam", "all")
    assert runner.run("pack", gold, *dev, "--name=x", "--out", packed).code == 0
    assert runner.run("leaderboard", board, *dev).code == 0
    assert list(scratch.iterdir()) == []
