"""Check a release: manifests, hashes, rows, exams, and the private side against its commitments.

examples:
  python -m grader verify release/
  python -m grader verify public-copy/ --private /safe/release
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``verify``."""
    parser.add_argument("release", type=Path, nargs="?", help="release folder")
    parser.add_argument("--private", type=Path, metavar="DIR", help="private side, if elsewhere")


def run(arguments: argparse.Namespace) -> int:
    """Print one line per check; exit with 1 if any fails."""
    from rich.text import Text

    from grader.opening import open_release
    from grader.pages.terminal import console
    from grader.verify import verify

    checks = verify(open_release(arguments.release, arguments.private))
    out = console()
    for check in checks:
        mark, style = ("ok  ", "green") if check.ok else ("FAIL", "bold red")
        line = Text(f"{mark} {check.name}: {check.detail}")
        line.stylize(style, 0, 4)
        out.print(line)
    failed = sum(not check.ok for check in checks)
    out.print(f"{len(checks) - failed} of {len(checks)} checks hold")
    return int(failed > 0)
