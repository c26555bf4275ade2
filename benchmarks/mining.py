"""``python -m benchmarks.mining``: a client that knows nothing mines a private exam by its reports.

It submits a hundred times. Each submission changes one answer in every family, to the next thing
that somebody without knowledge could say, and keeps what the figures rose by: family by family
where reports tell the points of families, as they once did, else by the overall points. Both
clients read what a real grading shows; the second one's reports come by the ledger.
"""

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.timing import ROOT
from builder.causalds.check.policies import policies
from grader.exam import Exam, Split
from grader.io.jsonio import canonical
from grader.io.pipe import exit_with
from grader.io.release import Release
from grader.ledger import Ledger, held, ladder_of, show_all
from grader.pipeline import Graded, grade
from grader.report.ladder import SUBMISSIONS

Answers = dict[str, str]
"""Answer file to its content."""
Turn = list[tuple[str, str, str]]
"""Family, answer file and what to try there."""
_EARLIER: Final = 42
"""Submissions by which family points had given an exam away."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack an exam both ways and print how far each came."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mining")
    parser.add_argument("--release", type=Path, help="with its private side (default: built here)")
    parser.add_argument("--exam", help="of its split test (default: the only one)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        release = given.release or _built(place / "release")
        exam = Split.open(Release.open(release), "test", given.exam).choose_exam_for()
        _attack_both(exam, place)
    return 0


def _built(out: Path) -> Path:
    environment = {**os.environ, "CAUSAL_EXAMS_SECRET": secrets.token_hex(32)}
    command = [sys.executable, "build_dataset.py", "build", "splits/private-example.toml"]
    command += ["--out", str(out), "--quiet"]
    subprocess.run(command, cwd=ROOT, check=True, env=environment)
    return out


def _attack_both(exam: Exam, place: Path) -> None:
    known = replace(exam, split=replace(exam.split, reveal=True))
    final = replace(known, tasks=exam.final().tasks)
    ledger = place / "ledger.json"

    def worth(of: Exam, answers: Answers) -> float:
        return float(_graded(of, place, answers).report["points"])

    def families(answers: Answers) -> Mapping[str, Any]:
        """What reports told before: points of each family, to a tenth."""
        return _families(_graded(known, place, answers).report)

    def shown(answers: Answers) -> Mapping[str, Any]:
        """The whole report as it is now, whatever in it is about the answers' worth."""
        graded = _graded(exam, place, answers)
        ((report),) = show_all(ledger, exam, [(graded.submission.source, held(graded))])
        return {**report, "submission": None}

    table = Table(
        "reports tell", "submissions", "points", "final half", "different reports",
        title=f"{exam.name}: {len(exam.tasks)} tasks; points of all tasks, at first and in the end",
    )  # fmt: skip
    for label, look, count in (
        ("family points", families, _EARLIER),
        ("what they tell now", shown, SUBMISSIONS),
    ):
        first, best, seen = _attack(exam, look, count)
        ends = [f"{worth(of, a):.1f}" for of in (known, final) for a in (first, best)]
        table.add_row(label, str(count), " → ".join(ends[:2]), " → ".join(ends[2:]), str(len(seen)))
    console = Console()
    console.print(table)
    ladder = ladder_of(_graded(exam, place, {}))
    for row in Ledger(ledger, exam).teams(ladder):
        console.print(
            f"ledger: {row['submissions']} submissions, {row['figures']} figures in steps of "
            f"{ladder.step:g}, at most {row['bits']:.1f} bits and {row['climb']:.1f} points"
        )


def _attack(
    exam: Exam, look: Callable[[Answers], Mapping[str, Any]], count: int
) -> tuple[Answers, Answers, set[str]]:
    """First and last answers of a client, and the different reports that it saw."""
    options = {task.answer_file: list(_options(exam, task.task_id)) for task in exam.tasks}
    best = {file: said[0] for file, said in options.items()}
    first, told = dict(best), look(best)
    seen, figures = {canonical(told)}, dict[str, float]()
    for turn, _ in zip(_turns(exam, options), range(count - 1), strict=False):
        for family, *_ in turn:
            name, figure = _figure(told, family)
            figures.setdefault(name, figure)
        told = look(best | {file: said for _, file, said in turn})
        seen.add(canonical(told))
        rose = {name for name, figure in figures.items() if (told[name] or 0.0) > figure}
        for family, file, said in turn:
            if _figure(told, family)[0] in rose:
                best[file] = said
        figures |= {name: told[name] for name in rose}
    return first, best, seen


def _figure(report: Mapping[str, Any], family: str) -> tuple[str, float]:
    """The figure that says most of a family, and its name: its own points, else the overall."""
    name = family if family in report else "points"
    return name, report[name] or 0.0


def _turns(exam: Exam, options: Mapping[str, Sequence[str]]) -> Iterator[Turn]:
    """One thing to try in each family at a time, until everything was tried everywhere."""
    queues: dict[str, Turn] = {}
    for task in exam.tasks:
        said = options[task.answer_file]
        queues.setdefault(task.family, []).extend(
            (task.family, task.answer_file, one) for one in said[1:]
        )
    for turn in zip_longest(*queues.values()):
        yield [one for one in turn if one is not None]


def _options(exam: Exam, task_id: str) -> Iterator[str]:
    """What somebody without knowledge may say, the abstention first."""
    task = next(task for task in exam.tasks if task.task_id == task_id)
    if task.shape.abstainable:
        yield canonical({task.shape.field: task.shape.abstention})
    for _, texts in policies(task, exam.truths[task_id]):
        yield texts[0]


def _graded(exam: Exam, place: Path, answers: Answers) -> Graded:
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name) / "nobody"
        folder.mkdir()
        for file, content in answers.items():
            (folder / file).write_text(content, encoding="utf-8")
        return grade(exam, folder, slice_intervals=False)


def _families(report: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in report["tracks"].values():
        for family, row in part["slices"]["family"].items():
            found[family] = round(row["points"], 1)
    return found


if __name__ == "__main__":
    exit_with(main)
