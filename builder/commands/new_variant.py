"""Begin a question on scenes: the pieces of every file that it needs, each with its place.

examples:
  python build_dataset.py new-variant effect_estimate.ate_rank --shape ate
"""

import argparse
from pathlib import Path

from builder.commands.common import OK
from builder.tracks import TRACKS
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``new-variant``."""
    parser.add_argument("key", metavar="FAMILY.NAME", help="its key, in an existing family")
    parser.add_argument("--shape", required=True, metavar="SHAPE", help="the shape of its answers")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("new-variant"),
        metavar="DIR",
        help="an empty folder for the pieces (default: new-variant)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write each piece to a file in ``--out`` and print the place in the code where it belongs."""
    write = next(track.new_variant for track in TRACKS.values() if track.new_variant is not None)
    for file, place in write(arguments.key, arguments.shape, arguments.out):
        print_lines(f"{file}  →  {place}")
    print_lines(
        "fill each in at its place (docs/adding-a-variant.md); the tests name what is absent"
    )
    return OK
