"""Run reference solvers on an exam and write their answers folders.

examples:
  python -m baselines --list
  python -m baselines informed --release release --out answers/informed
  python -m baselines demo --release release --out answers
  python -m baselines random --release release --split dev --exam all --out answers/random
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from rich.progress import track as shown_progress

from baselines.systems import GROUPS, NAMES, SYSTEMS, answer_exam, named_systems
from builder.release.engine import Workers
from grader.commands.common import RELEASE, positive
from grader.commands.common import add as add_options
from grader.commands.main import with_errors_told
from grader.errors import UsageError
from grader.io.printing import print_lines
from grader.io.process import exit_with, processors
from grader.pages.terminal import console


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 done, 2 unusable input, 3 our fault."""
    arguments = _parser().parse_args(argv)
    if arguments.list:
        for system in SYSTEMS:
            print_lines(f"{system.name:18}{system.note}")
        return 0
    interrupted = "interrupted; answers written so far are complete files"
    return with_errors_told(partial(run, arguments), interrupted)


def run(arguments: argparse.Namespace) -> int:
    """Answer the exam with each system and print a line about each; raises ``UsageError``."""
    systems = named_systems(arguments.systems)
    if arguments.private is not None and not all(system.sees_truth for system in systems):
        blind = next(system.name for system in systems if not system.sees_truth)
        hosts = [other.name for other in SYSTEMS if other.sees_truth and other.name != "gold"]
        raise UsageError(
            f"--private: {blind} may not see the truth; only gold and the hosts of "
            f"{', '.join(hosts)} take this option"
        )
    names = [system.name for system in systems]
    arguments.folders = {name: (arguments.out or Path("answers")) / name for name in names}
    if len(names) == 1 and arguments.out is not None:
        arguments.folders[names[0]] = arguments.out
    bar = console(stderr=True)
    # A bar takes over what is printed.
    hidden = not (sys.stdout.isatty() and bar.is_terminal)
    with Workers(min(arguments.workers, len(names))) as workers:
        lines = workers.map(partial(answer_exam, arguments), names)
        for line in shown_progress(lines, "systems", len(names), console=bar, disable=hidden):
            print_lines(line)
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, whose help is this module's docstring."""
    parser = argparse.ArgumentParser(
        "python -m baselines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    several = f"{', '.join(NAMES)}; or several: {', '.join(GROUPS)}"
    add("systems", nargs="*", metavar="NAME", help=several)
    add("--list", action="store_true", help="name the baselines and exit")
    add_options(parser, *RELEASE, "--exam")
    out = "default: answers/NAME; of several systems the folder that holds theirs"
    add("--out", type=Path, metavar="DIR", help=out)
    workers = "systems that answer at once (default: one per core)"
    add("--workers", type=positive, default=processors(), metavar="N", help=workers)
    return parser


if __name__ == "__main__":
    exit_with(main)
