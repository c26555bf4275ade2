"""Take an exam with a chat model."""

import argparse

from harness import run_loop

__doc__ = run_loop.__doc__


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``run``."""
    run_loop.configure(parser)


def run(arguments: argparse.Namespace) -> int:
    """Take the exam."""
    return run_loop.run(run_loop.settings(arguments))
