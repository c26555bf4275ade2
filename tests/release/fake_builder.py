"""``build_dataset.py`` with the small track in place of causalds and a gate that lets all pass, and
what tests of the release share: a split file, secrets, and a folder as a mapping."""

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import fake_track

from builder import build as build_module
from builder.commands import main as cli
from builder.gate.report import GateLine, GateReport
from builder.release import manifest
from builder.tracks import TRACKS

ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parents[2], Path(__file__).parent)))
}
"""What a process of its own needs to find the builder and the small track."""

SECRET = hashlib.sha256(b"a secret for tests").hexdigest()
OTHER_SECRET = hashlib.sha256(b"another secret for tests").hexdigest()

SPLIT_FILE = """
name = "tiny"
version = "0.1.0"

[splits.dev]
truth = "public"
seed = "tiny 1"
[splits.dev.causalds]
scenes = 45
[splits.dev.exams.mini]
causalds = { tasks = 20 }

[splits.test]
truth = "private"
secret_env = "TINY_SECRET"
[splits.test.causalds]
scenes = 45
[splits.test.exams.demo]
causalds = { tasks = "all" }
"""


def gate(release: Path, *_: object, **__: object) -> GateReport:
    """Passes unless a test says otherwise."""
    if not os.environ.get("FAKE_GATE_FAILS"):
        return GateReport(())
    return GateReport((GateLine("gold answers", False, "99 points", ("a task earns 0",)),))


@contextmanager
def small_track() -> Iterator[None]:
    """The small track, a gate that passes, and a source hash that no edit under way changes."""
    with (
        patch.dict(TRACKS, causalds=fake_track.TRACK),
        patch.object(build_module, "run_gate", gate),
        patch.object(build_module, "check_part", lambda *_: None),
        patch.object(manifest, "source_sha256", lambda: "0" * 64),
    ):
        yield


def main(arguments: list[str]) -> int:
    """Runs one command in this process."""
    with small_track():
        return cli.main(arguments)


def build(out: Path) -> None:
    """Builds the release of ``SPLIT_FILE`` in this process; its split file lies beside it."""
    file = out.parent / "tiny.toml"
    file.write_text(SPLIT_FILE, encoding="utf-8")
    with patch.dict(os.environ, TINY_SECRET=SECRET):
        assert main(["build", str(file), "--out", str(out), "--workers", "1", "--quiet"]) == 0


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder`` by relative path."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


if __name__ == "__mp_main__":  # a worker process finds its track by name
    TRACKS["causalds"] = fake_track.TRACK
    patch.object(build_module, "check_part", lambda *_: None).start()

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
