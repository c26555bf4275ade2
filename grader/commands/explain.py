"""One task: what it asks, how it is scored, the answer given, and why it scored so.

examples:
  python -m grader explain cds-7f3a91c2d04be516 --answers answers/
  python -m grader explain cds-7f3a91c2d04be516 --answers answers/ --reveal
  python -m grader explain lab-7f3a91c2d04be516 --answers answers/ --html session.html
"""

import argparse
from contextlib import suppress
from itertools import chain
from pathlib import Path
from textwrap import TextWrapper, wrap
from typing import Final

from grader.answers.check import REASONS
from grader.answers.collect import read_submission
from grader.answers.submission import json_object
from grader.commands.common import RELEASE, add, check_outputs, open_split
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import BadJson, canonical_json
from grader.pages.specification import pages_of
from grader.pages.systems import in_pool, readings_from
from grader.pages.terminal import console
from grader.pages.words import clip_text, number, plain_json, points, question_of
from grader.pipeline import check_attempts, merge_attempts, sign_attempts, verify_attempts
from grader.release.exam import Exam
from grader.release.release import find_task
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.score import score
from grader.scoring.shape import Task
from grader.tracks import TRACKS

Line = tuple[str, str]
"""A label and what stands beside it."""

_LONGEST: Final = 4000
"""Characters of an answer."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``explain``."""
    parser.add_argument("task", help="task id")
    add(parser, *RELEASE, "--transcript-key", "--reading")
    parser.add_argument("--answers", type=Path, metavar="DIR", help="the answers to look at")
    parser.add_argument("--prompt", action="store_true", help="print the whole prompt")
    parser.add_argument("--reveal", action="store_true", help="show the truth as well")
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="draw a laboratory session: true graph, hypothesis, metrics by step",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation, once all that may be refused is known to be fine."""
    if arguments.html is not None and arguments.answers is None:
        raise UsageError("--html: needs the answers to draw; add --answers DIR")
    split = open_split(arguments)
    check_outputs(arguments, arguments.answers)
    task = find_task(split.tasks, arguments.task, f"split {split.name}")
    (task,) = split.release.with_prompts(split.name, [task])
    exam = Exam(split, "", (task,))
    answered = [] if arguments.answers is None else _answer_lines(exam, task, arguments)
    last = [("more", "--reveal shows the truth and what differs, --prompt the whole prompt")]
    if arguments.reveal:
        last = _truth_lines(task, exam.truths[task.task_id])
    out = console()
    question = task.prompt if arguments.prompt else question_of(task.prompt, "Background")
    width = min(out.width, 100)
    wrapped = [text for part in question.splitlines() for text in wrap(part, width) or [""]]
    first, rest = (
        [f"{label:<10} {text}" for label, text in lines]
        for lines in (_task_lines(task), [*answered, *last])
    )
    hanging = TextWrapper(
        width, subsequent_indent=" " * 11, break_long_words=False, break_on_hyphens=False
    ).wrap
    for text in chain(*map(hanging, first), ["", *wrapped, ""], *map(hanging, rest)):
        out.print(text, soft_wrap=True)
    return 0


def _task_lines(task: Task) -> list[Line]:
    """Return the lines about a task: what kind it is and how it is scored."""
    spec, shape = task.spec, task.shape
    lines = [
        ("task", f"{task.task_id}  ({task.track}, rung {spec.rung}, {spec.key}, {task.view} view)"),
        ("rule", spec.rule),
        ("pool", f"{shape.pool}; metric {shape.metric}; answer file {task.answer_file}"),
    ]
    if shape.abstainable:
        lines.append(("abstain", canonical_json({shape.field: shape.abstention})))
    return lines


def _answer_lines(exam: Exam, task: Task, arguments: argparse.Namespace) -> list[Line]:
    """Return the lines about the answer that counts and its score; draw it for ``--html``."""
    exam.split.refuse_private_details("the score of one task tells its truth")
    submission = read_submission(arguments.answers, exam.split.tasks)
    attempts = check_attempts(exam.tasks, submission)
    signed, _ = sign_attempts(exam, submission.source, attempts)
    verified = verify_attempts(exam, signed, submission.budget)
    truth, checked = exam.truths[task.task_id], merge_attempts(exam.tasks, verified)[task.task_id]
    if arguments.html is not None:
        draw = pages_of(TRACKS[task.track]).draw_answer
        if draw is None:
            raise UsageError(f"--html: {task.task_id} is no session; only sessions are drawn")
        if checked.status != "scored":
            raise UsageError(f"--html: nothing to draw; {checked.message}")
        write_text(arguments.html, draw(task, truth, checked))
    raw = submission.answers.get(task.task_id)
    lines = [
        ("answer", _one_line(raw.data if raw else None)),
        *_score_lines(task, truth, checked, arguments.reading),
    ]
    if arguments.reveal and checked.status == "scored":
        lines += pages_of(TRACKS[task.track]).diagnose(task, truth, checked)
    return lines


def _score_lines(task: Task, truth: Truth, checked: CheckedAnswer, first: str) -> list[Line]:
    """Return the lines about a score: status, points, both readings (``first`` one first), why."""
    result = score(task, truth, checked)
    reason = f" ({result.reason}: {REASONS[result.reason]})" if result.reason else ""
    lines = [
        ("status", result.status + reason),
        ("points", f"{points(100 * result.points)} of 100"),
        *((reading, in_pool(result, reading)) for reading in readings_from(first)),
    ]
    if result.metric_value is not None and round(result.metric_value - result.points, 6):
        lines.append((result.metric, number(result.metric_value, 6)))
    why = result.message
    if not why and result.metric == "f1" and 0 < result.points < 1:
        why = "members are missing or extra; --reveal names them"
    return [*lines, ("why", why)] if why else lines


def _truth_lines(task: Task, truth: Truth) -> list[Line]:
    """Return the lines about the truth: the right answer as an answer is shown, all right ones."""
    text = _one_line(task.shape.gold(task, truth).encode())
    if truth.should_abstain:
        text += " (not identifiable)"
    elif truth.value_se:
        text += f" (numerical standard error {truth.value_se:.2g})"
    right = truth.target.get("accepted") or truth.target.get("sets", ())
    several = len(right) > 1 and task.shape.kind != "sets"
    return [("truth", text), *([("right too", plain_json(right))] if several else [])]


def _one_line(data: bytes | None) -> str:
    """Return an answer in words, at most its beginning; of a session what it states at the end."""
    if data is None:
        return "(none)"
    with suppress(BadJson):
        return clip_text(plain_json(json_object(data)), _LONGEST)
    with suppress(BadJson):
        events = {str(line.get("event")): line for line in map(json_object, data.splitlines())}
        if "closed" in events:
            stated = {"hypothesis": "record", "prediction": "value"}
            said = {name: events.get(name, {}).get(key) for name, key in stated.items()}
            return clip_text(plain_json(said), _LONGEST)
    text = " ".join(data[:600].decode("utf-8", errors="replace").split())
    return text + (" …" if len(data) > 600 else "")
