"""Grade every submission in a folder and rank them by skill, or by points without floors.

A submission is a packed .parquet file or a folder of answers. Each is graded on its own, in a
process with a limit on memory and time; one that cannot be graded is shown as failed, with the
reason, and never stops the others. Of a private exam the ledger follows: who submitted how often,
and which figures were shown.

examples:
  python -m grader leaderboard submissions/
  python -m grader leaderboard answers/ --html leaderboard.html --json leaderboard.json
  python -m grader leaderboard submissions/ --full
  python -m grader leaderboard submissions/ --private /safe/release --split test
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grader.answers.collect import submissions_in
from grader.answers.submission import Submission, submission_name, team_of
from grader.board.grading import (
    Entry,
    NotGraded,
    Result,
    count_sessions,
    grade_all,
    in_time,
    with_figures,
)
from grader.board.workers import WorkLimits
from grader.commands import common
from grader.errors import UsageError
from grader.io.names import nearest_path
from grader.io.printing import print_lines
from grader.pages.leaderboard import Ranked, board_page, boards, first_screen, rank
from grader.pages.page import Section, non_empty
from grader.pages.report import SPECIFICATION
from grader.pages.systems import in_reading
from grader.pages.table import Table
from grader.pages.terminal import TerminalTable, console, progress
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.reports.ledger import TEAMS, Ledger, ladder_of, ledger_path, refuse_several
from grader.tracks import TRACKS

CLOSED: Final = "the final ranking was made before: only the same answers are ranked again"
NOTICES: Final = 3
"""Notes that are printed of each submission; ``grade`` prints them all."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``leaderboard``."""
    parser.add_argument("submissions", type=Path, help="folder of submissions")
    parser.add_argument(
        "--final",
        action="store_true",
        help="final ranking of a private split: one submission of each team, by the half of which "
        "no figure was ever shown",
    )
    parser.add_argument(
        "--yes", action="store_true", help="make the final ranking without asking (for scripts)"
    )
    common.add(parser, *common.EXAM, "--transcript-key", "--ledger", "--reading")
    parser.add_argument(
        "--sessions",
        type=Path,
        metavar="DIR",
        help="the host's folder of sessions (`causal-exams lab --sessions`): says of each row how "
        "many its team started per task",
    )
    common.add_effort(parser)
    common.add_limits(parser)
    parser.add_argument("--full", action="store_true", help="print every column of the board")
    common.add_documents(
        parser, "all reports, best first", "full reports of a private split, for your eyes only"
    )


def run(arguments: argparse.Namespace) -> int:
    """Grade all, rank, print and write."""
    common.check_outputs(arguments)
    # Several exams and none chosen: say so before any submission is graded.
    exam = common.open_split(arguments).choose_exam_for()
    exam.split.release.refuse_unchecked("ranks nobody")
    key = exam.split.transcript_key
    sessions: Mapping[str, Mapping[str, int]] = {}
    if arguments.sessions is not None:
        if key is None:
            raise UsageError("--sessions: give --transcript-key too; only sessions it signed count")
        own = {task.task_id for task in exam.tasks}
        sessions = count_sessions(arguments.sessions, key, own)
    sources = _find_submissions(arguments.submissions)
    if arguments.final:
        exam = exam.final()
        refuse_several(sources)
        if Ledger(ledger_path(arguments.ledger, exam), exam).is_closed:
            print_lines(f"note: {CLOSED}", to_stderr=True)
        elif not arguments.yes:
            _confirm_final()
    results = _grade(arguments, exam, sources)
    entries = [result for result in results if isinstance(result, Entry)]
    if exam.keeps_ledger and entries:
        entries = with_figures(arguments.ledger, exam, entries)
    failed = [_failure(result) for result in results if isinstance(result, NotGraded)]
    _print_notes(entries)
    if not entries:
        print_lines(*(f"failed: {row['name']}: {row['reason']}" for row in failed), to_stderr=True)
        raise UsageError(
            f"{arguments.submissions}: no usable submission in it; give a folder of packed files "
            "and answer folders (one answers folder alone: `grade` it)"
        )
    _label(entries, sessions)
    ranked = rank([entry.report for entry in entries])
    title = f"{exam.split.release.name} · {exam.split.name}/{exam.name}"
    title += " · final ranking" if arguments.final else ""
    steps = {report["detectable"] for _, report in ranked} - {None} if exam.keeps_ledger else ()
    page_title = title + "".join(f" · points in steps of {step:g}" for step in steps)
    shown = [(place, in_reading(report, arguments.reading)) for place, report in ranked]
    failures = non_empty(SPECIFICATION.of_rows("failures", failed))
    common.write_documents(
        arguments,
        lambda: _json_rows(ranked, failed),
        lambda: board_page(shown, TRACKS, page_title, [Section("Failed", failures)]),
    )
    tables = [table for some in boards(shown, TRACKS, title) for table in some]
    out = console()
    for table in tables if arguments.full else first_screen(tables, ranked[0][1]["tracks"]):
        out.print(TerminalTable(table, framed=arguments.full))
    if not arguments.full:
        page = "" if arguments.html else ", --html board.html writes a page"
        out.print(f"--full prints every column{page}", style="dim")
    for table in failures:
        out.print(TerminalTable(table))
    if exam.keeps_ledger:
        out.print(TerminalTable(_ledger_table(exam, ledger_path(arguments.ledger, exam))))
    return 0


def _confirm_final() -> None:
    """Ask whether to make the final ranking; any answer but "yes" is a ``UsageError``."""
    text = "--final ranks once: later submissions fail, and boards show no new figures"
    if not sys.stdin.isatty():
        raise UsageError(f"{text}; give --yes if you mean it")
    if input(f"{text}. Type yes to go on: ").strip() != "yes":
        raise UsageError("--final: not confirmed; nothing was ranked or recorded")


def _grade(arguments: argparse.Namespace, exam: Exam, sources: Sequence[Path]) -> list[Result]:
    """Grade every submission, with a bar; of a final ranking those that come too late fail."""
    with progress() as bar:
        task = bar.add_task("submissions", total=len(sources))
        results = grade_all(
            exam,
            sources,
            workers=arguments.workers,
            limits=WorkLimits(arguments.memory << 20, arguments.wall),
            budget=common.limits_of(arguments),
            documents=bool(arguments.json or arguments.html),
            advance=lambda: bar.update(task, advance=1, refresh=True),
        )
    return in_time(arguments.ledger, exam, results) if exam.is_final else results


def _ledger_table(exam: Exam, path: Path) -> Table:
    """Return a line for each team of a private exam: its submissions and the figures shown."""
    ladder = ladder_of(grade(exam, Submission(Path("nobody")), slice_intervals=False))
    ledger = Ledger(path, exam)
    steps = f"A figure comes in steps of {ladder.step:g} points, about half of the instances, to "
    steps += f"teams that {TEAMS} beside the ledger lists"
    note = (ledger.no_figures_reason(ladder) or steps) + "."
    if ledger.is_closed:
        note += " The final ranking was made: no new figure is shown."
    return SPECIFICATION.of_rows("ledger", ledger.teams(ladder), exam=exam.name, note=note)


def _failure(result: NotGraded) -> dict[str, str]:
    """Return the name of a submission, and why it failed: that text names no folder of ours."""
    source, reason = result.source, result.reason
    for path in (source.absolute(), source):
        reason = reason.replace(str(path), source.name)
    return {"name": source.name, "reason": reason.removeprefix(f"{source.name}: ")}


def _print_notes(entries: Sequence[Entry]) -> None:
    """Print notes: those of several submissions once, with their number, then those of each."""
    counts = Counter(notice for one in entries for notice in dict.fromkeys(one.report["notices"]))
    shared = {text: count for text, count in counts.items() if count > 1}
    lines = [f"note: {count} submissions: {text}" for text, count in shared.items()]
    for entry in entries:
        own = [text for text in entry.report["notices"] if text not in shared]
        lines += [f"note: {entry.source}: {notice}" for notice in own[:NOTICES]]
    out = console(stderr=True)
    for line in lines:
        out.print(line, soft_wrap=True)


def _label(entries: Sequence[Entry], sessions: Mapping[str, Mapping[str, int]]) -> None:
    """Add to reports the sessions of their team, and file and date to systems of one name."""
    names = Counter(entry.report["submission"]["system"] for entry in entries)
    for entry in entries:
        submission = entry.report["submission"]
        if own := sessions.get(team_of(submission_name(entry.source))):
            submission["sessions"] = own
        if names[submission["system"]] > 1:
            date = submission["run"].get("date")
            dated = f", {date[:40]}" if isinstance(date, str) else ""
            submission["label"] = f"{submission['system']} ({submission['file']}{dated})"


def _json_rows(ranked: Ranked, failed: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return what ``--json`` holds: a row of each submission, then of each that was not graded."""
    rows: list[dict[str, Any]] = [{"rank": place, "report": report} for place, report in ranked]
    for track in TRACKS.values():
        if track.board_members is not None:
            members = track.board_members([report for _, report in ranked])
            rows = [row | dict(own) for row, own in zip(rows, members, strict=True)]
    for failure in failed:
        file = failure["name"].encode("utf-8", errors="replace").decode("utf-8")
        rows.append({"rank": None, "file": file, "failed": failure["reason"]})
    return rows


def _find_submissions(folder: Path) -> list[Path]:
    """Return packed files and answer folders in ``folder``, by name; raises ``UsageError``."""
    if folder.is_file():
        raise UsageError(f"{folder}: is a file; give the folder that holds it, or `grade` it alone")
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of submissions{nearest_path(folder)}")
    found = submissions_in(folder)
    for link in sorted(entry for entry in folder.iterdir() if entry.is_symlink()):
        print_lines(f"left out: {link}: a link; put the submission itself there", to_stderr=True)
    if not found:
        print_lines(f"note: {folder} has neither packed .parquet files nor folders", to_stderr=True)
    return found
