"""Take answers and usage out of the record of Inspect, Harbor or mini-swe-agent.

examples:
  causal-exams answers-from inspect logs/ --release release --out answers/mine
  causal-exams answers-from harbor jobs/2026-11-22__15-00-00 --release release --out answers/mine
  causal-exams answers-from mini-swe trajectories/ --release release --out answers/mine

inspect: a log, or a folder of logs, of the tasks causal_exams/…; of an attempt that several hold,
the last one that did not end in an error. harbor: the folder of a job whose tasks `export harbor`
wrote. mini-swe: a folder of <task id>.traj.json files, or of folders with one each; an answer is
the file in answers/ beside it, else what was submitted. The folder of answers is written anew.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from causal_exams.attempts import (
    Attempt,
    attempt_of,
    from_harbor,
    from_mini_swe,
    samples,
    write_answers,
)
from grader.commands.common import PUBLIC_EXAM, add, open_split
from grader.errors import UsageError
from grader.io.printing import print_lines
from grader.scoring.shape import Task

_READERS: Final[Mapping[str, Callable[[Path, dict[str, Task]], Iterable[Attempt]]]] = {
    "inspect": lambda log, _: map(attempt_of, samples(log)),
    "harbor": from_harbor,
    "mini-swe": from_mini_swe,
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``answers-from``."""
    parser.add_argument("source", choices=tuple(_READERS))
    parser.add_argument("log", type=Path, help="log, or folder of logs")
    add(parser, *PUBLIC_EXAM)
    parser.add_argument("--name", metavar="NAME", help="name of the system on leaderboards")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of answers")


def run(arguments: argparse.Namespace) -> int:
    """Write the folder of answers, print what was taken, and return 0.

    Attempts that ended in an error, which is never the model's fault, are left out and counted.
    Raises ``UsageError`` where no other attempt is there.
    """
    if arguments.out.exists() and not (arguments.out / "run.json").exists():
        raise UsageError(f"--out {arguments.out}: exists and holds no answers; name another")
    exam = open_split(arguments).choose_exam_for()
    tasks = {task.task_id: task for task in exam.tasks}
    attempts = _READERS[arguments.source](arguments.log, tasks)
    found = [one for one in attempts if one.task_id in tasks]
    whole = [one for one in found if one.usage.get("ending") != "error"]
    if not whole:
        raise UsageError(f"{arguments.log}: no attempt at a task of exam {exam.name} in it")
    card = {
        "system": arguments.name or arguments.out.name,
        "notes": f"answers-from {arguments.source}",
        "release": exam.split.release.name,
        "split": exam.split.name,
        "exam": exam.name,
    }
    left = len(tasks) - len({one.task_id for one in whole})
    if left:
        card["partial"] = f"{len(tasks) - left} of {len(tasks)} tasks were taken"
    write_answers(arguments.out, whole, tasks, card, max(one.number for one in whole))
    answered = sum(one.answer is not None for one in whole)
    print_lines(
        f"{arguments.out}: {answered} answers of {len(whole)} attempts; {len(found) - len(whole)} "
        f"errors left out, {left} tasks not taken"
    )
    return 0
