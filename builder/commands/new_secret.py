"""Print a new secret of 256 random bits.

examples:
  export CAUSAL_EXAMS_SECRET=$(python build_dataset.py new-secret)
"""

import argparse
import secrets

from builder.commands.common import OK
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``new-secret``: there are none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the secret as hexadecimal digits."""
    print_lines(secrets.token_hex(32))
    return OK
