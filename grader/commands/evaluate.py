"""Grade what was handed in to a dataset of submissions, record it, and answer. Run it by cron.

New submissions only, each in a process of its own with limits on memory and time. A row with
hashes and the report (redacted where truth is private) goes to the dataset of results, a line
to its log, the file into the dataset of submissions, a comment to the submitter; then the pull
request is closed. A run can be killed at any time: the next one goes on. Only submissions to
--release are looked at. After an erratum --again grades stored submissions, which an older version
of the same release graded, by --release: a row keeps what it said before, the log gets a line, and
what changed is printed.

examples:
  causal-exams evaluate --from org/submissions --results org/results --release hf://org/exams@v1
  causal-exams evaluate --from org/submissions --results org/results --private /safe/private
  causal-exams evaluate --from org/submissions --results org/results --release hf://org/exams@v2 \\
      --again
"""

import argparse
import datetime
from pathlib import Path

from grader.board.workers import WorkLimits
from grader.commands.common import add, add_effort, add_limits, limits_of, read_key
from grader.errors import UsageError
from grader.hub.client import Address, connect, explain_hub_errors
from grader.hub.evaluate import EvaluationSetup, evaluate, rescore
from grader.hub.results import FAILED, GRADED, ResultsDataset
from grader.io.files import lock_folder
from grader.io.printing import print_lines
from grader.opening import address_of, open_release


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
        "--again",
        action="store_true",
        help="grade stored submissions again, by a new --release",
    )
    add_effort(parser)
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate what is new, or what an older version graded, and say what became of it."""
    release = open_release(arguments.release, arguments.private)
    release.refuse_unchecked("ranks nobody")
    hidden = [name for name in release.splits if not release.has_public_truth(name)]
    if hidden and release.private is None:
        raise UsageError(f"--private: the truth of {', '.join(hidden)} is private; name its folder")
    key = arguments.transcript_key
    setup = EvaluationSetup(
        release=release,
        address=str(address_of(arguments.release) or ""),
        inbox=Address.parse(arguments.inbox).repo,
        work=arguments.work,
        ledger=arguments.ledger,
        key=None if key is None else read_key(key),
        today=datetime.datetime.now(datetime.UTC).date().isoformat(),
        workers=arguments.workers,
        limits=WorkLimits(arguments.memory << 20, arguments.wall),
        budget=limits_of(arguments),
    )
    kept = Address.parse(arguments.results).repo
    with lock_folder(arguments.work, "--work", 0o700):
        api = connect()
        with explain_hub_errors(setup.inbox):  # before the dataset of results is made
            api.repo_info(setup.inbox, repo_type="dataset")
        results = ResultsDataset(api, kept, make=not arguments.again)
        if arguments.again:
            print_lines(f"{rescore(api, results, setup, print_lines)} rescored")
            return 0
        counts = evaluate(api, results, setup, print_lines)
    print_lines(
        f"{counts[GRADED]} graded, {counts[FAILED]} not, {counts['known']} known before, "
        f"{counts['late']} wait for another day, {counts['elsewhere']} to another release"
    )
    return 0
