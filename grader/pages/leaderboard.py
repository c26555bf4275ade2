"""The order of several submissions, and the leaderboard as a table for terminal and page."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from grader.pages.systems import SYSTEM, Report, headline, measured, name_of, skill, skipped
from grader.pages.table import Cell, Table
from grader.pages.words import points
from grader.tracks import TRACKS


def rank(reports: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Best skill first, or best points where the exam has no floors.

    Systems share a place where intervals do not tell them apart: a group ends where an interval
    lies wholly below that of the group's first. Whoever has no overall figure comes last.
    """
    counts = "skill" if measured(reports) else "points"

    def key(report: dict[str, Any]) -> tuple[bool, float]:
        value = report[counts]
        return value is None, -(value or 0.0)

    ordered = sorted(reports, key=lambda report: (key(report), report["submission"]["system"]))
    places: list[tuple[int, dict[str, Any]]] = []
    first: dict[str, Any] | None = None
    for position, report in enumerate(ordered, start=1):
        tied = first is not None and not _told_apart(first, report, counts)
        if not tied:
            first = report
        places.append((places[-1][0] if tied else position, report))
    return places


def _told_apart(better: dict[str, Any], worse: dict[str, Any], counts: str) -> bool:
    """Whether an interval lies wholly below another; without intervals, whether values differ."""
    high, low = (report.get(f"{counts}_interval") for report in (better, worse))
    if high is None or low is None:
        return bool(better[counts] != worse[counts])
    return bool(low[1] < high[0])


Ranked = Sequence[tuple[int, Report]]
"""Places and reports, best first; several may share a place."""


def leaderboard(ranked: Ranked, title: str = "Leaderboard") -> Table:
    """Several submissions, best first; by skill, and tracks too, where the exam has floors."""
    reports = [report for _, report in ranked]
    middle = columns(reports)
    group = Counter(place for place, _ in ranked)
    by_skill = measured(reports)
    ahead = ["skill [95% interval]", "points"] if by_skill else ["points [95% interval]"]
    names = [name for name, _ in middle]
    head = ["#", "system", *ahead, "shows from", *names, "scored", "invalid"]
    rows = []
    for position, (place, report) in enumerate(ranked):
        census = report["census"]
        rows.append(
            [
                place_told(place, group[place]),
                SYSTEM.cell({"system": name_of(report)}),
                *([skill(report), points(report["points"])] if by_skill else [headline(report)]),
                points(report["skill_detectable" if by_skill else "detectable"]),
                *(cells[position] for _, cells in middle),
                f"{census['scored']}/{census['tasks']}",
                str(census["invalid"]),
            ]
        )
    return Table(title, head, rows, left=2, note=_copies(reports))


def place_told(first: int, systems: int) -> str:
    """The place of a system, or the places that its group shares."""
    return str(first) if systems == 1 else f"{first}–{first + systems - 1}"


def apart(ranked: Ranked) -> tuple[Ranked, Ranked]:
    """Those that took every track of the exam, and those that left one or more alone."""
    rows: tuple[list[tuple[int, Report]], list[tuple[int, Report]]] = ([], [])
    for place, report in ranked:
        rows[any(skipped(report, name) for name in report["tracks"])].append((place, report))
    return rows


PART: Final = "Systems that did not take every track"


def boards(ranked: Ranked, title: str) -> list[Table]:
    """The leaderboard, and apart from it those that left tracks alone, which have no place."""
    whole, part = apart(ranked)
    tables = [leaderboard(whole, title)] if whole else []
    return [*tables, *([leaderboard(part, PART).without("#")] if part else [])]


SCREEN: Final = 80
"""Characters of a line that every terminal has."""


def first_screen(tables: Sequence[Table], tracks: Collection[str]) -> list[Table]:
    """What of the boards fits on a line: place, system, the headline, and a column a track."""
    shown = []
    for table in tables:
        kept = {"#", "system", *tracks, *(h for h in table.head if "95% interval" in h)}
        narrow = table.without(*(name for name in table.head if name not in kept))
        shown.append(narrow.fitted(SCREEN, "system"))
    return shown


def failures(failed: Sequence[tuple[str, str]]) -> Table:
    """Submissions that could not be graded, by name, and why."""
    rows = [[Cell(name, "name"), Cell(reason, "long")] for name, reason in failed]
    return Table("Failed", ["submission", "why"], rows, left=2)


def _copies(reports: Sequence[Report]) -> str:
    """Which submissions hold the very same answers; nothing to say of those without a valid one."""
    same: dict[str, list[str]] = {}
    for report in reports:
        digest = report["submission"].get("answers_sha256", "")
        if digest and report["census"]["scored"]:
            same.setdefault(digest, []).append(name_of(report))
    return " ".join(f"Equal answers: {', '.join(names)}." for names in same.values() if names[1:])


def columns(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Headings and cells: skill (or points) by track where there are several, what tracks add, and
    cost.

    A track without columns of its own has those of its families, where it is the only one. What
    a submission leaves alone while it attempts others has a dash, as its overall points have.
    """
    tracks = list(reports[0]["tracks"])
    # Whoever left a track alone has no overall skill, but has one where it answered.
    scaled = any(r["tracks"][name].get("skill") is not None for r in reports for name in tracks)
    counts = "skill" if scaled else "points"
    found = []
    if len(tracks) > 1:
        for name in tracks:
            parts = [None if skipped(r, name) else r["tracks"][name][counts] for r in reports]
            found.append((name, [points(value) for value in parts]))
    for name in tracks:
        track = TRACKS[name]
        if track.board_columns is not None:
            found += track.board_columns(reports)
        elif len(tracks) == 1:
            slices = [report["tracks"][name]["slices"].get("family", {}) for report in reports]
            found += [
                (f, [points(row.get(f, {}).get("points")) for row in slices]) for f in slices[0]
            ]
    if any("sessions" in report["submission"] for report in reports):
        found.append(("sessions/task", [_sessions(report["submission"]) for report in reports]))
    return [*found, ("tok/task", [tokens(report["usage"]) for report in reports])]


def _sessions(submission: Mapping[str, Any]) -> str:
    """How many sessions were started per task: what is best of many shows."""
    counted = submission.get("sessions")
    if counted is None:
        return "–"
    mean = counted["started"] / counted["tasks"]
    return f"{mean:.1f}, most {counted['most']}"


def tokens_per_task(usage: Mapping[str, Any]) -> float | None:
    """Mean tokens per task, in and out; ``None`` where nothing was reported."""
    if usage["input_tokens"] is None and usage["output_tokens"] is None:
        return None
    return float((usage["input_tokens"] or 0) + (usage["output_tokens"] or 0))


def tokens(usage: Mapping[str, Any]) -> str:
    """Mean tokens per task, as ``12.9k``; a dash where nothing was reported."""
    mean = tokens_per_task(usage)
    return "–" if mean is None else f"{mean / 1000:.1f}k"
