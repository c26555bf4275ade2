"""The board as a static site: every submission of a dataset of results, nothing else.

No script and no request to anywhere, so that the site reads the same from a folder, from a static
Space and in twenty years.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.hub.results import GRADED, Row
from grader.hub.submissions import path_of
from grader.io.files import write_text
from grader.io.paths import path_inside
from grader.io.printing import plural
from grader.pages.leaderboard import Ranked, board_page, place_texts, rank
from grader.pages.page import Block, Paragraph, Section, Strong, non_empty, page
from grader.pages.report import SPECIFICATION
from grader.pages.report_page import NOTES, report_page
from grader.pages.systems import figure_cell
from grader.pages.table import Cell, Table
from grader.pages.words import points
from grader.scoring.track import Tracks

PAGES: Final = "s"
INDEX: Final = "index.html"
_TITLE: Final = "Causal exams"
_CARD: Final = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Board:
    """The ranked reports of one exam of one ``release``, and the ``file`` of its page."""

    file: str
    title: str
    release: Mapping[str, str]
    ranked: Ranked


def write_site(out: Path, rows: Mapping[str, Row], results: str, tracks: Tracks) -> int:
    """Write the site of all rows of the dataset ``results``; return its number of files.
    Raises ``UsageError``."""
    boards = _boards(row for row in rows.values() if row["status"] == GRADED)
    files = {INDEX: _index(boards, rows), "README.md": _CARD.format(results=results)}
    home, back = (INDEX, f"← {_TITLE}"), (f"../{INDEX}", f"← {_TITLE}")
    for board in boards:
        files[board.file] = board_page(board.ranked, tracks, board.title, ahead=[home])
    for name, text in files.items():  # the index first: a folder with one may be written to again
        write_text(path_inside(out, name), text)
    reports = [report for board in boards for _, report in board.ranked]
    for report in reports:
        text = report_page(report, tracks, more=[_proof(report["row"], results)], ahead=[back])
        write_text(path_inside(out / PAGES, report["row"]["id"], ".html"), text)
    return len(files) + len(reports)


def _boards(rows: Iterable[Row]) -> list[Board]:
    """Return a board for each exam of each release; namesakes are told apart by team and id."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["day"], row["id"])):
        key = (row["release"]["name"], row["release"]["sha256"], row["split"], row["exam"])
        groups.setdefault(key, []).append(row)
    boards = []
    for k, ((release, _, split, exam), members) in enumerate(sorted(groups.items()), 1):
        names = [row["report"]["submission"]["system"] for row in members]
        reports = []
        for row in members:
            submission = row["report"]["submission"]
            if names.count(submission["system"]) > 1:
                label = f"{submission['system']} ({row['team']}, {row['id'][:6]})"
                submission = {**submission, "label": label}
            reports.append({**row["report"], "submission": submission, "row": row})
        title = f"{release}, {split}/{exam}"
        boards.append(Board(f"exam-{k}.html", title, members[0]["release"], rank(reports)))
    return boards


def _index(boards: Sequence[Board], rows: Mapping[str, Row]) -> str:
    """Return the page with the ranking of each exam, what failed, and how to check a release."""
    checks: list[Block] = []
    for board in boards:
        digest, place = board.release["sha256"], board.release["address"] or "RELEASE"
        checks += [
            Paragraph([Strong(f"{board.title}: "), f"SHA-256 of manifest.json {digest}"]),
            Paragraph(f"causal-exams verify {place}"),
        ]
    checks += [Paragraph(NOTES["site_check"], note=True)] if boards else []
    sections = [_ranking(board) for board in boards]
    failed = [row for row in rows.values() if row["status"] != GRADED]
    exam_pages = [
        {"title": board.title, "link": board.file, "submissions": len(board.ranked)}
        for board in boards
    ]
    sections += [
        Section("Pictures", non_empty(SPECIFICATION.of_rows("exam_pages", exam_pages))),
        Section("Not graded", non_empty(SPECIFICATION.of_rows("not_graded", failed))),
        Section("Checking it", checks),
    ]
    subtitle = plural(sum(len(board.ranked) for board in boards), "submission")
    return page(_TITLE, subtitle, sections, NOTES["site_footer"])


def _ranking(board: Board) -> Section:
    """Return the ranking of a board by the exam's skill."""
    lines: list[list[str | Cell]] = []
    for place, (_, report) in zip(place_texts(board.ranked), board.ranked, strict=True):
        row, submission = report["row"], report["submission"]
        name = submission.get("label", submission["system"])
        lines.append(
            [
                "–" if report["points"] is None else place,
                Cell(name, "name", link=f"{PAGES}/{row['id']}.html"),
                figure_cell(report, "skill"),
                points(report["points"]),
                points(report["floor"]),
                row["team"],
                row["setting"] or "–",
                row["day"],
            ]
        )
    figures = ["skill [95% interval]", "points", "floor"]
    head = ["#", "system", *figures, "team", "setting", "handed in"]
    note = Paragraph(NOTES["site_ranking"], note=True)
    return Section(board.title, [Table("", head, lines, left=2), note])


def _proof(row: Row, results: str) -> Section:
    """Return the hashes and the command by which a submission's figures can be checked."""
    release, file = row["release"], path_of(row["team"], row["id"])
    again = (
        f"hf download {row.get('submissions', 'SUBMISSIONS')} {file} --repo-type dataset "
        f"--local-dir . && causal-exams grade {file} --release {release['address'] or 'RELEASE'} "
        f"--split {row['split']} --exam {row['exam']}"
    )
    if row["report"].get("redacted"):
        again = "only the maintainer can, who has the private truth"
    facts = {
        "submission": row["id"],
        "team": row["team"],
        "handed in": row["day"],
        "setting": row["setting"] or "–",
        "SHA-256 of the file": row["submission_sha256"],
        "hash of the answers": row["answers_sha256"],
        "SHA-256 of the release's manifest": release["sha256"],
        "grader": f"{row['grader']}, {row['grader_sha256']}",
        "row": f"results/{row['id']}.json in {results}",
        "to grade it again": again,
    }
    lines = [Paragraph([Strong(f"{name}: "), value]) for name, value in facts.items()]
    return Section("Checking it", lines)
