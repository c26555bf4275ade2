"""Check answers without the truth: the same parser and the same schemas as ``grade``.

examples:
  python -m grader validate answers/
  python -m grader validate answers/ --strict     exit with 1 if any answer is invalid
"""

import argparse
from collections import Counter
from dataclasses import replace

from grader.commands.common import PUBLIC_EXAM, add, add_limits, read_answers


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``validate``."""
    add(parser, "answers", *PUBLIC_EXAM, "--transcript-key")
    add_limits(parser)
    add(parser, "--strict")


def run(arguments: argparse.Namespace) -> int:
    """List every answer that is invalid or has a remark, with file, field and expectation."""
    from grader.pages.terminal import console
    from grader.pipeline import check_submission

    exam, submission = read_answers(arguments)
    # Only the prompts of tasks about edges say which variables they have.
    split, given = exam.split, submission.answers
    graphs = [t for t in exam.tasks if t.shape.kind == "edges" and t.task_id in given]
    read = {task.task_id: task for task in split.release.with_prompts(split.name, graphs)}
    exam = replace(exam, tasks=tuple(read.get(task.task_id, task) for task in exam.tasks))
    checked, notices = check_submission(exam, submission)
    out = console()
    remarks = 0
    for task_id, answer in checked.items():
        if answer.message and answer.status != "missing":
            remarks += answer.status == "scored"
            out.print(f"{task_id}  {answer.reason or 'remark'}  {answer.message}", soft_wrap=True)
    for notice in notices:
        out.print(f"note: {notice}", soft_wrap=True)
    counts = Counter(answer.status for answer in checked.values())
    abstained = sum(answer.abstained for answer in checked.values())
    out.print(
        f"{exam.split.name}/{exam.name}: {counts['scored']} valid "
        f"({abstained} abstain, {remarks} with a remark), {counts['invalid']} invalid, "
        f"{counts['missing']} missing of {len(checked)} tasks"
    )
    return int(arguments.strict and counts["invalid"] > 0)
