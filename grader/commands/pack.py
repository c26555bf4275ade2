"""Pack a folder of answers into one Parquet file to submit.

examples:
  python -m grader pack answers/ --name "My system 1.0" --out submission.parquet
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from grader.answers.parquet_answers import pack, system_name
from grader.commands.common import PUBLIC_EXAM, add, add_limits, read_answers
from grader.errors import UsageError
from grader.io.printing import plural, print_lines
from grader.pipeline import check_submission
from grader.release.exam import Exam
from grader.scoring.model import CheckedAnswer


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``pack``."""
    parser.add_argument("answers", type=Path, help="folder of answers")
    parser.add_argument("--name", required=True, help="the system's name on the leaderboard")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a .parquet file")
    add(parser, *PUBLIC_EXAM)
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the submission and say what is in it."""
    if arguments.out.suffix != ".parquet":
        raise UsageError(f"--out {arguments.out}: the name must end in .parquet")
    name = system_name(arguments.name)
    exam, found = read_answers(arguments)
    checked, _ = check_submission(exam, found)
    pack(arguments.out, exam, found, name)
    print_packed(str(arguments.out), exam, checked)
    return 0


def print_packed(what: str, exam: Exam, checked: Mapping[str, CheckedAnswer]) -> None:
    """Print how many answers ``what`` holds to the exam, and which are invalid."""
    counts = Counter(answer.status for answer in checked.values())
    answers = plural(len(checked) - counts["missing"], "answer")
    print_lines(
        f"{what}: {answers} to {exam.split.name}/{exam.name} "
        f"({counts['scored']} valid, {counts['invalid']} invalid, {counts['missing']} missing)"
    )
    for task_id, answer in checked.items():
        if answer.status == "invalid":
            print_lines(f"  {task_id}  {answer.reason}  {ascii(answer.message)[1:-1]}")
