"""Check answers without the truth: the same parser and the same schemas as ``grade``.

examples:
  python -m grader validate answers/
  python -m grader validate answers/ --strict     exit with 1 if any answer is invalid
"""

import argparse
from collections import Counter

from grader.commands.common import PUBLIC_EXAM, add, add_limits, read_answers


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``validate``."""
    add(parser, "answers", *PUBLIC_EXAM, "--transcript-key")
    add_limits(parser)
    parser.add_argument("--strict", action="store_true", help="exit with 1 on an invalid answer")


def run(arguments: argparse.Namespace) -> int:
    """List every answer that is invalid, or valid in part, with file, field and expectation."""
    from grader.pages.terminal import console
    from grader.pipeline import check_submission

    exam, submission = read_answers(arguments)
    checked, notices = check_submission(exam, submission)
    out = console()
    in_part = 0
    for task_id, answer in checked.items():
        if answer.message and answer.status != "missing":
            in_part += answer.status == "scored"
            reason = answer.reason or "in part"
            out.print(f"{task_id}  {reason}  {answer.message}", soft_wrap=True)
    for notice in notices:
        out.print(f"note: {notice}", soft_wrap=True)
    counts = Counter(answer.status for answer in checked.values())
    abstained = sum(answer.abstained for answer in checked.values())
    out.print(
        f"{exam.split.name}/{exam.name}: {counts['scored']} valid "
        f"({abstained} abstain, {in_part} in part), {counts['invalid']} invalid, "
        f"{counts['missing']} missing of {len(checked)} tasks"
    )
    return int(arguments.strict and counts["invalid"] > 0)
