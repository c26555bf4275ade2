"""``build_dataset.py inspect``: how a release was generated, or one scene of it."""

import argparse
from pathlib import Path
from typing import Final

from builder.commands.command import OK, Command, add_release, need_release
from grader.errors import UsageError


def _add(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
    parser.add_argument("scene", nargs="?", metavar="SCENE", help="its id, or split/index")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the scene's page (default: <scene id>.html)"
    )


def _inspect(options: argparse.Namespace) -> int:
    from builder.commands.report import generation_report
    from builder.tracks import TRACKS

    need_release(options.release)
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
    _add,
    _inspect,
)
