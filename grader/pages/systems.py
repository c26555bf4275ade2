"""The systems that a screen or a page shows: names, headline figures, and parts of reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.pages.table import Cell, Column
from grader.pages.words import interval_text, number, points
from grader.scoring.model import Score
from grader.scoring.route import READINGS

Report = Mapping[str, Any]
Part = Mapping[str, Any]
"""What a report says of one track, and under ``system`` the name of its system."""

SETTINGS: Final = ("closed", "open", "mixed")
"""The prompt alone and one reply, tools besides, or different ones in different tracks."""

SYSTEM: Final = Column("system", lambda row: Cell(row["system"], "name"))
"""The first column of every table about several systems."""


def in_reading(report: Report, reading: str) -> Report:
    """The report as screens shall read it; what is written as data has both readings."""
    return {**report, "reading": reading}


def reading_of(shown: Sequence[Report | Part]) -> str:
    """The reading that a screen about these reports, or their parts, leads with."""
    return next((one["reading"] for one in shown if "reading" in one), READINGS[0])


def readings_from(first: str) -> list[str]:
    """Both readings, one of them first."""
    return sorted(READINGS, key=lambda reading: reading != first)


def in_pool(score: Score, reading: str) -> str:
    """Where a task counts in a reading, and what it costs there."""
    if reading == "fixed":
        return f"pool {score.pool}, loss {number(score.loss)}"
    return f"pool {score.paper_pool or 'dropped'}, loss {number(score.paper_loss)}"


def name_of(report: Report) -> str:
    """What the submission calls its system, or what tells it from its namesakes: untrusted text.

    The setting stands behind it where it is told.
    """
    submission = report["submission"]
    name = str(submission.get("label", submission["system"]))
    setting = setting_of(submission.get("run", {}))
    return f"{name} · {setting}" if setting else name


def setting_of(run: Mapping[str, Any]) -> str:
    """What a system had at hand, as ``run.json`` states it, itself or among its settings.

    Empty where it says nothing, or something else.
    """
    settings = run.get("settings")
    stated = run.get("setting") or (settings.get("setting") if isinstance(settings, dict) else "")
    return stated if stated in SETTINGS else ""


def headline(figures: Mapping[str, Any], counts: str = "points") -> Cell:
    """Points (or skill, as ``counts`` says) of a report or of a track, with their interval."""
    interval = figures[f"{counts}_interval"]
    # Without points there is nothing for an interval to be about.
    aside = "" if figures[counts] is None or not interval else interval_text(interval, 1)
    return Cell(points(figures[counts]), "points", aside)


def counted_by(reports: Sequence[Report]) -> str:
    """The name of what counts: skill where the exam has floors, else points."""
    return "skill" if any(report["skill"] is not None for report in reports) else "points"


def part_of(report: Report, track: str) -> Part:
    """One report's part; without figures where the exam has nothing of the track.

    ``runs`` are the attempts as complete exams, where there are several.
    """
    about = {"system": name_of(report), "reading": reading_of([report])}
    return {**report["tracks"].get(track, {}), **about, "runs": report.get("attempts")}


def parts_of(reports: Sequence[Report], track: str) -> list[Part]:
    """The parts of those that answer something of the track."""
    parts = [part_of(report, track) for report in reports]
    return [part for part in parts if part.get("attempted")]


def rows_of(parts: Sequence[Part], member: str) -> list[dict[str, Any]]:
    """The rows under one member of each part, each with the name of its system.

    Rows that are listed by name have it as ``level``.
    """
    found = []
    for part in parts:
        rows = part.get(member) or {}
        named = rows.items() if isinstance(rows, Mapping) else (({}, row) for row in rows)
        for name, row in named:
            found.append({**row, "system": part["system"], **({"level": name} if name else {})})
    return found


def is_skipped(report: Report, track: str) -> bool:
    """Whether a submission answers nothing of ``track``, and something of another."""
    tracks = report["tracks"]
    return not tracks[track]["attempted"] and any(one["attempted"] for one in tracks.values())


@dataclass(frozen=True, slots=True)
class Family:
    """What a submission earned in one family: skill where the exam has floors, else points."""

    track: str
    name: str
    value: float
    tasks: int


def families_of(report: Report) -> list[Family]:
    """The families of the tracks that it attempts, weakest first; none of a redacted report."""
    counts = counted_by([report])
    found = [
        Family(track, name, row[counts], row["tasks"])
        for track, part in report["tracks"].items()
        if part["attempted"]
        for name, row in part["slices"].get("family", {}).items()
        if row.get(counts) is not None
    ]
    return sorted(found, key=lambda family: (family.value, family.track, family.name))
