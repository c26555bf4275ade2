"""``build_dataset.py import-causalds``: the public exam of the paper as a release of ours."""

import argparse
import shlex
from pathlib import Path
from typing import Final

from builder.commands.command import OK, Command, add_written_release


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder with exam.json")
    add_written_release(parser)


def _import(options: argparse.Namespace) -> int:
    from builder.importing.exam import import_causalds

    exam = import_causalds(options.folder, options.out)
    numbers = sum(row["value"] is not None for row in exam.truths)
    print(
        f"split {exam.split}, exam {exam.name}: {len(exam.tasks)} tasks, {numbers} numeric truths "
        "as published: they cannot be recomputed from what is there\n"
        f"{options.out}: written\n"
        f"next: python -m grader answers/ --release {shlex.quote(str(options.out))}"
    )
    return OK


IMPORT: Final = Command(
    "import-causalds",
    "turn a checkout of the public causalds exam into a release that can be graded",
    ("import-causalds causalds/data/benchmark/main --out reference",),
    _add_import,
    _import,
)
