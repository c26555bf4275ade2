"""Write an exam as task folders of Harbor.

examples:
  causal-exams export harbor tasks/ --release release --exam mini

harbor writes a task folder of Harbor for each task, with the grader in tests/ and, where the truth
is public, the right answer in solution/; of a private split answers are collected only.
`answers-from harbor` brings answers back.
"""

import argparse
from pathlib import Path

from grader.commands.common import EXAM, add, open_split
from grader.io.printing import print_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``export``."""
    parser.add_argument("format", choices=("harbor",))
    parser.add_argument("out", type=Path, help="a new folder")
    add(parser, *EXAM)


def run(arguments: argparse.Namespace) -> int:
    """Write the export, print how many tasks it holds, and return 0; a failure leaves no folder."""
    from causal_exams.harbor import write_harbor

    exam = open_split(arguments).choose_exam_for()
    count = write_harbor(exam, arguments.out)
    left = len(exam.tasks) - count
    more = f"; {left} laboratories with experiments need their host: use `run`" if left else ""
    print_lines(f"{arguments.out}: {count} tasks{more}")
    return 0
