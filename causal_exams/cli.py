"""``causal-exams``: the commands of the grader and of the harness in one program."""

from collections.abc import Sequence
from typing import Final

from grader import cli
from grader.cli import GRADER, Program
from harness.commands import COMMANDS

PROGRAM: Final = Program(
    "causal-exams",
    {**GRADER.commands, "harness.commands": COMMANDS},
    GRADER.default,
    GRADER.examples,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return cli.main(arguments, PROGRAM)


def entry_point() -> None:
    """What the installed ``causal-exams`` script calls."""
    cli.entry_point(PROGRAM)
