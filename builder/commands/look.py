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
)
from grader.errors import UsageError


def _add_check(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
    add_domains(parser)
    add_workers(parser)
    parser.add_argument("--quiet", action="store_true", help="show the report only")


def _check(options: argparse.Namespace) -> int:
    from builder.build import check_release
    from builder.release.manifest import read_manifest, refuse_imported
    from builder.release.progress import Reporter
    from builder.release.reader import public_side

    public_side(options.release)
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


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
    parser.add_argument("scene", nargs="?", metavar="SCENE", help="its id, or split/index")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the scene's page (default: <scene id>.html)"
    )


def _inspect(options: argparse.Namespace) -> int:
    from builder.commands.report import generation_report
    from builder.release.reader import public_side
    from builder.tracks import TRACKS

    public_side(options.release)
    if options.scene is None:
        print("\n\n".join(generation_report(options.release, TRACKS)))
        return OK
    draw = next(track.scene_page for track in TRACKS.values() if track.scene_page is not None)
    page, summary = draw(options.release, options.scene)
    file = options.out or Path(f"{summary.splitlines()[0]}.html")
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {file}: cannot be written ({error.strerror or error})") from None
    print(f"{summary}\npage: {file}")
    return OK


INSPECT: Final = Command(
    "inspect",
    "how a release was generated; of a scene graph, equations, truths, tables, measurements",
    (
        "inspect release",
        "inspect release dev/0",
        "inspect release scene-0123456789abcdef --out scene.html",
    ),
    _add_inspect,
    _inspect,
)
