"""Grade every submission in a folder and rank them by skill, or by points without floors.

A submission is a packed .parquet file or a folder of answers. One that cannot be read is named
and left out; it never stops the others.

examples:
  python -m grader leaderboard submissions/
  python -m grader leaderboard answers/ --html leaderboard.html --json leaderboard.json
  python -m grader leaderboard submissions/ --private /safe/release --split test
"""

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from grader.commands.common import (
    EXAM,
    add,
    add_documents,
    check_outputs,
    open_split,
    write_documents,
)
from grader.errors import UsageError
from grader.io.jsonio import canonical
from grader.names import nearest_path
from grader.pipeline import Graded, grade
from grader.show.systems import measured
from grader.submission.collect import submissions_in

NOTICES: Final = 3
"""Of each submission so many notes are told; ``grade`` tells them all."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``leaderboard``."""
    parser.add_argument("submissions", type=Path, help="folder of submissions")
    add(parser, *EXAM, "--truth", "--transcript-key")
    add_documents(
        parser, "all reports, best first", "full reports of a private split, for your eyes only"
    )


def run(arguments: argparse.Namespace) -> int:
    """Grade all, rank, print and write."""
    from grader.draw.table import in_terminal
    from grader.show.leaderboard import leaderboard
    from grader.show.pages import page
    from grader.show.terminal import console, plain

    check_outputs(arguments)
    # Several exams and none chosen: say so before any submission is graded.
    exam = open_split(arguments).choose_exam_for()
    told = console(stderr=True)
    reports: list[dict[str, Any]] = []
    for source in submissions(arguments.submissions):
        try:
            graded = grade(exam, source, slice_intervals=bool(arguments.json or arguments.html))
            _refuse_strangers(graded, source)
        except UsageError as error:
            told.print(plain(f"left out: {error}"))
            continue
        for notice in graded.report["notices"][:NOTICES]:
            told.print(plain(f"note: {source}: {notice}"), soft_wrap=True)
        graded.report["submission"]["file"] = source.name.encode("utf-8", errors="replace").decode(
            "utf-8"
        )
        graded.report["submission"]["answers_sha256"] = _digest(graded)
        reports.append(graded.report)
    tell_apart(reports)
    if not reports:
        raise UsageError(
            f"{arguments.submissions}: no usable submission in it; give a folder of packed files "
            "and answer folders (one answers folder alone: `grade` it)"
        )
    ranked = rank(reports)
    title = f"{exam.split.release.name} · {exam.split.name}/{exam.name}"
    write_documents(arguments, lambda: _rows(ranked), lambda: page(ranked, title))
    console().print(in_terminal(leaderboard(ranked, title).without("shows from")))
    return 0


def _digest(graded: Graded) -> str:
    """The same for equal answers, however they were handed in and whatever the system is called."""
    digest = hashlib.sha256()
    for task_id, checked in graded.checked.items():
        answer = checked.answer
        told = canonical(answer) if isinstance(answer, (dict, list)) else repr(answer)
        digest.update(f"{task_id} {checked.status} {checked.abstained} {told}\n".encode())
    return digest.hexdigest()


def _refuse_strangers(graded: Graded, source: Path) -> None:
    """Raise ``UsageError`` for what has no place on this board: nothing in it is about the exam."""
    submission, split = graded.submission, graded.exam.split
    if any(score.status != "missing" for score in graded.scores):
        return
    if not submission.answers and not submission.run:
        raise UsageError(f"{source}: neither an answer nor a run.json in it")
    if split.track and submission.answers:
        raise UsageError(f"{source}: answers nothing of track {split.track}")
    if submission.answers or submission.unknown:
        raise UsageError(f"{source}: {graded.report['notices'][0]}; no answer to this exam in it")


def tell_apart(reports: Sequence[dict[str, Any]]) -> None:
    """Label the systems of one name with the file and date of each."""
    names = Counter(report["submission"]["system"] for report in reports)
    for submission in (report["submission"] for report in reports):
        if names[submission["system"]] > 1:
            date = submission["run"].get("date")
            dated = f", {date[:40]}" if isinstance(date, str) else ""
            submission["label"] = f"{submission['system']} ({submission['file']}{dated})"


def _rows(ranked: Sequence[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """What ``--json`` holds: place and report of each, and what tracks say of it among them."""
    from grader.tracks import TRACKS

    rows = [{"rank": place, "report": report} for place, report in ranked]
    for track in TRACKS.values():
        if track.board_members is not None:
            members = track.board_members([report for _, report in ranked])
            rows = [row | dict(own) for row, own in zip(rows, members, strict=True)]
    return rows


def submissions(folder: Path) -> list[Path]:
    """Packed files and answer folders in ``folder``, by name; raises ``UsageError``."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of submissions{nearest_path(folder)}")
    found = submissions_in(folder)
    if not found:
        print(f"note: {folder} has neither packed .parquet files nor folders", file=sys.stderr)
    return found


def rank(reports: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Best skill first, or best points where the exam has no floors; equals share a place.

    Whoever has no overall figure comes last.
    """
    counts = "skill" if measured(reports) else "points"

    def key(report: dict[str, Any]) -> tuple[bool, float]:
        value = report[counts]
        return value is None, -(value or 0.0)

    ordered = sorted(reports, key=lambda report: (key(report), report["submission"]["system"]))
    places: list[tuple[int, dict[str, Any]]] = []
    for position, report in enumerate(ordered, start=1):
        tied = position > 1 and key(report) == key(ordered[position - 2])
        places.append((places[-1][0] if tied else position, report))
    return places
