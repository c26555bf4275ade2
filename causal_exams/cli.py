"""``causal-exams``: the commands of the grader and those of sitting an exam in one program."""

from collections.abc import Sequence
from typing import Final

from grader.commands import main as cli
from grader.commands.main import GRADER, Program

COMMANDS: Final = {
    "run": "sit an exam with a model: sandbox, answers, report",
    "lab": "experiment in an episode of a laboratory",
    "export": "an exam as task folders of Harbor",
    "answers-from": "answers out of a record of Inspect, Harbor or mini-swe-agent",
}

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
