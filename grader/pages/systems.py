"""The systems that a screen or a page shows: names, headline figures, and parts of reports."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from grader.pages.table import Cell, find
from grader.pages.words import clip_text, interval_text, number, points
from grader.scoring.model import Score
from grader.scoring.route import READINGS

Report = Mapping[str, Any]
Part = Mapping[str, Any]
"""A track's part of a report, and under ``system`` the name of its system."""

SETTINGS: Final = ("closed", "open", "mixed")
"""The prompt alone and one reply, tools besides, or different ones in different tracks."""

FEW: Final = 10
"""A family of fewer tasks has a figure that says little."""
SYSTEM: Final = "system"
"""Key, and heading, of the first column of every table about several systems."""


def in_reading(report: Report, reading: str) -> Report:
    """Return the report as screens shall read it. What is written as data has both readings."""
    return {**report, "reading": reading}


def reading_of(shown: Sequence[Report | Part]) -> str:
    """Return the reading that a screen about these reports, or their parts, leads with."""
    return next((one["reading"] for one in shown if "reading" in one), READINGS[0])


def readings_from(first: str) -> list[str]:
    """Return both readings, one of them first."""
    return sorted(READINGS, key=lambda reading: reading != first)


def in_pool(score: Score, reading: str) -> str:
    """Return in words the pool in which a task counts in a reading, and its loss there."""
    if reading == "fixed":
        return f"pool {score.pool}, loss {number(score.loss)}"
    return f"pool {score.paper_pool or 'dropped'}, loss {number(score.paper_loss)}"


def name_of(report: Report) -> str:
    """Return the system's name, or its label among namesakes, and its setting: untrusted text."""
    submission = report["submission"]
    name = str(submission.get("label", submission["system"]))
    setting = setting_of(submission.get("run", {}))
    return f"{name} · {setting}" if setting else name


def partial_text(report: Report) -> str:
    """Return ``PARTIAL`` and how much of the exam a run took, or "" for a whole run."""
    partial = report["submission"]["run"].get("partial")
    return f"PARTIAL ({clip_text(partial, 40)}) · " if isinstance(partial, str) else ""


def setting_of(run: Mapping[str, Any]) -> str:
    """Return the setting (one of ``SETTINGS``) in ``run.json`` or its settings, else ""."""
    settings = run.get("settings")
    stated = run.get("setting") or (settings.get("setting") if isinstance(settings, dict) else "")
    return stated if stated in SETTINGS else ""


def cell_within(text: str, ends: Sequence[float] | None, *how: Any) -> Cell:
    """Return a cell of a figure with its interval beside it, if any, ``how`` as in
    :func:`interval_text`."""
    return Cell(text, aside=interval_text(ends, *how) if ends else "")


def figure_cell(figures: Mapping[str, Any], counts: str = "points") -> Cell:
    """Return points or skill (``counts``) of a report or a track, with the interval if any."""
    # Without points there is nothing for an interval to be about.
    ends = None if figures[counts] is None else figures[f"{counts}_interval"]
    return replace(cell_within(points(figures[counts]), ends, 1), kind="points")


def counted_by(reports: Sequence[Report]) -> str:
    """Return the name of the figure that ranks: skill where the exam has floors, else points.

    Whoever left a track alone has no overall skill, but has one where it answered.
    """
    parts = [part for r in reports for part in (r, *r.get("tracks", {}).values())]
    return "skill" if any(part.get("skill") is not None for part in parts) else "points"


def part_of(report: Report, track: str) -> Part:
    """Return a track's part of a report (no figures if absent); ``runs`` are its attempts, and
    ``size`` is what ``run.json`` states of the model's, untrusted."""
    about = {"system": name_of(report), "reading": reading_of([report])}
    size = report["submission"].get("run", {}).get("billion_parameters")
    own = report["tracks"].get(track, {})
    return {**own, **about, "size": size, "runs": report.get("attempts")}


def rows_of(parts: Sequence[Part], member: str) -> list[dict[str, Any]]:
    """Return the rows at a dotted path of each part, with ``system`` and, if named, ``level``."""
    found = []
    for part in parts:
        rows = find(part, *member.split(".")) or {}
        named = rows.items() if isinstance(rows, Mapping) else (({}, row) for row in rows)
        for name, row in named:
            found.append({**row, "system": part.get("system"), **({"level": name} if name else {})})
    return found


def parts_with(parts: Sequence[Part], path: str) -> list[Part]:
    """Return the parts that have something at the end of a dotted path; all for ""."""
    return [part for part in parts if not path or find(part, *path.split("."))]


def is_skipped(report: Report, track: str) -> bool:
    """Return whether a submission answers nothing of ``track``, and something of another."""
    tracks = report["tracks"]
    return not tracks[track]["attempted"] and any(one["attempted"] for one in tracks.values())


class Family(NamedTuple):
    """The skill of a submission in one family, or its points where the exam has no floors."""

    value: float
    track: str
    name: str
    tasks: int


def families_of(report: Report) -> list[Family]:
    """Return the families of attempted tracks with ``FEW`` tasks or more, weakest first; none of a
    redacted report."""
    counts = counted_by([report])
    return sorted(
        Family(row[counts], track, name, row["tasks"])
        for track, part in report["tracks"].items()
        if part["attempted"]
        for name, row in part["slices"].get("family", {}).items()
        if row.get(counts) is not None and row["tasks"] >= FEW
    )
