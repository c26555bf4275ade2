"""Write a site to read the tasks of a release: prompt, story, graph, data, truth, answer.

Filter by track, family, variant, view, structure and outcome; open index.html in a browser. The
pages ask for nothing elsewhere, and nothing that a release or an answer holds can run in them.

examples:
  python -m grader browse release --html site
  python -m grader browse release --answers answers/informed --html site
  python -m grader browse release --exam all --html site
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from grader.answers.collect import read_submission
from grader.commands.common import add, open_split
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.paths import path_inside
from grader.io.printing import plural, print_lines
from grader.pages.browse import INDEX, TaskView, pages
from grader.pages.graph import Explanation
from grader.pages.specification import pages_of
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.release.scenes import read_scenes, read_value_sources, read_worlds
from grader.reports.build import GradedSubmission


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``browse``."""
    parser.add_argument("release", type=Path, metavar="RELEASE", help="release folder")
    parser.add_argument("--answers", type=Path, metavar="DIR", help="the answers to show")
    add(parser, "--private", "--split", "--exam", "--track", "--reading")
    parser.add_argument(
        "--reveal", action="store_true", help="show truths and scores of a private split too"
    )
    parser.add_argument(
        "--html", type=Path, metavar="DIR", required=True, help="folder to write; empty or new"
    )


def run(arguments: argparse.Namespace) -> int:
    """Read, grade where there are answers, write."""
    folder: Path = arguments.html
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--html {folder}: not an empty folder; choose another, or remove it")
    split = open_split(arguments)
    graded = None
    if arguments.answers is not None:
        split.refuse_private_details("a page of a task shows its score")
        submission = read_submission(arguments.answers, split.tasks)
        answered = split.choose_exam_for(frozenset(submission.answers))
        graded = grade(answered, submission, slice_intervals=False)
    exam = split.choose_exam_for() if graded is None else graded.exam
    whose = "" if graded is None else f", answered by {graded.report['submission']['system']}"
    subtitle = f"split {split.name}, exam {exam.name}: {plural(len(exam.tasks), 'task')}{whose}"
    shown = list(_tasks_to_show(exam, graded))
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(split.release.name, subtitle, shown, arguments.reading):
        write_text(path_inside(folder, name), text)
    print_lines(f"{folder / INDEX}: {plural(len(shown), 'task')} to read")
    return 0


def _tasks_to_show(exam: Exam, graded: GradedSubmission | None) -> Iterator[TaskView]:
    """Yield every task of the exam with what may be seen of it."""
    release, split = exam.split.release, exam.split.name
    instances = [task.instance_id for task in exam.tasks]
    told = read_scenes(release, split, instances)
    scores = {score.task_id: score for score in graded.scores} if graded else {}
    answers = graded.submission.answers if graded else {}
    explanations: dict[str, Explanation] = {}
    if exam.split.reveal:
        found = read_value_sources(release, split, [task.task_id for task in exam.tasks])
        hidden = read_worlds(release, split, instances)
        for task in exam.tasks:
            world = {**hidden.get(task.instance_id, {}), **found.get(task.task_id, {})}
            if (explain := pages_of(release.tracks[task.track]).explain_task) is not None:
                try:
                    explanations[task.task_id] = explain(task, exam.truths[task.task_id], world)
                except (LookupError, TypeError, ValueError, AttributeError) as error:
                    where = f"the world of instance {task.instance_id} cannot be read"
                    raise UsageError(f"{where} ({error!r}); fetch the release again") from None
    for task in release.with_prompts(split, exam.tasks):
        yield TaskView(
            task=task,
            scene=told.get((task.instance_id, task.view)),
            truth=exam.truths[task.task_id] if exam.split.reveal else None,
            explanation=explanations.get(task.task_id, Explanation()),
            score=scores.get(task.task_id),
            answer=answers.get(task.task_id),
        )
