"""``deprecate``: tasks of a release that count no more."""

import argparse
from typing import Final

from builder.cli.command import OK, Command, add_release, need_release


def _add(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="ids of tasks")
    parser.add_argument("--split", metavar="NAME", help="split (default: the only one there is)")
    parser.add_argument("--why", required=True, metavar="TEXT", help="the entry in ERRATA.md")
    parser.add_argument("--version", required=True, help="of the release from now on")


def _deprecate(options: argparse.Namespace) -> int:
    from builder.hub.errata import ERRATA, deprecate

    need_release(options.release)
    count = deprecate(options.release, options.split, options.tasks, options.why, options.version)
    told = "task is" if count == 1 else "tasks are"
    print(f"{options.release} {options.version}: {count} {told} deprecated; see {ERRATA}")
    return OK


DEPRECATE: Final = Command(
    "deprecate",
    "list tasks that turned out wrong: they count no more, their rows stay",
    ('deprecate release cds-7f3a91c2d04be516 --why "two readings" --version 0.1.1',),
    _add,
    _deprecate,
)
