"""``build_dataset.py`` with the small track in place of causalds and a gate that lets all pass."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import fake_track

from builder import build
from builder.commands import main as cli
from builder.gate.report import GateLine
from builder.release import manifest
from builder.tracks import TRACKS


@dataclass(frozen=True)
class Passed:
    """A gate's report."""

    ok: bool = True
    markdown: str = "# Gate\n\nall well\n"
    lines: tuple[GateLine, ...] = ()


def gate(release: Path, *_: object, **__: object) -> Passed:
    """Passes unless a test says otherwise."""
    refused = bool(os.environ.get("FAKE_GATE_FAILS"))
    if not refused:
        return Passed(markdown="all well\n")
    line = GateLine("gold answers", False, "99 points", ("a task earns 0",))
    return Passed(False, "# Gate\n\ngold answers: 99 points\n", lines=(line,))


@contextmanager
def small_track() -> Iterator[None]:
    """The small track, a gate that passes, and a source hash that no edit under way changes."""
    with (
        patch.dict(TRACKS, causalds=fake_track.TRACK),
        patch.object(build, "run_gate", gate),
        patch.object(build, "check_part", lambda *_: None),
        patch.object(manifest, "source_sha256", lambda: "0" * 64),
    ):
        yield


def main(arguments: list[str]) -> int:
    """Runs one command in this process."""
    with small_track():
        return cli.main(arguments)


if __name__ == "__mp_main__":  # a worker process finds its track by name
    TRACKS["causalds"] = fake_track.TRACK
    patch.object(build, "check_part", lambda *_: None).start()

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
