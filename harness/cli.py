"""The command line of the harness alone: ``python -m harness …``."""

from collections.abc import Sequence
from typing import Final

from grader import cli
from grader.cli import Program
from harness.commands import COMMANDS

HARNESS: Final = Program("python -m harness", {"harness.commands": COMMANDS})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return cli.main(arguments, HARNESS)
