"""``build_dataset.py check`` and ``diff``: releases that are built."""

import argparse
from pathlib import Path
from typing import Final

from builder.commands.command import (
    FAILED,
    OK,
    Command,
    add_domains,
    add_release,
    add_workers,
    need_release,
)


def _add_check(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
    add_domains(parser)
    add_workers(parser)
    parser.add_argument("--quiet", action="store_true", help="show the report only")


def _check(options: argparse.Namespace) -> int:
    from builder.build import check_release
    from builder.release.manifest import read_manifest, refuse_imported
    from builder.release.progress import Reporter

    need_release(options.release)
    refuse_imported(read_manifest(options.release / "public"), options.release)
    report = check_release(options.release, Reporter(options.quiet).note, options.workers)
    print(report.markdown, end="")
    return OK if report.ok else FAILED


def _add_diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="A", help="a release folder")
    parser.add_argument("second", type=Path, metavar="B", help="another release folder")


def _diff(options: argparse.Namespace) -> int:
    from builder.release.diff import diff_releases

    report = diff_releases(options.first, options.second)
    for line in report.lines:
        print(line)
    return OK if report.identical else FAILED


CHECK: Final = Command(
    "check", "run the gate over a finished release", ("check release",), _add_check, _check
)
DIFF: Final = Command(
    "diff",
    "what changed between two releases, per column",
    ("diff release-a release-b",),
    _add_diff,
    _diff,
)
