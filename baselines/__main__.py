"""Run a reference solver on an exam and write its answers folder.

examples:
  python -m baselines --list
  python -m baselines informed --release release --out answers/informed
  python -m baselines random --release release --split dev --exam all --out answers/random
"""

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import track

from baselines.release import open_exam
from baselines.systems import NAMES, SHOWN, SYSTEMS, answers, find_system
from baselines.writing import prepare, write_answer
from grader.errors import UsageError
from grader.io.pipe import exit_with, interrupted


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 2 unusable input)."""
    arguments = _parser().parse_args(argv)
    if arguments.names:
        print(*SHOWN[arguments.names])
        return 0
    if arguments.list:
        for system in SYSTEMS:
            print(f"{system.name:18}{system.note}")
        return 0
    try:
        print(run(arguments))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, RuntimeError) as error:
        if not interrupted(error):
            raise
        print("interrupted; answers written so far are complete files", file=sys.stderr)
        return 130
    return 0


def run(arguments: argparse.Namespace) -> str:
    """Answer the exam with one system; returns the one-line summary. Raises ``UsageError``."""
    system = find_system(arguments.name)
    if arguments.private is not None and not system.sees_truth:
        hosts = [other.name for other in SYSTEMS if other.sees_truth and other.name != "gold"]
        raise UsageError(
            f"--private: {system.name} may not see the truth; only gold and the hosts of "
            f"{', '.join(hosts)} take this option"
        )
    start = time.perf_counter()
    exam = open_exam(arguments.release, arguments.split, arguments.exam, arguments.private)
    out = arguments.out or Path("answers") / system.name
    settings = {"release": exam.release.name, "split": exam.split, "exam": exam.name}
    prepare(out, system.name, settings, system.note)
    written = 0
    console = Console(stderr=True)
    answered = track(
        answers(system, exam),
        system.name,
        len(exam.tasks),
        console=console,
        disable=not console.is_terminal,
    )
    for task, answer in answered:
        write_answer(out, task, answer)
        written += 1
    seconds = time.perf_counter() - start
    return (
        f"{out}: {written} answers to the {len(exam.tasks)} tasks of "
        f"{exam.name} ({exam.split}) by {system.name} in {seconds:.1f} s"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m baselines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument(
        "--names",
        nargs="?",
        const="all",
        choices=SHOWN,
        help="print their names and exit: all, a few for a demonstration, or those to show on a "
        "board of the papers' exams or of the frontier's",
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
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: answers/NAME")
    parser.add_argument(
        "--private", type=Path, metavar="DIR", help="private side, for gold and laboratories"
    )
    return parser


if __name__ == "__main__":
    exit_with(main)
