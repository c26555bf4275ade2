"""One task: what it asks, how it is scored, the answer given, and why it scored so.

examples:
  python -m grader explain cds-7f3a91c2d04be516 --answers answers/
  python -m grader explain cds-7f3a91c2d04be516 --answers answers/ --reveal
  python -m grader explain clab-7f3a91c2d04be516 --answers answers/ --html session.html
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.commands.common import RELEASE, add, open_split
from grader.errors import UsageError
from grader.exam import Exam
from grader.model import Checked, Truth
from grader.names import did_you_mean
from grader.shape import Task


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``explain``."""
    parser.add_argument("task", help="task id")
    add(parser, *RELEASE)
    parser.add_argument("--answers", type=Path, metavar="DIR", help="the answers to look at")
    parser.add_argument("--prompt", action="store_true", help="print the whole prompt as well")
    parser.add_argument("--reveal", action="store_true", help="show the truth as well")
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="draw a laboratory session: true graph, hypothesis, metrics by step",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation."""
    from grader.draw.words import number
    from grader.io.jsonio import canonical
    from grader.report.export import truth_json
    from grader.score import score, verify
    from grader.show.terminal import console, plain
    from grader.submission.check import REASONS, check
    from grader.submission.collect import collect

    split = open_split(arguments)
    found = _find(split.tasks, arguments.task)
    (task,) = split.release.with_prompts(split.name, [found])
    exam = Exam(split, "", (task,))
    out = console()

    def line(label: str, text: str) -> None:
        out.print(plain(f"{label:<10} {text}"), soft_wrap=True)

    spec = task.spec
    line("task", f"{task.task_id}  ({task.track}, rung {spec.rung}, {spec.key}, {task.view} view)")
    line("rule", spec.rule)
    line("pool", f"{spec.shape.pool}; metric {spec.shape.metric}; answer file {task.answer_file}")
    if spec.shape.abstainable:
        line("abstain", canonical({spec.shape.field: spec.shape.abstention}))
    if not arguments.prompt:
        line("asked", _question(task.prompt))
    if arguments.prompt:
        for text in task.prompt.splitlines():
            out.print(plain(text), soft_wrap=True)
    if arguments.answers is not None:
        raw = collect(arguments.answers, split.tasks).answers.get(task.task_id)
        checked = check(task, raw)
        line("answer", _shown(raw.data if raw else None))
        reason = f" ({checked.reason}: {REASONS[checked.reason]})" if checked.reason else ""
        line("status", checked.status + reason)
        if checked.message:
            line("why", checked.message)
        split.refuse_private_details("the score of one task tells its truth")
        truth = exam.truths[task.task_id]
        verified = verify(task, truth, checked)
        result = score(task, truth, verified)
        if result.status != checked.status:
            line("verified", f"{result.status} ({result.reason}: {REASONS[result.reason]})")
        line("points", f"{number(result.points)} of 1")
        line("fixed", f"pool {result.pool}, loss {number(result.loss)}")
        line("paper", f"pool {result.paper_pool or 'dropped'}, loss {number(result.paper_loss)}")
        if result.value is not None:
            line(result.metric, number(result.value, 6))
        if result.message and result.message != checked.message:
            line("why", result.message)
        if arguments.html is not None:
            _draw(arguments.html, task, truth, verified)
    elif arguments.html is not None:
        raise UsageError("--html: needs the answers to draw; add --answers DIR")
    if arguments.reveal:
        line("truth", truth_json(exam.truths[task.task_id]))
    return 0


def _draw(path: Path, task: Task, truth: Truth, verified: Checked) -> None:
    from grader.io.files import write_text
    from grader.tracks import TRACKS

    draw = TRACKS[task.track].draw
    if draw is None:
        raise UsageError(f"--html: {task.task_id} is a {task.track} task; only sessions are drawn")
    if verified.status != "scored":
        raise UsageError(f"--html: nothing to draw; {verified.message}")
    write_text(path, draw(task, truth, verified))


def _find(tasks: Sequence[Task], task_id: str) -> Task:
    for task in tasks:
        if task.task_id == task_id:
            return task
    known = (task.task_id for task in tasks)
    raise UsageError(f"{task_id}: no such task in this split{did_you_mean(task_id, known)}")


def _question(prompt: str) -> str:
    """The question itself, without story, data and format; ``--prompt`` shows all of it."""
    _, _, rest = prompt.partition("\n## Question\n")
    text = " ".join((rest.partition("\n## ")[0] or prompt).split())
    return text if len(text) <= 600 else text[:599] + "…"


def _shown(data: bytes | None) -> str:
    if data is None:
        return "(none)"
    text = " ".join(data[:600].decode("utf-8", errors="replace").split())
    return text + (" …" if len(data) > 600 else "")
