"""Score a folder of answers (or a packed submission) against a release.

It prints one screen; --full adds every table, --track NAME those of one track.

examples:
  python -m grader answers/
  python -m grader answers/ --full
  python -m grader answers/ --full --reading paper
  python -m grader answers/ --release release --split dev --exam all
  python -m grader answers/ --json report.json --csv scores.csv --html report.html
  python -m grader answers/ --release release --private /safe/release --split test
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grader.commands import common
from grader.io.printing import print_lines
from grader.pages.report import costliest, first_screen, report_view
from grader.pages.systems import in_reading
from grader.pages.terminal import console
from grader.pages.words import points
from grader.pipeline import grade, with_gap
from grader.reports.build import GradedSubmission
from grader.reports.table import write_scores
from grader.tracks import TRACKS


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``grade``."""
    common.add(parser, "answers", *common.EXAM, "--transcript-key", "--ledger", "--reading")
    common.add_limits(parser)
    outputs = parser.add_argument_group("outputs")
    common.add_documents(
        outputs,
        "the report",
        "show the truth beside each task (--csv, --parquet, --html); on a private split, the full "
        "report",
    )
    outputs.add_argument("--csv", type=Path, metavar="FILE", help="one row per task")
    outputs.add_argument("--parquet", type=Path, metavar="FILE", help="one row per task")
    shown = outputs.add_mutually_exclusive_group()
    shown.add_argument("--full", action="store_true", help="print every table")
    shown.add_argument("--quiet", action="store_true", help="print one line only")
    common.add(parser, "--strict")


def run(arguments: argparse.Namespace) -> int:
    """Grade, write what was asked for, print, and say by the exit code how it went."""
    common.check_outputs(arguments, arguments.answers)
    exam, submission = common.read_answers(arguments)
    if arguments.csv or arguments.parquet:
        exam.split.refuse_private_details("--csv and --parquet have one row per task")
    document = bool(arguments.json or arguments.html)
    tables = document or arguments.full or bool(arguments.track)
    graded = grade(exam, submission, slice_intervals=document, tables=tables)
    if submission.unknown:
        graded = with_gap(graded)
    if exam.keeps_ledger:
        from grader.reports.ledger import show_all, with_held_back

        (report,) = show_all(arguments.ledger, exam, [(submission.source, with_held_back(graded))])
        graded = replace(graded, report=report)
    report = graded.report
    shown = in_reading(report, arguments.reading)
    truths = exam.truths if arguments.reveal else {}
    for kind in ("csv", "parquet"):
        if (path := getattr(arguments, kind)) is not None:
            write_scores(path, kind, graded.scores, truths)

    def page() -> str:
        from grader.pages.report_page import report_page

        return report_page(shown, TRACKS, graded.scores if exam.split.reveal else (), truths)

    common.write_documents(arguments, lambda: report, page)
    census = report["census"]
    if arguments.quiet:
        print_lines(
            f"skill {points(report['skill'])} points {points(report['points'])} "
            f"scored {census['scored']} missing {census['missing']} invalid {census['invalid']}"
        )
        if not census["scored"] and report["notices"]:
            print_lines(f"note: {report['notices'][0]}", to_stderr=True)
    else:
        out = console()
        out.print(first_screen(shown, TRACKS, list(_next_steps(arguments, graded))))
        if arguments.full or arguments.track:
            out.print(report_view(shown, TRACKS))
    return int(arguments.strict and census["invalid"] > 0)


def _next_steps(arguments: argparse.Namespace, graded: GradedSubmission) -> Iterator[str]:
    """Yield commands to go on with, such as to explain the costliest task."""
    if graded.exam.split.reveal:
        for score, _ in costliest(graded.scores, 1):
            where = str(arguments.answers)
            where = where if len(where) <= 30 else "ANSWERS"  # on a line of 80 characters
            yield f"explain {score.task_id} --answers {where}"
        if graded.report["census"]["invalid"] and not arguments.csv:
            yield "--csv scores.csv lists the invalid answers"
    if not arguments.html:
        yield "--html report.html writes a page to look at"
    if not arguments.full and not arguments.track:
        yield "--full prints every table, --track NAME those of one track"
