"""Write an exam in the format of another harness.

examples:
  causal-exams export harbor tasks/ --release release --exam mini
  causal-exams export jsonl exam.jsonl --release release --no-files

harbor writes a task folder of Harbor for each task, with the grader in tests/ and, where the truth
is public, the right answer in solution/; of a private split answers are collected only. jsonl
writes a line for each task, with the prompt and, in base 64 where they are no text, its files.
`answers-from` brings answers back.
"""

import argparse
from pathlib import Path

from grader.commands.common import EXAM, add, open_split


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``export``."""
    parser.add_argument("format", choices=("harbor", "jsonl"))
    parser.add_argument("out", type=Path, help="a new folder, or a file")
    add(parser, *EXAM)
    parser.add_argument("--no-files", action="store_true", help="jsonl: prompts without the files")


def run(arguments: argparse.Namespace) -> int:
    """Write the export; nothing is left behind when it fails."""
    exam = open_split(arguments).choose_exam_for()
    if arguments.format == "harbor":
        from harness.exports.harbor import write_harbor

        count = write_harbor(exam, arguments.out)
        left = len(exam.tasks) - count
        more = f"; {left} laboratories with experiments need their host: use `run`" if left else ""
        print(f"{arguments.out}: {count} tasks{more}")
        return 0
    from grader.io.files import replacing
    from harness.exports.jsonl import lines

    with replacing(arguments.out) as temporary, temporary.open("w", encoding="utf-8") as stream:
        stream.writelines(lines(exam, files=not arguments.no_files))
    print(f"{arguments.out}: {len(exam.tasks)} tasks")
    return 0
