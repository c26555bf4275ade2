"""Turn a checkout of the public causalds exam into a release that can be graded.

examples:
  python build_dataset.py import-causalds causalds/data/benchmark/main --out reference
"""

import argparse
import shlex
from pathlib import Path

from builder.commands.common import OK
from builder.importing.exam import import_causalds
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``import-causalds``."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder with exam.json")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="RELEASE", help="the release to write"
    )


def run(arguments: argparse.Namespace) -> int:
    """Import the exam and print what was written."""
    exam = import_causalds(arguments.folder, arguments.out)
    numbers = sum(row["value"] is not None for row in exam.truths)
    print_lines(
        f"split {exam.split}, exam {exam.name}: {len(exam.tasks)} tasks, {numbers} numeric truths "
        "as published: they cannot be recomputed from what is there",
        f"{arguments.out}: written",
        f"next: python -m grader answers/ --release {shlex.quote(str(arguments.out))}",
    )
    return OK
