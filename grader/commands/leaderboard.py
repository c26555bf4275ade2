"""Grade every submission in a folder and rank them by points.

A submission is a packed .parquet file or a folder of answers. One that cannot be read is named
and left out; it never stops the others.

examples:
  python -m grader leaderboard submissions/
  python -m grader leaderboard answers/ --html leaderboard.html --json leaderboard.json
  python -m grader leaderboard submissions/ --private /safe/release --split test
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.commands.common import EXAM, add, add_documents, open_split, write_documents
from grader.errors import UsageError
from grader.pipeline import grade
from grader.submission.collect import submissions_in


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``leaderboard``."""
    parser.add_argument("submissions", type=Path, help="folder of submissions")
    add(parser, *EXAM, "--transcript-key")
    add_documents(
        parser, "all reports, best first", "full reports of a private split, for your eyes only"
    )


def run(arguments: argparse.Namespace) -> int:
    """Grade all, rank, print and write."""
    from grader.draw.table import in_terminal
    from grader.show.leaderboard import leaderboard
    from grader.show.pages import page
    from grader.show.terminal import console, plain

    # Several exams and none chosen: say so before any submission is graded.
    exam = open_split(arguments).choose_exam_for()
    reports: list[dict[str, Any]] = []
    for source in submissions(arguments.submissions):
        try:
            graded = grade(exam, source, slice_intervals=bool(arguments.json or arguments.html))
            if not graded.submission.answers and not graded.submission.run:
                raise UsageError(f"{source}: neither an answer nor a run.json in it")
            attempted = any(score.status != "missing" for score in graded.scores)
            if exam.split.track and graded.submission.answers and not attempted:
                raise UsageError(f"{source}: answers nothing of track {exam.split.track}")
            reports.append(graded.report)
        except UsageError as error:
            console(stderr=True).print(plain(f"left out: {error}"))
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
        raise UsageError(f"{folder}: no such folder of submissions")
    found = submissions_in(folder)
    if not found:
        print(f"note: {folder} has neither packed .parquet files nor folders", file=sys.stderr)
    return found


def rank(reports: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Best points first; no overall points last. Equal points share a place."""

    def key(report: dict[str, Any]) -> float:
        points = report["points"]
        return 1.0 if points is None else -points

    ordered = sorted(reports, key=lambda report: (key(report), report["submission"]["system"]))
    places: list[tuple[int, dict[str, Any]]] = []
    for position, report in enumerate(ordered, start=1):
        tied = position > 1 and key(report) == key(ordered[position - 2])
        places.append((places[-1][0] if tied else position, report))
    return places
