"""Whatever an endpoint or a model sends: one task fails, and the run goes on."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scripted import Reply, serve
from test_run_loop import GOOD, IDS, answer, lines, take, workspaces

from harness.shell import execute

DEEP = b'{"choices": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"


def reply_body(content: bytes, usage: bytes = b"null") -> bytes:
    """A completion whose content and usage are this JSON text, however odd."""
    return b'{"id": "x", "choices": [{"message": {"content": %s}}], "usage": %s}' % (content, usage)


HOSTILE = {
    "deep": Reply(body=DEEP),
    "deep error": Reply(body=DEEP, status=400),
    "1.5 GB": Reply(body=b" " * (1 << 20), repeat=1500),
    "1.5 GB of an error": Reply(body=b" " * (1 << 20), repeat=1500, status=400),
    "1 GB compressed": Reply(
        body=gzip.compress(bytes(1 << 26)), headers={"Content-Encoding": "gzip"}
    ),
    "a byte every half second": Reply(body=b" " * 10_000, pause=0.5),
    "an error, a byte every half second": Reply(body=b" " * 10_000, pause=0.5, status=400),
    "garbage": Reply(body=bytes(range(256)) * 100),
    "NUL": Reply(body=b"\x00" * 1000),
    "content is a number": Reply(body=reply_body(b"1e999")),
    "content is a list": Reply(body=reply_body(b"[1]")),
    "a number of a million digits": Reply(body=reply_body(b"1" * 1_000_000)),
    "lone surrogates": Reply(body=reply_body(b'"\\\\ud800 \\\\udfff"'.replace(b"\\\\", b"\\"))),
    "escapes in an error": Reply("\x1b]0;owned\x07\x1b[2J\u202e", status=400),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_reply_ends_one_task_and_not_the_run(
    tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of these ended the run, held it for ever, or filled the memory."""
    workspaces(tmp_path, IDS)

    def script(messages: list[dict[str, Any]]) -> Reply:
        return HOSTILE[what] if IDS[0] in messages[1]["content"] else GOOD

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.monotonic()
    with serve(script) as server:
        patience = "2" if "second" in what else "5"
        limits = ("--reply-timeout", patience, "--max-steps", "2", "--max-retries", "0")
        assert take(server, tmp_path, *limits) == 0
    assert time.monotonic() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10
    assert answer(tmp_path, IDS[1]) == {"ate": 1.5}
    (failure,) = lines(tmp_path, "failures")
    assert failure["task_id"] == IDS[0] and failure["error"].isprintable()
    out, err = capsys.readouterr()
    assert all(line.isprintable() for line in (out + err).split("\n"))


@pytest.mark.parametrize("count", ['"many"', "-5", "NaN", "1e400", "[1]", "9" * 400])
def test_implausible_usage_is_no_usage(tmp_path: Path, count: str) -> None:
    """A ledger with NaN in it is no JSON for the grader."""
    workspaces(tmp_path)
    usage = f'{{"prompt_tokens": {count}, "completion_tokens": 3, "total_tokens": 3}}'
    content = json.dumps(GOOD.text).encode()
    with serve([Reply(body=reply_body(content, usage.encode()))]) as server:
        take(server, tmp_path)
    (row,) = lines(tmp_path, "usage")
    assert row["input_tokens"] == 0


COMMANDS = {
    "140 kB": f"# {'x' * 140_000}\necho done",
    "NUL": "echo a\x00b\necho done",
    "lone surrogate": "echo '\ud800'\necho done",
    "garbage": '\x01\x02\xff)(`"',
}


@pytest.mark.parametrize("what", COMMANDS)
def test_any_command_ends_in_text(tmp_path: Path, what: str) -> None:
    """The system takes no argument of 131 kB, and none with a NUL: each stopped the run."""
    shown = execute(COMMANDS[what], tmp_path, 20)
    assert "[exit status" in shown
    assert "done" in shown or what in ("garbage", "NUL")


SECRET = "sesame-of-the-parent"


def test_a_command_cannot_read_the_environment_of_the_run(tmp_path: Path) -> None:
    """The key stood in /proc for every process of the same user."""
    program = (
        "import sys; from pathlib import Path; from harness.shell import execute; "
        'print(execute(\'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\\\0" "\\\\n" '
        f"| grep -c {SECRET[:-1]}[{SECRET[-1]}]; echo looked', Path(sys.argv[1]), 30))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "OPENAI_API_KEY": SECRET},
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert shown.split()[:2] == ["0", "looked"]


def alive(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


ESCAPE = (
    "setsid nohup sleep 300 >/dev/null 2>&1 & echo $! > pid; (setsid sleep 301 & echo $! > two)"
)


@pytest.mark.parametrize("rest", ["", "; sleep 60"], ids=["ended", "out of time"])
def test_what_leaves_its_group_is_killed_too(tmp_path: Path, rest: str) -> None:
    """A process in a session of its own outlived the exam."""
    execute(ESCAPE + rest, tmp_path, 2)
    for name in ("pid", "two"):
        assert not alive(int((tmp_path / name).read_text()))


def test_a_command_does_not_outlive_a_run_that_is_killed(tmp_path: Path) -> None:
    """Nobody is left to clean up after kill -9."""
    program = (
        "import sys; from pathlib import Path; from harness.shell import execute; "
        f"execute({ESCAPE + '; sleep 60'!r}, Path(sys.argv[1]), 50)"
    )
    run = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    deadline = time.monotonic() + 30
    while not (tmp_path / "two").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    left = [int((tmp_path / name).read_text()) for name in ("pid", "two")]
    run.send_signal(signal.SIGKILL)
    run.wait()
    while any(map(alive, left)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, left))


def test_a_compressed_reply_is_refused_for_what_it_is(tmp_path: Path) -> None:
    """A few bytes stand for a gigabyte; the size that travels says nothing."""
    workspaces(tmp_path, IDS)
    reply = HOSTILE["1 GB compressed"]
    with serve(lambda m: reply if IDS[0] in m[1]["content"] else GOOD) as server:
        assert take(server, tmp_path, "--max-retries", "0") == 0
    (failure,) = lines(tmp_path, "failures")
    assert "compressed" in failure["error"]
