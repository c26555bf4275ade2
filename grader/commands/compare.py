"""Two submissions to one exam, paired task by task: which is better, and can the exam tell?

Differences are first minus second. Intervals resample instances; "detects from" is the difference
that the exam would show with 80% power. Tasks that one left out count zero for it, and the tasks
that both answered are compared beside that.

examples:
  python -m grader compare answers/informed answers/naive
  python -m grader compare old.parquet new.parquet --release release --json compared.json
  python -m grader compare answers/a answers/b --full --html compared.html
"""

import argparse
from pathlib import Path

from grader.commands import common
from grader.errors import UsageError
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``compare``."""
    for name in ("first", "second"):
        parser.add_argument(name, type=Path, help="folder of answers, or a packed .parquet")
    common.add(parser, *common.EXAM, "--transcript-key", "--reading")
    common.add_limits(parser)
    parser.add_argument("--full", action="store_true", help="print every table of each track")
    common.add_documents(
        parser, "the comparison as data", "full figures of a private split, for your eyes only"
    )


def run(arguments: argparse.Namespace) -> int:
    """Grade both, compare, print and write."""
    from grader.answers.collect import read_submission
    from grader.pages.comparison import comparison_page, comparison_view
    from grader.pages.systems import in_reading, partial_text
    from grader.pages.terminal import console
    from grader.pipeline import grade
    from grader.reports.comparison import compare

    common.check_outputs(arguments)
    split = common.open_split(arguments)
    sources, limits = (arguments.first, arguments.second), common.limits_of(arguments)
    read_both = [read_submission(source, split.tasks, limits) for source in sources]
    exam = split.choose_exam_for(frozenset().union(*(one.answers for one in read_both)))
    graded = [grade(exam, one, slice_intervals=False) for one in read_both]
    for one in graded:
        if not one.submission.answers and not one.submission.run:
            raise UsageError(f"{one.submission.source}: {one.report['notices'][0]}")
    tracks = split.release.tracks
    result = compare(graded[0], graded[1], tracks)
    shown = in_reading(result, arguments.reading)
    common.write_documents(arguments, lambda: result, lambda: comparison_page(shown, tracks))
    console().print(comparison_view(shown, tracks, arguments.full))
    for one in graded:
        if partial := partial_text(one.report):
            told = f"{partial}{one.report['submission']['system']}: what was not asked counts zero"
            print_lines(f"{told}; --full compares what both answered")
    return 0
