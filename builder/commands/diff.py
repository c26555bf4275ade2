"""Show what changed between two releases, per column.

examples:
  python build_dataset.py diff release-a release-b
"""

import argparse
from pathlib import Path

from builder.commands.common import FAILED, OK
from builder.release.diff import diff_releases
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``diff``."""
    parser.add_argument("first", type=Path, metavar="A", help="a release folder")
    parser.add_argument("second", type=Path, metavar="B", help="another release folder")


def run(arguments: argparse.Namespace) -> int:
    """Compare the releases; the exit code is 1 where they differ."""
    lines = diff_releases(arguments.first, arguments.second)
    print_lines(*(lines or ["identical: every file is the same"]))
    return FAILED if lines else OK
