"""``build_dataset.py import-causalds``."""

import argparse
import shlex
from pathlib import Path
from typing import Final

from builder.cli.command import OK, Command, add_written_release


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="a folder with exam.json, or one of such folders"
    )
    add_written_release(parser)


def _import(options: argparse.Namespace) -> int:
    from builder.importing.causalds.exams import import_causalds

    summaries = import_causalds(options.folder, options.out)
    for summary in summaries:
        for line in summary.lines():
            print(line)
    out = shlex.quote(str(options.out))
    several = f" --split {summaries[0].split}" if len(summaries) > 1 else ""
    print(f"{options.out}: written\nnext: python -m grader answers/ --release {out}{several}")
    return OK


IMPORT: Final = Command(
    "import-causalds",
    "turn a checkout of the public causalds reference into a release that can be graded",
    (
        "import-causalds causalds/data/benchmark/main --out reference",
        "import-causalds causalds/data --out reference   (with both ablations)",
    ),
    _add_import,
    _import,
)
