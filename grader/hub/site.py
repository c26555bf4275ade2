"""The board as a static site: every submission of a dataset of results, nothing else.

No script and no request to anywhere: what a filter shows follows from a radio button by the page's
own style, so that the site reads the same from a folder, from a static Space and in twenty years.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.hub.client import explain_hub_errors
from grader.hub.results import GRADED, Row
from grader.io.files import write_text
from grader.io.paths import path_inside
from grader.pages.leaderboard import board_page, place_texts, rank
from grader.pages.page import Block, Choice, Paragraph, Section, Strong, page
from grader.pages.report_page import report_page
from grader.pages.systems import SETTINGS, is_skipped
from grader.pages.table import Cell, Table
from grader.pages.words import points
from grader.scoring.track import Tracks

if TYPE_CHECKING:
    from huggingface_hub import HfApi

PAGES: Final = "s"
INDEX: Final = "index.html"
_FOOTER: Final = (
    "A static page: no script, no cookie, no request to anywhere. The same results always give the "
    "same page."
)
_NOTE: Final = (
    "Skill: 0 is what the best answers earn that look at neither story nor data, 100 is gold; in "
    "brackets the 95% interval, clustered by instance. Floor: the points of knowing nothing. "
    "Systems share a place where the exam does not tell them apart."
)
_UNSTATED: Final = "not stated"
_MONTHS: Final = 8
_CARD: Final = """---
title: {title}
emoji: ⚖️
colorFrom: blue
colorTo: gray
sdk: static
app_file: index.html
pinned: false
license: cc-by-4.0
---

The board of [{results}](https://huggingface.co/datasets/{results}), by `causal-exams board`.
"""


class Board:
    """The graded rows of one exam of one release, best first, under a key for ids."""

    def __init__(self, key: str, rows: Sequence[Row]) -> None:
        self.key = key
        self.first = rows[0]
        reports = [{**row["report"], "row": row} for row in rows]
        _tell_apart(reports)
        self.ranked = rank(reports)

    @property
    def title(self) -> str:
        """Release, split and exam."""
        return f"{self.first['release']['name']}, {self.first['split']}/{self.first['exam']}"

    @property
    def tracks(self) -> list[str]:
        """The tracks of the exam."""
        return list(self.first["report"]["tracks"])

    @property
    def file(self) -> str:
        """The page with its pictures."""
        return f"exam-{self.key}.html"


def _tell_apart(reports: Sequence[dict[str, Any]]) -> None:
    """Systems of one name are told apart by team and id."""
    names = [report["submission"]["system"] for report in reports]
    for report in reports:
        submission, row = report["submission"], report["row"]
        if names.count(submission["system"]) > 1:
            label = f"{submission['system']} ({row['team']}, {row['id'][:6]})"
            report["submission"] = {**submission, "label": label}


def write_site(out: Path, rows: Mapping[str, Row], results: str, title: str, tracks: Tracks) -> int:
    """Write the site of all rows into a folder; how many files it has. Raises ``UsageError``."""
    graded = [row for row in rows.values() if row["status"] == GRADED]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in sorted(graded, key=lambda row: (row["day"], row["id"])):
        exam = (row["release"]["name"], row["release"]["sha256"], row["split"], row["exam"])
        groups.setdefault(exam, []).append(row)
    boards = [Board(str(k), members) for k, (_, members) in enumerate(sorted(groups.items()), 1)]
    files = {INDEX: _index(boards, rows, title), "README.md": _card(title, results)}
    for board in boards:
        back = [(INDEX, f"← {title}")]
        files[board.file] = board_page(board.ranked, tracks, board.title, ahead=back)
    for name, text in files.items():
        write_text(path_inside(out, name), text)
    for board in boards:
        for _, report in board.ranked:
            proof, back = _proof(report["row"], results), [(f"../{INDEX}", f"← {title}")]
            text = report_page(report, tracks, more=[proof], ahead=back)
            write_text(path_inside(out / PAGES, report["row"]["id"], ".html"), text)
    return len(files) + len(graded)


def _card(title: str, results: str) -> str:
    plain = "".join(c for c in title if c.isalnum() or c in " .,-") or "Board"
    return _CARD.format(title=plain, results=results)


def _index(boards: Sequence[Board], rows: Mapping[str, Row], title: str) -> str:
    """All rankings on one page, of which the filters show one."""
    tracks = sorted({track for board in boards for track in board.tracks})
    settings = sorted({_setting(row) for row in rows.values() if row["status"] == GRADED})
    days = sorted({row["day"][:7] for row in rows.values()}, reverse=True)[:_MONTHS]
    chosen: list[Block] = [
        Choice("Exam", "exam", [(f"e-{b.key}", b.title) for b in boards]),
        Choice("Track", "track", [("t-all", "all"), *((f"t-{name}", name) for name in tracks)]),
        Choice("Setting", "setting", [("s-all", "all"), *((_id("s", s), s) for s in settings)]),
        Choice("Handed in", "since", [("d-all", "any time"), *((f"d-{d}", f"since {d}")
                                                               for d in days)]),
    ]  # fmt: skip
    sections = [Section("Show", chosen)] if boards else []
    for board in boards:
        for track in (None, *(board.tracks if len(board.tracks) > 1 else ())):
            sections.append(_ranking(board, track, days))
    sections += [
        Section("Pictures", [_links(boards)] if boards else []),
        Section("Not graded", _not_graded(rows)),
        Section("Checking it", _checking(boards)),
    ]
    told = f"{sum(len(board.ranked) for board in boards)} submissions"
    return page(title, told, sections, _FOOTER, _style(boards, tracks, settings, days))


def _setting(row: Row) -> str:
    return row["setting"] if row["setting"] in SETTINGS else _UNSTATED


def _id(kind: str, value: str) -> str:
    return f"{kind}-{value.replace(' ', '-')}"


def _ranking(board: Board, track: str | None, days: Sequence[str]) -> Section:
    """Everyone by the exam's skill, or by that of one track; a row is called after its filters."""
    ranked, floor = board.ranked, board.first["report"]["floor"]
    if track is not None:
        parts = [
            {**report, **report["tracks"][track], "submission": report["submission"]}
            for _, report in board.ranked
            if not is_skipped(report, track)
        ]
        ranked = rank(parts)
        floor = board.first["report"]["tracks"][track]["floor"]
    figures = ["skill [95% interval]", "points", "floor"]
    head = ["#", "system", *figures, "team", "setting", "handed in"]
    lines: list[list[str | Cell]] = []
    for place, (_, report) in zip(place_texts(ranked), ranked, strict=True):
        row = report["row"]
        since = "".join(f"~d-{day}" for day in days if day <= row["day"][:7])
        views = [track or "all", *(board.tracks if len(board.tracks) == 1 else ())]
        marks = [f"e-{board.key}", *(f"t-{name}" for name in views), _id("s", _setting(row))]
        anchor = f"row~{'~'.join(marks)}{since}~{row['id']}"
        name = report["submission"].get("label", report["submission"]["system"])
        span = report["skill_interval"]
        aside = "" if span is None else f"[{points(span[0])}, {points(span[1])}]"
        lines.append(
            [
                "–" if report["points"] is None else place,
                Cell(name, "name", link=f"{PAGES}/{row['id']}.html", anchor=anchor),
                Cell(points(report["skill"]), "points", aside),
                points(report["points"]),
                points(floor),
                row["team"],
                _setting(row),
                row["day"],
            ]
        )
    title = board.title if track is None else f"{board.title}: {track}"
    return Section(title, [Table("", head, lines, left=2), Paragraph(_NOTE, note=True)])


def _links(boards: Sequence[Board]) -> Table:
    lines: list[list[str | Cell]] = [
        [Cell(board.title, link=board.file), str(len(board.ranked))] for board in boards
    ]
    return Table("", ["intervals, cost against skill, families", "submissions"], lines)


def _not_graded(rows: Mapping[str, Row]) -> list[Block]:
    lines: list[list[str | Cell]] = [
        [Cell(row["id"], "id"), row["team"], row["day"], Cell(row["reason"], "long")]
        for row in rows.values()
        if row["status"] != GRADED
    ]
    return [Table("", ["id", "team", "handed in", "why"], lines, left=4)] if lines else []


def _checking(boards: Sequence[Board]) -> list[Block]:
    found: list[Block] = []
    for board in boards:
        told = board.first["release"]
        found += [
            Paragraph([Strong(f"{board.title}: "), f"SHA-256 of manifest.json {told['sha256']}"]),
            Paragraph(f"causal-exams verify {told['address'] or 'RELEASE'}"),
        ]
    note = (
        "The hash is that of the release's manifest.json, which has the SHA-256 of every file. "
        "Where truth is private, the manifest commits to every row of it, and verify checks that "
        "once it is published. The page of a submission has its own hashes."
    )
    return [*found, Paragraph(note, note=True)] if found else []


def _proof(row: Row, results: str) -> Section:
    """By what a submission's figures can be checked."""
    address = row["release"]["address"]
    told = {
        "submission": row["id"], "team": row["team"], "handed in": row["day"],
        "setting": _setting(row), "SHA-256 of the file": row["submission_sha256"],
        "hash of the answers": row["answers_sha256"],
        "SHA-256 of the release's manifest": row["release"]["sha256"],
        "grader": f"{row['grader']}, {row['grader_sha256']}",
        "row": f"results/{row['id']}.json in {results}",
        "to grade it again": f"causal-exams grade {row['id']}.parquet --release "
        f"{address or 'RELEASE'} --split {row['split']} --exam {row['exam']}",
    }  # fmt: skip
    lines = [Paragraph([Strong(f"{name}: "), value]) for name, value in told.items()]
    return Section("Checking it", lines)


def _style(
    boards: Sequence[Board], tracks: Sequence[str], settings: Sequence[str], days: Sequence[str]
) -> str:
    """What each choice hides: sections without its rows, or rows that are not called after it."""
    views = [f"e-{board.key}" for board in boards] + ["t-all", *(f"t-{name}" for name in tracks)]
    rules = [
        f'main:has([id="{view}"]:checked) section:has([id^="row~"]):not(:has([id*="~{view}~"]))'
        "{display:none}"
        for view in views
    ]
    marks = [*(_id("s", setting) for setting in settings), *(f"d-{day}" for day in days)]
    rules += [
        f'main:has([id="{mark}"]:checked) tr:has([id^="row~"]):not(:has([id*="~{mark}~"]))'
        "{display:none}"
        for mark in marks
    ]
    return "\n".join(["", *rules])


def send(api: "HfApi", repo: str, folder: Path) -> str:
    """Bring the Space to the folder's state, and say what was done; raises ``UsageError``."""
    with explain_hub_errors(repo):
        api.create_repo(repo, repo_type="space", space_sdk="static", exist_ok=True)
        before = api.repo_info(repo, repo_type="space").sha
        commit = api.upload_folder(
            repo_id=repo, folder_path=folder, repo_type="space", commit_message="The board",
            delete_patterns=["*.html", "s/*.html"],
        )  # fmt: skip
    return "nothing to send" if commit.oid == before else f"sent, {commit.commit_url}"
