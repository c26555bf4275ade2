"""``build_dataset.py exam``: another exam from a release that is built."""

import argparse
from pathlib import Path
from typing import Final

from builder.cli.command import OK, Command


def _add_exam(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from", dest="release", type=Path, required=True, metavar="RELEASE", help="its folder"
    )
    parser.add_argument("--exam", type=Path, required=True, metavar="TOML", help="the exam file")
    parser.add_argument("--split", metavar="NAME", help="default: the only one with public truth")
    parser.add_argument("--name", metavar="NAME", help="default: the exam file's name")
    parser.add_argument("--seed", metavar="TEXT", help="default: the split's own seed")


def _exam(options: argparse.Namespace) -> int:
    from builder.release.extra_exam import draw_extra_exam
    from builder.release.show.plan import describe_exam

    added = draw_extra_exam(
        options.release,
        options.exam,
        split=options.split,
        name=options.name,
        seed=options.seed,
    )
    describe_exam(added, options.release)
    return OK


EXAM: Final = Command(
    "exam",
    "draw another exam from a release that is built",
    (
        "exam --from release --exam splits/exams/realistic.toml",
        "exam --from release --exam my-exam.toml --name hard-2 --seed again",
    ),
    _add_exam,
    _exam,
)
