"""``python -m harness COMMAND``: hand an exam to a test taker."""

import argparse
import sys
from collections.abc import Sequence

from grader.errors import UsageError
from grader.io.pipe import exit_with, interrupted


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 2 unusable input, 130 interrupted)."""
    from harness import lab, run_loop

    parser = argparse.ArgumentParser("python -m harness", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="take an exam with a chat model",
        description=run_loop.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run_loop.configure(run)
    laboratory = commands.add_parser(
        "lab",
        help="experiment in a causalab episode",
        description=lab.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lab.configure(laboratory)
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "lab":
            return lab.run(arguments)
        return run_loop.run(run_loop.settings(arguments))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, RuntimeError) as error:
        if not interrupted(error):
            raise
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    exit_with(main)
