"""The board as a static site: every submission of a dataset of results, nothing else.

No script and no request to anywhere: what a filter shows follows from a radio button by the page's
own style, so that the site reads the same from a folder, from a static Space and in twenty years.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.hub.client import explain_hub_errors
from grader.hub.results import GRADED, Row
from grader.io.files import write_text
from grader.io.paths import path_inside
from grader.io.printing import plural
from grader.pages.leaderboard import Ranked, board_page, place_texts, rank
from grader.pages.page import Block, Choice, Paragraph, Section, Strong, non_empty, page
from grader.pages.report import SPECIFICATION
from grader.pages.report_page import NOTES, report_page
from grader.pages.systems import SETTINGS, figure_cell, is_skipped
from grader.pages.table import Cell, Table
from grader.pages.words import points
from grader.scoring.track import Tracks

if TYPE_CHECKING:
    from huggingface_hub import HfApi

PAGES: Final = "s"
INDEX: Final = "index.html"
_TITLE: Final = "Causal exams"
_UNSTATED: Final = "not stated"
_MONTHS: Final = 8
_HIDDEN: Final = {
    "section": 'section:has([id^="row~"]):not(:has([id*="~{}~"]))',
    "row": 'tr:has([id^="row~"]):not(:has([id*="~{}~"]))',
}
"""Selectors of what a choice hides: sections without its rows, or rows not called after it."""
_CARD: Final = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Board:
    """The reports of one exam of one release, ranked, each with its row of results.

    ``key`` stands for the exam in ids and names of files, ``release`` is its release in rows.
    """

    key: str
    title: str
    release: Mapping[str, str]
    ranked: Ranked

    @property
    def tracks(self) -> list[str]:
        """The tracks of the exam."""
        return list(self.ranked[0][1]["tracks"])


def write_site(out: Path, rows: Mapping[str, Row], results: str, tracks: Tracks) -> int:
    """Write the site of all rows into a folder; return its number of files. Raises ``UsageError``.

    ``results`` is the dataset the rows are from.
    """
    boards = _boards(row for row in rows.values() if row["status"] == GRADED)
    files = {INDEX: _index(boards, rows), "README.md": _CARD.format(results=results)}
    for board in boards:
        back = [(INDEX, f"← {_TITLE}")]
        files[_file(board)] = board_page(board.ranked, tracks, board.title, ahead=back)
    for name, text in files.items():
        write_text(path_inside(out, name), text)
    reports = [report for board in boards for _, report in board.ranked]
    for report in reports:
        proof, back = _proof(report["row"], results), [(f"../{INDEX}", f"← {_TITLE}")]
        text = report_page(report, tracks, more=[proof], ahead=back)
        write_text(path_inside(out / PAGES, report["row"]["id"], ".html"), text)
    return len(files) + len(reports)


def _file(board: Board) -> str:
    """Return the file name of a board's page: ``exam-<key>.html``, its key a running number."""
    return f"exam-{board.key}.html"


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
        for row, name in zip(members, names, strict=True):
            submission = row["report"]["submission"]
            if names.count(name) > 1:
                label = f"{name} ({row['team']}, {row['id'][:6]})"
                submission = {**submission, "label": label}
            reports.append({**row["report"], "submission": submission, "row": row})
        title = f"{release}, {split}/{exam}"
        boards.append(Board(str(k), title, members[0]["release"], rank(reports)))
    return boards


def _index(boards: Sequence[Board], rows: Mapping[str, Row]) -> str:
    """Return the page with all rankings, of which the filters show one."""
    tracks = sorted({track for board in boards for track in board.tracks})
    settings = sorted({_setting(row) for row in rows.values() if row["status"] == GRADED})
    days = sorted({row["day"][:7] for row in rows.values()}, reverse=True)[:_MONTHS]
    exams = [(f"e-{board.key}", board.title) for board in boards]
    views = [("t-all", "all"), *((f"t-{name}", name) for name in tracks)]
    kinds = [(_setting_id(name), name) for name in settings]
    since = [(f"d-{day}", f"since {day}") for day in days]
    choices: list[Block] = [
        Choice("Exam", "exam", exams),
        Choice("Track", "track", views),
        Choice("Setting", "setting", [("s-all", "all"), *kinds]),
        Choice("Handed in", "since", [("d-all", "any time"), *since]),
    ]
    style = [""]
    for what, options in (("section", [*exams, *views]), ("row", [*kinds, *since])):
        for name, _ in options:
            hidden = _HIDDEN[what].format(name)
            style.append(f'main:has([id="{name}"]:checked) {hidden}{{display:none}}')
    sections = [Section("Show", choices)] if boards else []
    for board in boards:
        for track in (None, *(board.tracks if len(board.tracks) > 1 else ())):
            sections.append(_ranking(board, track, days))
    failed = [row for row in rows.values() if row["status"] != GRADED]
    exam_pages = [
        {"title": board.title, "link": _file(board), "submissions": len(board.ranked)}
        for board in boards
    ]
    sections += [
        Section("Pictures", non_empty(SPECIFICATION.of_rows("exam_pages", exam_pages))),
        Section("Not graded", non_empty(SPECIFICATION.of_rows("not_graded", failed))),
        Section("Checking it", _checks(boards)),
    ]
    subtitle = plural(sum(len(board.ranked) for board in boards), "submission")
    return page(_TITLE, subtitle, sections, NOTES["site_footer"], "\n".join(style))


def _setting(row: Row) -> str:
    """Return a row's setting, ``_UNSTATED`` for none of ``SETTINGS``."""
    return row["setting"] if row["setting"] in SETTINGS else _UNSTATED


def _setting_id(setting: str) -> str:
    """Return the HTML id of a setting."""
    return f"s-{setting.replace(' ', '-')}"


def _ranking(board: Board, track: str | None, days: Sequence[str]) -> Section:
    """Return the ranking of a board by the exam's skill, or by that of ``track``.

    A row is called after the choices that show it.
    """
    reports: list[dict[str, Any]] = [dict(report) for _, report in board.ranked]
    if track is not None:
        reports = [
            {**report, **report["tracks"][track]}
            for report in reports
            if not is_skipped(report, track)
        ]
    ranked = rank(reports)
    views = [track or "all", *(board.tracks if len(board.tracks) == 1 else ())]
    lines: list[list[str | Cell]] = []
    for place, (_, report) in zip(place_texts(ranked), ranked, strict=True):
        row, submission = report["row"], report["submission"]
        setting = _setting(row)
        marks = [f"e-{board.key}", *(f"t-{name}" for name in views), _setting_id(setting)]
        marks += [f"d-{day}" for day in days if day <= row["day"][:7]]
        name = submission.get("label", submission["system"])
        anchor = f"row~{'~'.join(marks)}~{row['id']}"
        lines.append(
            [
                "–" if report["points"] is None else place,
                Cell(name, "name", link=f"{PAGES}/{row['id']}.html", anchor=anchor),
                figure_cell(report, "skill"),
                points(report["points"]),
                points(report["floor"]),
                row["team"],
                setting,
                row["day"],
            ]
        )
    figures = ["skill [95% interval]", "points", "floor"]
    head = ["#", "system", *figures, "team", "setting", "handed in"]
    title = board.title if track is None else f"{board.title}: {track}"
    return Section(
        title, [Table("", head, lines, left=2), Paragraph(NOTES["site_ranking"], note=True)]
    )


def _checks(boards: Sequence[Board]) -> list[Block]:
    """Return for each exam its release's manifest hash and the command that checks the release."""
    blocks: list[Block] = []
    for board in boards:
        release = board.release
        blocks += [
            Paragraph(
                [Strong(f"{board.title}: "), f"SHA-256 of manifest.json {release['sha256']}"]
            ),
            Paragraph(f"causal-exams verify {release['address'] or 'RELEASE'}"),
        ]
    return [*blocks, Paragraph(NOTES["site_check"], note=True)] if blocks else []


def _proof(row: Row, results: str) -> Section:
    """Return the hashes and the command by which a submission's figures can be checked."""
    release = row["release"]
    facts = {
        "submission": row["id"],
        "team": row["team"],
        "handed in": row["day"],
        "setting": _setting(row),
        "SHA-256 of the file": row["submission_sha256"],
        "hash of the answers": row["answers_sha256"],
        "SHA-256 of the release's manifest": release["sha256"],
        "grader": f"{row['grader']}, {row['grader_sha256']}",
        "row": f"results/{row['id']}.json in {results}",
        "to grade it again": _command_again(row),
    }
    lines = [Paragraph([Strong(f"{name}: "), value]) for name, value in facts.items()]
    return Section("Checking it", lines)


def _command_again(row: Row) -> str:
    """Return the commands that fetch a submission and grade it; of a private exam why not."""
    if row["report"].get("redacted"):
        return "only the maintainer can, who has the private truth"
    file = f"submissions/{row['team']}/{row['id']}.parquet"
    exam = f"--split {row['split']} --exam {row['exam']}"
    return (
        f"hf download {row.get('submissions', 'SUBMISSIONS')} {file} --repo-type dataset "
        f"--local-dir . && causal-exams grade {file} "
        f"--release {row['release']['address'] or 'RELEASE'} {exam}"
    )


def send(api: "HfApi", repo: str, folder: Path) -> str:
    """Bring the Space to the folder's state, and say what was done. Raises ``UsageError``."""
    with explain_hub_errors(repo):
        api.create_repo(repo, repo_type="space", space_sdk="static", exist_ok=True)
        before = api.repo_info(repo, repo_type="space").sha
        commit = api.upload_folder(
            repo_id=repo,
            folder_path=folder,
            repo_type="space",
            commit_message="The board",
            delete_patterns=["*.html", "s/*.html"],
        )
    return "nothing to send" if commit.oid == before else f"sent, {commit.commit_url}"
