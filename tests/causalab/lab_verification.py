"""A transcript's bytes verified as the grader does it, and a laboratory served over HTTP."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.laboratory.episode import Episode
from grader.laboratory.replay import replay
from grader.laboratory.session import Laboratory
from grader.laboratory.transcript import (
    TranscriptError,
    check_chain,
    content_of,
    read_lines,
    seal,
    write_line,
)


def verify(episode: Episode, data: bytes, key: bytes | None = None) -> Laboratory:
    """The finished session that ``data`` records; raises :class:`TranscriptError`.

    With ``key`` every line must carry the host's signature.
    """
    lines = read_lines(data)
    check_chain(lines, key)
    laboratory = replay(episode, lines)
    if laboratory.phase != "closed":
        raise TranscriptError(len(lines), "the transcript ends without its closing line")
    return laboratory


def resealed(lines: Sequence[Mapping[str, Any]], key: bytes | None = None) -> bytes:
    """The lines with indices, count and chain computed anew, as a forger without a key would."""
    done: list[dict[str, Any]] = []
    for index, line in enumerate(lines):
        content = {**content_of(line), "index": index}
        if content.get("event") == "closed":
            content["lines"] = len(lines)
        done.append(seal(content, done[-1]["digest"] if done else "", key))
    return "".join(write_line(line) for line in done).encode()


@contextmanager
def over_http(episode_file: Path, kept: Path, root: Path) -> Iterator[int]:
    """Serve a laboratory with its transcript in ``kept``; gives the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "causal_exams", "lab", str(episode_file)]
    command += ["--transcript", str(kept), "--mcp-http", str(port)]
    server = subprocess.Popen(command, cwd=root, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()
