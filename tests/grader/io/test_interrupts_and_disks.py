"""Ctrl-C in the middle of a query, an output that is closed or full: never our fault."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from grader.commands import main as cli
from grader.io.process import is_interrupt

SLOW = "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b"
FULL = Path("/dev/full")


def test_ctrl_c_inside_a_query_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("grader", "schema"), ("grader", "verify {release}"), ("grader", "--help"),
        ("baselines", "--list"),
    ],
)  # fmt: skip
def test_a_full_disk_is_one_line_and_exit_2(release: Path, program: str, words: str) -> None:
    """It used to be "our fault", or a traceback and exit 120 after the last line."""
    line = f"'{{py}}' -m {program} {words} > /dev/full"
    done = subprocess.run(command(line, release), capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: output: No space left") and done.stderr.count("\n") == 1


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
