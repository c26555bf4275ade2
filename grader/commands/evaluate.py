"""Grade what was handed in to a dataset of submissions, record it, and answer. Run it by cron.

New submissions only, each in a process of its own with limits on memory and time. A row with
hashes and the report (redacted where truth is private) goes to the dataset of results, a line
to its log, the file into the dataset of submissions, a comment to the submitter; then the pull
request is closed. A run can be killed at any time: the next one goes on. What fails for want of
time or memory is tried again, by three runs at most. Only submissions to --release are looked
at. After an erratum --again grades stored submissions, which an older version of the same release
graded, by --release: a row keeps what it said before, the log gets a line, and what changed is
printed (--table FILE writes it as Markdown).

examples:
  causal-exams evaluate --from org/submissions --results org/results --release hf://org/exams@v1
  causal-exams evaluate --from org/submissions --results org/results --private /safe/private
  causal-exams evaluate --from org/submissions --results org/results --release hf://org/exams@v2 \\
      --again
"""

import argparse
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from grader.board.workers import WorkLimits
from grader.commands.common import add, add_effort, add_limits, limits_of, positive, read_key
from grader.errors import UsageError
from grader.hub.client import Address, connect, explain_hub_errors
from grader.hub.evaluate import EvaluationSetup, evaluate, rescore
from grader.hub.results import FAILED, GRADED, WAITING, ResultsDataset
from grader.io.files import refuse_links, write_text
from grader.io.printing import print_lines
from grader.opening import address_of, open_release
from grader.pages.report import SPECIFICATION
from grader.pages.table import Table
from grader.pages.terminal import console, in_terminal
from grader.pages.words import markdown_text

PER_DAY: Final = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``evaluate``."""
    parser.add_argument(
        "--from", dest="inbox", required=True, metavar="ORG/NAME", help="dataset of submissions"
    )
    parser.add_argument(
        "--results", required=True, metavar="ORG/NAME", help="dataset of results (made if absent)"
    )
    add(parser, "--release", "--private", "--ledger", "--transcript-key")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path("evaluate"),
        metavar="DIR",
        help="where submissions are kept while they are graded (default: evaluate)",
    )
    parser.add_argument(
        "--per-day",
        type=positive,
        default=PER_DAY,
        metavar="N",
        help=f"submissions graded per team and day (default {PER_DAY}); others wait",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="grade stored submissions again, by a new --release",
    )
    parser.add_argument(
        "--table", type=Path, metavar="FILE", help="with --again: what changed, as Markdown"
    )
    add_effort(parser)
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate what is new, and say what became of it."""
    inbox, kept, setup = read_arguments(arguments)
    if arguments.again:
        return _grade_again(inbox, kept, setup, arguments)
    if arguments.table is not None:
        raise UsageError("--table: needs --again")
    with lock_folder(arguments.work):
        api = connect()
        with explain_hub_errors(inbox):  # before the dataset of results is made
            api.repo_info(inbox, repo_type="dataset")
        counts = evaluate(api, inbox, ResultsDataset(api, kept, make=True), setup, print_lines)
    print_lines(
        f"{counts[GRADED]} graded, {counts[FAILED]} not, {counts['known']} known before, "
        f"{counts['late']} wait for another day, {counts['elsewhere']} to another release, "
        f"{counts[WAITING]} to be tried again"
    )
    return 0


def _grade_again(
    inbox: str, kept: str, setup: EvaluationSetup, arguments: argparse.Namespace
) -> int:
    """Grade stored submissions of the dataset ``inbox`` by another version of the release, put
    their new rows into the dataset ``kept``, and say what changed."""
    with lock_folder(arguments.work):
        api = connect()
        changes = rescore(api, inbox, ResultsDataset(api, kept), setup, print_lines)
    table = SPECIFICATION.of_rows("rescored", changes, release=setup.release.name)
    console().print(in_terminal(table))
    if arguments.table is not None:
        write_text(arguments.table, _markdown(table))
    return 0


def _markdown(table: Table) -> str:
    """Return the table for an entry of ERRATA.md, with names as they are, not as markup."""
    rows = [[markdown_text(str(cell)) for cell in row] for row in (table.head, *table.rows)]
    lines = [rows[0], ["---"] * len(table.head), *rows[1:]]
    return f"{table.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def read_arguments(arguments: argparse.Namespace) -> tuple[str, str, EvaluationSetup]:
    """Return the datasets of submissions and of results, and what to grade with."""
    from datetime import UTC, datetime

    inbox, kept = (Address.parse(text).repo for text in (arguments.inbox, arguments.results))
    release = open_release(arguments.release, arguments.private)
    release.refuse_unchecked("ranks nobody")
    hidden = [name for name in release.splits if not release.has_public_truth(name)]
    if hidden and release.private is None:
        raise UsageError(f"--private: the truth of {', '.join(hidden)} is private; name its folder")
    key = arguments.transcript_key
    setup = EvaluationSetup(
        release=release,
        address=str(address_of(arguments.release) or ""),
        inbox=inbox,
        work=arguments.work,
        ledger=arguments.ledger,
        key=None if key is None else read_key(key),
        today=datetime.now(UTC).date().isoformat(),
        per_day=arguments.per_day,
        workers=arguments.workers,
        limits=WorkLimits(arguments.memory << 20, arguments.wall),
        budget=limits_of(arguments),
    )
    return inbox, kept, setup


@contextmanager
def lock_folder(work: Path) -> Iterator[None]:
    """Hold the lock of a folder; raises ``UsageError`` where another run is at work there or a
    symbolic link is in it."""
    work.mkdir(parents=True, exist_ok=True, mode=0o700)
    refuse_links(work)
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"--work {work}: another run is at work; wait") from None
        yield
