"""Run a reference solver on an exam and write its answers folder.

examples:
  python -m baselines --list
  python -m baselines informed --release release --out answers/informed
  python -m baselines random --release release --split dev --exam all --out answers/random
"""

import argparse
import difflib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grader.errors import UsageError
from grader.model import Task

NOTES: Final = {
    "gold": "the published truth itself; needs --private where the truth is private",
    "empty": "no answers, only run.json",
    "constant": "one fixed answer per answer shape",
    "random": "a legal answer drawn at random, seeded by the task id; names from the story",
    "naive": "regresses on everything and reports; never abstains",
    "informed": "reads the graph from the story, picks the identifying estimator, abstains; "
    "takes what measurements predict for the variable itself",
    "double-sampling": "causalds only: informed, with estimates corrected by the calibration rows",
    "ccr-perfect": "ccr only: reads every prompt by rules; valid and consistent",
    "ccr-noise-0.5": "ccr only: flips 0.5% of the right answers",
    "ccr-noise-1": "ccr only: flips 1% of the right answers",
    "ccr-noise-5": "ccr only: flips 5% of the right answers",
    "ccr-noise-20": "ccr only: flips 20% of the right answers",
    "ccr-ignores": "ccr only: ignores interventions; invalid but consistent",
    "ccr-truncates": "ccr only: follows causes for two steps",
    "ccr-biased": "ccr only: a shifted model; invalid but consistent",
    "ccr-global-wrong": "ccr only: local pairs right, the global one wrong",
    "solver": "causalab only: experiments until one model explains every reading",
    "observer": "causalab only: regression on the prior records, no experiment",
    "greedy-stop": "causalab only: commits to the first model that fits",
    "symbolic": "replayscm only: exact search, smallest train-exact program",
    "structure+dsl": "replayscm only: BDeu hill climbing for parents, an exact fitter for formulas",
    "majority": "replayscm only: every mechanism its variable's most frequent value",
    "copy": "replayscm only: every mechanism the root that agrees most often, or its negation",
}

LABORATORY: Final = ("solver", "observer", "greedy-stop")
"""Baselines that do nothing but experiment; their host needs the truth."""


@dataclass(frozen=True, slots=True)
class Options:
    """The parsed command line."""

    name: str
    release: Path | None
    split: str | None
    exam: str | None
    out: Path
    private: Path | None


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 2 unusable input)."""
    arguments = _parser().parse_args(argv)
    if arguments.list:
        for name, note in NOTES.items():
            print(f"{name:18}{note}")
        return 0
    try:
        options = _options(arguments)
        print(run(options))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; answers written so far are complete files", file=sys.stderr)
        return 130
    return 0


def run(options: Options) -> str:
    """Answer the exam with one baseline; returns the one-line summary. Raises ``UsageError``."""
    from baselines import causalab_host
    from baselines.release import open_exam
    from baselines.writing import Answer, prepare, write_answer

    start = time.perf_counter()
    exam = open_exam(options.release, options.split, options.exam)
    answers: Iterator[tuple[Task, Answer]]
    if options.name == "gold":
        answers = _gold(options, list(exam.tasks))
    elif options.name in ("constant", "random", "empty"):
        from baselines import trivial

        hosted = options.name == "random" and causalab_host.can_host(exam, options.private)
        skipped = causalab_host.TRACK if hosted else None
        answers = trivial.answers(options.name, exam, skipped)
        if hosted:
            answers = chain(answers, causalab_host.sessions("random", exam, options.private))
    else:
        from baselines.analysts import analyse

        answers = iter(()) if options.name in LABORATORY else analyse(options.name, exam)
        if options.name in LABORATORY or causalab_host.can_host(exam, options.private):
            answers = chain(answers, causalab_host.sessions(options.name, exam, options.private))
    settings = {"release": exam.release.name, "split": exam.split, "exam": exam.name}
    prepare(options.out, options.name, settings, NOTES[options.name])
    written = 0
    with _progress() as progress:
        bar = progress.add_task(options.name, total=len(exam.tasks))
        for task, content in answers:
            write_answer(options.out, task.answer_file, content)
            written += 1
            progress.advance(bar)
    seconds = time.perf_counter() - start
    return (
        f"{options.out}: {written} answers to the {len(exam.tasks)} tasks of "
        f"{exam.name} ({exam.split}) by {options.name} in {seconds:.1f} s"
    )


def _gold(options: Options, tasks: list[Task]) -> Iterator[tuple[Task, str]]:
    from grader.gold import gold_answer
    from grader.io.release import Release

    release = Release.open(options.release, options.private)
    truths = release.truths(release.choose_split(options.split), tasks)
    return ((task, gold_answer(task, truths[task.task_id])) for task in tasks)


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def _options(arguments: argparse.Namespace) -> Options:
    name = arguments.name
    if name is None:
        raise UsageError(f"NAME is missing; choose one of {', '.join(NOTES)} (see --list)")
    if name not in NOTES:
        close = difflib.get_close_matches(name, NOTES, 1)
        hint = f"; did you mean {close[0]!r}?" if close else f" ({', '.join(NOTES)})"
        raise UsageError(f"{name}: no such baseline{hint}")
    if arguments.private is not None and name not in ("gold", *LABORATORY):
        raise UsageError(
            f"--private: {name} may not see the truth; only gold and the hosts of "
            f"{', '.join(LABORATORY)} take this option"
        )
    return Options(
        name,
        arguments.release,
        arguments.split,
        arguments.exam,
        arguments.out or Path("answers") / name,
        arguments.private,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m baselines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help=", ".join(NOTES))
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
    sys.exit(main())
