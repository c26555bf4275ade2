"""Write what a test taker needs: one folder per task with prompt, story, data, answer schema.

examples:
  python -m grader workspace --out work/
  python -m grader workspace --exam all --out work/
  python -m grader workspace --task cds-7f3a91c2d04be516 --out work/
"""

import argparse

from grader.commands.common import PUBLIC_EXAM, add, open_split
from grader.io.printing import plural, print_lines
from grader.release.release import find_task


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``workspace``."""
    add(parser, *PUBLIC_EXAM)
    parser.add_argument("--task", action="append", metavar="ID", help="this task only (repeatable)")
    add(parser, "--out")


def run(arguments: argparse.Namespace) -> int:
    """Write the workspaces; nothing is left behind when it fails."""
    from grader.io.files import new_folder
    from grader.workspace import write_workspaces

    if arguments.task and arguments.exam is None:
        arguments.exam = "all"
    split = open_split(arguments)
    tasks = split.choose_exam_for().tasks
    if arguments.task:
        where = f"split {split.name}"
        tasks = [find_task(tasks, task_id, where) for task_id in dict.fromkeys(arguments.task)]
    tasks = split.release.with_prompts(split.name, tasks)
    with new_folder(arguments.out) as folder:
        write_workspaces(split.release, split.name, tasks, folder)
    made = plural(len(tasks), "workspace")
    print_lines(f"{arguments.out}: {made}; answers go to <task id>.json, .csv or .jsonl files")
    return 0
