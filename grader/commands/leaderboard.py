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
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final

from grader.answers.collect import submissions_in
from grader.commands.common import (
    EXAM,
    add,
    add_documents,
    add_limits,
    check_outputs,
    limits_of,
    open_split,
)
from grader.errors import UsageError
from grader.hub.benchmark import SETTINGS
from grader.io.files import replacing, write_text
from grader.io.jsonio import pretty
from grader.io.names import nearest_path
from grader.io.processors import processors
from grader.pages.leaderboard import rank
from grader.pages.systems import in_reading, setting_of
from grader.release.exam import Exam

if TYPE_CHECKING:
    from rich.progress import Progress

    from grader.board.grading import Entry
    from grader.board.sessions import Started
    from grader.pages.table import Table

NOTICES: Final = 3
"""Of each submission so many notes are told; ``grade`` tells them all."""
MEMORY: Final = 2048
SECONDS: Final = 300


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``leaderboard``."""
    parser.add_argument("submissions", type=Path, help="folder of submissions")
    parser.add_argument(
        "--final",
        action="store_true",
        help="of a private split, once: rank one submission of each team by the half of which no "
        "figure was ever shown",
    )
    add(parser, *EXAM, "--transcript-key", "--ledger", "--reading")
    parser.add_argument(
        "--setting", choices=SETTINGS, help="only systems that sat the exam under this setting"
    )
    parser.add_argument(
        "--sessions", type=Path, metavar="DIR",
        help="the host's folder of sessions (`causal-exams lab --sessions`): says of each row how "
        "many were started per task",
    )  # fmt: skip
    effort = parser.add_argument_group("effort")
    effort.add_argument(
        "--workers", type=_positive, default=processors(), metavar="N", help="processes"
    )
    effort.add_argument(
        "--memory", type=_positive, default=MEMORY, metavar="MIB",
        help=f"of one submission (default {MEMORY})",
    )  # fmt: skip
    effort.add_argument(
        "--seconds", dest="wall", type=_positive, default=SECONDS, metavar="S",
        help=f"of one submission (default {SECONDS})",
    )  # fmt: skip
    add_limits(parser)
    parser.add_argument("--full", action="store_true", help="print every column of the board")
    add_documents(
        parser, "all reports, best first", "full reports of a private split, for your eyes only"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1 << 20:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Grade all, rank, print and write."""
    from grader.board.grading import Entry, LeftOut, NotGraded, grade_all, in_time, with_figures
    from grader.board.sessions import refuse_others, told
    from grader.board.workers import Limits
    from grader.pages.leaderboard import boards, failures, first_screen
    from grader.pages.table import in_terminal
    from grader.pages.terminal import console
    from grader.pipeline import about_exam
    from grader.reports.ledger import refuse_several

    check_outputs(arguments)
    # Several exams and none chosen: say so before any submission is graded.
    exam = open_split(arguments).choose_exam_for()
    sources = submissions(arguments.submissions)
    if arguments.final:
        exam = exam.final()
        refuse_several(sources)
    counted = _sessions(arguments, exam)
    with _progress() as progress:
        bar = progress.add_task("submissions", total=len(sources))

        def advance() -> None:
            progress.advance(bar)
            progress.refresh()

        results = grade_all(
            exam,
            sources,
            workers=arguments.workers,
            limits=Limits(arguments.memory << 20, arguments.wall),
            budget=limits_of(arguments),
            documents=bool(arguments.json or arguments.html),
            refuse=refuse_others,
            advance=advance,
        )
    if exam.is_final:
        results = in_time(arguments.ledger, exam, results)
    entries = [result for result in results if isinstance(result, Entry)]
    if exam.keeps_ledger and entries:
        entries = with_figures(arguments.ledger, exam, entries)
    entries = _of_setting(entries, arguments.setting)
    failed = [(r.source.name, r.reason) for r in results if isinstance(r, NotGraded)]
    _tell(entries, [r.reason for r in results if isinstance(r, LeftOut)], failed, about_exam(exam))
    tasks = {task.task_id for task in exam.tasks}
    for entry in entries:
        name = entry.source.name.removesuffix(".parquet")
        if (sessions := told(counted, name, tasks)) is not None:
            entry.brief["submission"]["sessions"] = sessions
    tell_apart([entry.brief for entry in entries])
    if not entries:
        raise UsageError(
            f"{arguments.submissions}: no usable submission in it; give a folder of packed files "
            "and answer folders (one answers folder alone: `grade` it)"
        )
    ranked = rank([entry.brief for entry in entries])
    title = f"{exam.split.release.name} · {exam.split.name}/{exam.name}"
    _write(arguments, entries, ranked, failed, title)
    out = console()
    shown = [(place, in_reading(report, arguments.reading)) for place, report in ranked]
    tables = boards(shown, title)
    if not arguments.full:
        tables = first_screen(tables, ranked[0][1]["tracks"])
    for table in tables:
        out.print(in_terminal(table, framed=arguments.full))
    if not arguments.full:
        out.print("--full prints every column, --html board.html writes a page", style="dim")
    if failed:
        out.print(in_terminal(failures(failed)))
    if exam.keeps_ledger:
        out.print(in_terminal(_ledger_table(exam, arguments.ledger)))
    return 0


def _ledger_table(exam: Exam, path: Path | None) -> "Table":
    """Return a line for each team of a private exam: its submissions and the figures shown."""
    from grader.answers.submission import Submission
    from grader.pages.table import Table, figure, word
    from grader.pages.words import points
    from grader.pipeline import grade
    from grader.reports.ledger import Ledger, default_path, ladder_of

    ladder = ladder_of(grade(exam, Submission(Path("nobody")), slice_intervals=False))
    ledger = Ledger(path or default_path(exam), exam)
    columns = (
        word("team"),
        word("submissions"),
        word("figures"),
        figure("points", "points shown", points),
    )
    note = f"A figure comes in steps of {ladder.step:g} points, about half of the instances."
    if ledger.is_closed:
        note += " The final ranking was made: no new figure is shown."
    return Table.of(f"Ledger of {exam.name}", columns, ledger.teams(ladder), note=note)


def _of_setting(entries: "list[Entry]", setting: str | None) -> "list[Entry]":
    """The entries of one setting; all of them, and a note where they are of several."""
    if setting is not None:
        kept = [entry for entry in entries if setting_of(entry.brief) == setting]
        if left := len(entries) - len(kept):
            print(f"note: {left} of another setting, or of none told, left out", file=sys.stderr)
        return kept
    counted = Counter(setting_of(entry.brief) or "not told" for entry in entries)
    if len(counted) > 1:
        told = ", ".join(f"{name} {count}" for name, count in sorted(counted.items()))
        print(f"note: several settings on one board ({told}); --setting keeps to one",
              file=sys.stderr)  # fmt: skip
    return entries


def _sessions(arguments: argparse.Namespace, exam: Exam) -> "Started":
    """The sessions that the host keeps, where its folder was given."""
    from grader.board.sessions import started

    key = exam.split.transcript_key
    if arguments.sessions is None:
        return {}
    if key is None:
        raise UsageError("--sessions: give --transcript-key too; only sessions it signed count")
    return started(arguments.sessions, key)


def _progress() -> "Progress":
    """A bar on a terminal, nothing elsewhere; without a thread, since workers are forks."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True,
        auto_refresh=False,
    )  # fmt: skip


def _tell(
    entries: "Sequence[Entry]",
    left_out: Sequence[str],
    failed: Sequence[tuple[str, str]],
    everywhere: Sequence[str],
) -> None:
    """What there is to remark, in the order of the submissions; what every report says, once."""
    from grader.pages.terminal import console, plain

    told = console(stderr=True)
    for reason in left_out:
        told.print(plain(f"left out: {reason}"))
    for name, reason in failed:
        told.print(plain(f"failed: {name}: {reason}"), soft_wrap=True)
    for notice in everywhere if entries else ():
        told.print(plain(f"note: {notice}"), soft_wrap=True)
    for entry in entries:
        own = [notice for notice in entry.brief["notices"] if notice not in everywhere]
        for notice in own[:NOTICES]:
            told.print(plain(f"note: {entry.source}: {notice}"), soft_wrap=True)


def _write(
    arguments: argparse.Namespace,
    entries: "Sequence[Entry]",
    ranked: Sequence[tuple[int, dict[str, Any]]],
    failed: Sequence[tuple[str, str]],
    title: str,
) -> None:
    """The board as data and as a page, where these were asked for; one report at a time as data."""
    whole = {id(entry.brief): entry for entry in entries}
    if arguments.json:
        with replacing(arguments.json) as temporary, temporary.open("w", encoding="utf-8") as file:
            rows = _rows(ranked)
            before = "[\n"
            for row in rows:
                report = whole[id(row["report"])].report()
                file.write(before + indent(pretty({**row, "report": report}), "  ").rstrip())
                before = ",\n"
            for name, reason in failed:
                file.write(before + indent(pretty(failure(name, reason)), "  ").rstrip())
            file.write("\n]\n")
    if arguments.html:
        from grader.pages.leaderboard import failures
        from grader.pages.page import Section
        from grader.pages.pages import board_page

        full = [
            (place, in_reading(whole[id(brief)].report(), arguments.reading))
            for place, brief in ranked
        ]
        more = [Section("Failed", [failures(failed)])] if failed else []
        write_text(arguments.html, board_page(full, title, more))


def failure(name: str, reason: str) -> dict[str, Any]:
    """What ``--json`` says, after the ranked ones, of a submission that could not be graded."""
    return {
        "rank": None,
        "file": name.encode("utf-8", errors="replace").decode("utf-8"),
        "failed": reason,
    }


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
