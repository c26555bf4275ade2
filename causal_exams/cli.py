"""``causal-exams``: the commands of the grader and those of sitting an exam in one program."""

from collections.abc import Sequence
from typing import Final

from causal_exams.commands import COMMANDS
from grader.commands import main as cli
from grader.commands.main import GRADER, Program

PROGRAM: Final = Program(
    "causal-exams",
    {**GRADER.commands, "causal_exams.commands": COMMANDS},
    GRADER.default,
    GRADER.examples,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return cli.main(arguments, PROGRAM)


def entry_point() -> None:
    """Run the command of the process and end it: the installed script ``causal-exams``."""
    cli.entry_point(PROGRAM)
