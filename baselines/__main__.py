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

from baselines.systems import (
    NAMES,
    NOISE_NAME,
    NOISE_NOTE,
    SHOWN,
    SYSTEMS,
    answer_exam,
    answer_in_its_folder,
    named_systems,
)
from builder.release.engine import Workers
from grader.errors import UsageError
from grader.io.pipe import exit_with, interrupted
from grader.io.processors import processors


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 2 unusable input)."""
    arguments = _parser().parse_args(argv)
    if arguments.names:
        print(*SHOWN[arguments.names])
        return 0
    if arguments.list:
        notes = {system.name: system.note for system in SYSTEMS} | {NOISE_NAME: NOISE_NOTE}
        for name, note in notes.items():
            print(f"{name:18}{note}")
        return 0
    try:
        run(arguments)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, RuntimeError) as error:
        if not interrupted(error):
            raise
        print("interrupted; answers written so far are complete files", file=sys.stderr)
        return 130
    return 0


def run(arguments: argparse.Namespace) -> None:
    """Answer the exam with one system or with each of several, at once as far as there are
    processors; a line about each as it is done. Raises ``UsageError``."""
    systems = named_systems(arguments.systems)
    if arguments.private is not None and not all(system.sees_truth for system in systems):
        blind = next(system.name for system in systems if not system.sees_truth)
        hosts = [other.name for other in SYSTEMS if other.sees_truth and other.name != "gold"]
        raise UsageError(
            f"--private: {blind} may not see the truth; only gold and the hosts of "
            f"{', '.join(hosts)} take this option"
        )
    out, names = arguments.out or Path("answers"), [system.name for system in systems]
    if len(names) == 1:
        folder = arguments.out or out / names[0]
        print(answer_exam(arguments, folder, names[0], shown=True))
        return
    with Workers(arguments.workers) as workers:
        for line in workers.map(partial(answer_in_its_folder, arguments, out), names):
            print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m baselines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "systems",
        nargs="*",
        metavar="NAME",
        help=f"{', '.join(NAMES)}; or several: {', '.join(SHOWN)}",
    )
    parser.add_argument(
        "--names",
        nargs="?",
        const="all",
        choices=SHOWN,
        help="print their names and exit: all, or a few for a demonstration",
    )
    parser.add_argument("--list", action="store_true", help="name the baselines and exit")
    parser.add_argument(
        "--release",
        type=Path,
        metavar="DIR",
        help="release folder (default: $CAUSAL_EXAMS_RELEASE, then ./release)",
    )
    parser.add_argument("--split", metavar="NAME", help="split (default: the only one there is)")
    parser.add_argument("--exam", metavar="NAME", help="exam, or 'all' (default: the only one)")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="default: answers/NAME; of several systems the folder that holds theirs",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=processors(),
        metavar="N",
        help="so many of several systems answer at once (default: all cores)",
    )
    parser.add_argument(
        "--private", type=Path, metavar="DIR", help="private side, for gold and laboratories"
    )
    return parser


if __name__ == "__main__":
    exit_with(main)
