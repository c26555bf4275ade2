"""Several submissions: their order, the leaderboard for terminal and page, and the page."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from grader.pages.charts import cost_cloud, dots
from grader.pages.page import Block, Fold, Paragraph, Section, page
from grader.pages.report import census, runs
from grader.pages.report_page import DRAWN, FOOTER, NOTES, tokens_per_task, track_section
from grader.pages.specification import pages_of
from grader.pages.svg import Svg
from grader.pages.systems import Report, counted_by, figure_cell, is_skipped, name_of
from grader.pages.table import Cell, Table
from grader.pages.terminal import fit_column
from grader.pages.words import points
from grader.scoring.track import Tracks

LOWEST: Final = -100.0
"""Worse values are drawn here."""
PART: Final = "Systems that did not take every track"
SCREEN: Final = 80
"""Characters of a line that every terminal has."""

Ranked = Sequence[tuple[int, Report]]
"""Places and reports, best first. Several may share a place."""


def rank(reports: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Return places and reports, best skill first, or best points where the exam has no floors.

    Systems share a place where intervals do not tell them apart: a group ends where an interval
    lies wholly below that of the group's first. Whoever has no overall figure comes last.
    """
    counts = counted_by(reports)

    def key(report: dict[str, Any]) -> tuple[bool, float, str]:
        value = report[counts]
        return value is None, -(value or 0.0), report["submission"]["system"]

    ordered = sorted(reports, key=key)
    place = 1
    places = []
    for position, report in enumerate(ordered, start=1):
        if _is_apart(ordered[place - 1], report, counts):
            place = position
        places.append((place, report))
    return places


def _is_apart(first: Report, report: Report, counts: str) -> bool:
    high, low = (one.get(f"{counts}_interval") for one in (first, report))
    if high is None or low is None:  # values that differ are told apart
        return bool(first[counts] != report[counts])
    return bool(low[1] < high[0])


def place_texts(ranked: Ranked) -> list[str]:
    """Return the place of each system, or the places that its group shares, such as ``2–4``."""
    sizes = Counter(place for place, _ in ranked)
    return [str(k) if sizes[k] == 1 else f"{k}–{k + sizes[k] - 1}" for k, _ in ranked]


def leaderboard(ranked: Ranked, tracks: Tracks, title: str = "Leaderboard") -> Table:
    """Return the table of several submissions, best first."""
    reports = [report for _, report in ranked]
    counts = counted_by(reports)
    detectable = "skill_detectable" if counts == "skill" else "detectable"
    census = [report["census"] for report in reports]
    found: list[tuple[str, Sequence[str | Cell]]] = [
        ("#", place_texts(ranked)),
        ("system", [Cell(name_of(report), "name") for report in reports]),
        (f"{counts} [95% interval]", [figure_cell(report, counts) for report in reports]),
    ]
    if counts == "skill":
        found.append(("points", [points(report["points"]) for report in reports]))
    found += [
        ("detects from", [points(report[detectable]) for report in reports]),
        *columns(reports, tracks),
        ("scored", [f"{counted['scored']}/{counted['tasks']}" for counted in census]),
        ("invalid", [str(counted["invalid"]) for counted in census]),
    ]
    head, cells = zip(*found, strict=True)
    return Table(title, head, list(zip(*cells, strict=True)), left=2, note=_copies(reports))


def boards(ranked: Ranked, tracks: Tracks, title: str) -> tuple[list[Table], list[Table]]:
    """Return the board of those who took every track, that of others; each [] or one table."""
    complete = [one for one in ranked if _took_all(one[1])]
    partial = [one for one in ranked if not _took_all(one[1])]
    return (
        [leaderboard(complete, tracks, title)] if complete else [],
        [leaderboard(partial, tracks, PART).without_columns("#")] if partial else [],
    )


def _took_all(report: Report) -> bool:
    return not any(is_skipped(report, name) for name in report["tracks"])


def first_screen(tables: Sequence[Table], tracks: Collection[str]) -> list[Table]:
    """Return the boards with place, system, headline and a column a track, to fit on a line."""
    shown = []
    for table in tables:
        kept = {"#", "system", *tracks, *(h for h in table.head if "95% interval" in h)}
        narrow = table.pick([k for k, heading in enumerate(table.head) if heading in kept])
        shown.append(fit_column(narrow, SCREEN, "system"))
    return shown


def _copies(reports: Sequence[Report]) -> str:
    """Return a sentence for each group with equal, valid answers, "" without any."""
    same: dict[str, list[str]] = {}
    for report in reports:
        digest = report["submission"].get("answers_sha256", "")
        if digest and report["census"]["scored"]:
            same.setdefault(digest, []).append(name_of(report))
    return " ".join(f"Equal answers: {', '.join(names)}." for names in same.values() if names[1:])


def columns(reports: Sequence[Report], tracks: Tracks) -> list[tuple[str, list[str]]]:
    """Return the columns of a ranking, each a heading and cells by report: skill (else points) by
    track, what tracks add (a lone one by default its families), sessions and tokens per task."""
    names = list(reports[0]["tracks"])
    counts = counted_by(reports)
    found = []
    for name in names if len(names) > 1 else ():
        parts = [None if is_skipped(r, name) else r["tracks"][name][counts] for r in reports]
        found.append((name, [points(value) for value in parts]))
    for name in names:
        own = pages_of(tracks[name]).board_columns
        if own is not None:
            found += own(reports)
        elif len(names) == 1:
            slices = [report["tracks"][name]["slices"].get("family", {}) for report in reports]
            found += [
                (f, [points(row.get(f, {}).get("points")) for row in slices]) for f in slices[0]
            ]
    sessions = [report["submission"].get("sessions") for report in reports]
    if any(sessions):
        cells = [
            f"{own['started'] / own['tasks']:.1f}, most {own['most']}" if own else "–"
            for own in sessions
        ]
        found.append(("sessions/task", cells))
    tokens = [tokens_per_task(report["usage"]) for report in reports]
    return [*found, ("tok/task", ["–" if n is None else f"{n / 1000:.1f}k" for n in tokens])]


def board_page(
    ranked: Ranked,
    tracks: Tracks,
    title: str,
    more: Sequence[Section] = (),
    ahead: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page of several submissions. ``ahead`` are links to where it belongs."""
    reports = [report for _, report in ranked]
    first, complete = reports[0], [report for report in reports if _took_all(report)]
    # How much was answered has a table of its own.
    ranking, others = (
        [table.without_columns("scored", "invalid") for table in some]
        for some in boards(ranked, tracks, "")
    )
    sections = [
        Section("Leaderboard", [*ranking, Paragraph(NOTES["ties"], note=True)] if ranking else []),
        Section(PART, others),
        _headline_pictures(complete),
        Section("Cost against skill", _cost(complete)),
        *(track_section(tracks[name], reports) for name in first["tracks"]),
        Section("Attempts as complete exams",
                [Fold(name_of(report), [runs(report, tracks)]) for report in reports
                 if "attempts" in report]),
        Section("What was answered", [census(reports)]),
        *more,
    ]  # fmt: skip
    counted = "1 submission" if len(reports) == 1 else f"{len(reports)} submissions"
    where = f"split {first['split']}, exam {first['exam']}"
    subtitle = f"{where}: {first['census']['tasks']} tasks, {counted}"
    return page(title, subtitle, sections, FOOTER, contents=True, ahead=ahead)


def _headline_pictures(reports: Sequence[Report]) -> Section:
    """Return skill where the exam has floors, and points with the floor beside each, drawn."""
    shown = list(dict.fromkeys((counted_by(reports), "points"))) if reports else []
    blocks: list[Block] = [_intervals(reports[:DRAWN], counts) for counts in shown]
    blocks += [Paragraph(NOTES["scale"], note=True)] if "skill" in shown else []
    title = " and ".join(shown).capitalize()
    return Section(f"{title}, with 95% intervals clustered by instance", blocks)


def _intervals(reports: Sequence[Report], counts: str) -> Svg:
    """Draw one row a system. A value below the axis is drawn at its end."""
    lows = [report[counts] for report in reports if report[counts] is not None]
    lows += [report[f"{counts}_interval"][0] for report in reports if report[f"{counts}_interval"]]
    start = max(LOWEST, 20.0 * math.floor(min([0.0, *lows]) / 20))
    rows = []
    for report in reports:
        value, interval = report[counts], report[f"{counts}_interval"]
        floor = report["floor"] if counts == "points" else None
        rows.append({
            "name": name_of(report),
            "value": value if value is None else max(start, value),
            "interval": interval and [max(start, end) for end in interval],
            "tick": None if floor is None else (floor, f"floor {points(floor)}"),
            "end": f"no overall {counts}" if value is None else points(value),
        })  # fmt: skip
    return dots(f"{counts.capitalize()} of each system", rows, 100, start)


def _cost(reports: Sequence[Report]) -> list[Block]:
    """Draw the cost of a task against what was earned, in money where all tell it, else tokens."""
    counts = counted_by(reports)
    priced = [report for report in reports if report[counts] is not None]
    money = all(report["usage"]["cost_usd"] for report in priced)
    spots = []
    for report in priced:
        cost = report["usage"]["cost_usd"] if money else tokens_per_task(report["usage"])
        spots += [(name_of(report), cost, report[counts])] if cost else []
    if not spots:
        return []
    unit = "US$ per task" if money else "tokens per task"
    front: list[tuple[float, float]] = []
    for _, cost, value in sorted(spots, key=lambda spot: (spot[1], -spot[2])):
        if not front or value > front[-1][1]:
            front.append((cost, value))
    picture = cost_cloud("cost against skill", unit, counts, spots[:DRAWN], front)
    return [picture, Paragraph(NOTES["front"], note=True)]
