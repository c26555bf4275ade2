"""Write the right answers of a split whose truth you have, as an ordinary answers folder.

examples:
  python -m grader gold --out gold/
  python -m grader gold --release release --split dev --exam all --out gold/
"""

import argparse

from grader.commands.common import RELEASE, add, open_split
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``gold``."""
    add(parser, *RELEASE)
    parser.add_argument("--exam", default="all", help="one exam only (default: the whole split)")
    add(parser, "--track")
    parser.add_argument("--reveal", action="store_true", help="even if the truth is private")
    add(parser, "--out")


def run(arguments: argparse.Namespace) -> int:
    """Write one answer file per task."""
    from grader.io.files import new_folder
    from grader.io.jsonio import pretty_json
    from grader.io.paths import path_inside

    split = open_split(arguments)
    split.refuse_private_details("gold writes it down")
    exam = split.choose_exam_for()
    with new_folder(arguments.out) as folder:
        for task in exam.tasks:
            text = task.shape.gold(task, exam.truths[task.task_id])
            path_inside(folder, task.task_id, task.shape.suffix).write_text(text, encoding="utf-8")
        run_card = {"system": "gold", "notes": "the truth itself; every task earns 100 points"}
        (folder / "run.json").write_text(pretty_json(run_card), encoding="utf-8")
    print_lines(f"{arguments.out}: {len(exam.tasks)} right answers")
    return 0
