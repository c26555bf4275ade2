"""Builds without a gate: for tests of what is built, and of the gate itself."""

from pathlib import Path
from unittest.mock import patch

from builder import build
from builder.gate.report import GateReport
from builder.release.progress import Reporter
from builder.splits.config import load_config
from builder.splits.roots import read_roots
from builder.tracks import TRACKS


def build_ungated(file: Path, out: Path) -> Path:
    """Build the release of a split file into ``out``, in this process."""
    config = load_config(file, TRACKS)
    with (
        patch.object(build, "run_gate", lambda *_, **__: GateReport(())),
        patch.object(build, "check_part", lambda *_: None),
    ):
        roots, reporter = read_roots(config), Reporter(quiet=True)
        build.build_release(config, out, roots, workers=1, reporter=reporter)
    return out
