"""Print a new secret of 256 random bits.

examples:
  python build_dataset.py new-secret > ~/.causal-exams-secret && chmod 600 ~/.causal-exams-secret
  python build_dataset.py new-secret    # then: export CAUSAL_EXAMS_SECRET=...
"""

import argparse
import secrets
from typing import Final

from builder.commands.common import OK
from grader.io.printing import print_lines

SECRET_BYTES: Final = 32


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``new-secret``: there are none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the secret as hexadecimal digits."""
    print_lines(secrets.token_hex(SECRET_BYTES))
    return OK
