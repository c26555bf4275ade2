"""The leaderboard as a table, for terminal and page, with the columns of the exam's tracks."""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.draw.table import Cell, Table
from grader.draw.words import points
from grader.show.systems import SYSTEM, Report, headline, measured, name_of, skill, skipped
from grader.tracks import TRACKS

Ranked = Sequence[tuple[int, Report]]
"""Places and reports, best first; several may share a place."""


def leaderboard(ranked: Ranked, title: str = "Leaderboard") -> Table:
    """Several submissions, best first; by skill, and tracks too, where the exam has floors."""
    reports = [report for _, report in ranked]
    middle = columns(reports)
    by_skill = measured(reports)
    ahead = ["skill [95% interval]", "points"] if by_skill else ["points [95% interval]"]
    head = ["#", "system", *ahead, "shows from", *(name for name, _ in middle)]
    rows = []
    for position, (place, report) in enumerate(ranked):
        census = report["census"]
        rows.append(
            [
                str(place),
                SYSTEM.cell({"system": name_of(report)}),
                *([skill(report), points(report["points"])] if by_skill else [headline(report)]),
                points(report["skill_detectable" if by_skill else "detectable"]),
                *(cells[position] for _, cells in middle),
                f"{census['scored']}/{census['tasks']}",
                str(census["invalid"]),
            ]
        )
    return Table(title, [*head, "scored", "invalid"], rows, left=2, note=_copies(reports))


def failures(failed: Sequence[tuple[str, str]]) -> Table:
    """Submissions that could not be graded, by name, and why."""
    rows = [[Cell(name, "name"), Cell(reason, "long")] for name, reason in failed]
    return Table("Failed", ["submission", "why"], rows, left=2)


def _copies(reports: Sequence[Report]) -> str:
    """Which submissions hold the very same answers; nothing to say of those without any."""
    same: dict[str, list[str]] = {}
    for report in reports:
        digest = report["submission"].get("answers_sha256", "")
        if digest and report["census"]["missing"] < report["census"]["tasks"]:
            same.setdefault(digest, []).append(name_of(report))
    return " ".join(f"Equal answers: {', '.join(names)}." for names in same.values() if names[1:])


def columns(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Headings and cells: skill (or points) by track where there are several, what tracks add, and
    cost.

    A track without columns of its own has those of its families, where it is the only one. What
    a submission leaves alone while it attempts others has a dash, as its overall points have.
    """
    tracks = list(reports[0]["tracks"])
    counts = "skill" if measured(reports) else "points"
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


def tokens(usage: Mapping[str, Any]) -> str:
    """Mean tokens per task, in and out, as ``12.9k``; a dash where nothing was reported."""
    if usage["input_tokens"] is None and usage["output_tokens"] is None:
        return "–"
    total = (usage["input_tokens"] or 0) + (usage["output_tokens"] or 0)
    return f"{total / 1000:.1f}k"
