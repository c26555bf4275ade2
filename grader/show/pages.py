"""The pages of the grader: graded submissions, and a comparison of two."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader import __version__
from grader.draw import page as draw
from grader.draw.charts import Dot, DotRow, dot_rows, heat_map
from grader.draw.page import Block, Fold, Paragraph, Section, Strong
from grader.draw.svg import Svg
from grader.draw.words import points, signed, signed_interval
from grader.model import Score, Truth
from grader.show import comparison
from grader.show.leaderboard import Ranked, leaderboard
from grader.show.report import census, runs, tasks, variants
from grader.show.systems import Report, measured, name_of, skipped
from grader.tracks import TRACKS

_FOOTER: Final = (
    f"Graded by causal-exams {__version__}. Points run from 0 to 100, higher is better; losses (↓) "
    "are better when lower. The same answers always give the same page."
)

LOWEST: Final = -100.0
"""What is worse is drawn here."""


def page(ranked: Ranked, title: str, more: Sequence[Section] = ()) -> str:
    """The whole page for one or more graded submissions, best first."""
    reports = [report for _, report in ranked]
    first = reports[0]
    note = (
        "shows from: how far a second, independent system must be away for this exam to "
        "tell them apart (80% power at 5%). compare pairs two systems task by task and sees "
        "smaller differences."
    )
    # How much was answered has a table of its own.
    board = leaderboard(ranked).without("scored", "invalid")
    sections = [
        Section("Leaderboard", [board, Paragraph(note, note=True)]),
        *_headline(reports),
    ]
    for name in first["tracks"]:
        sections.append(Section(f"{name}: points per family", _families(reports, name)))
    for name in first["tracks"]:
        own = TRACKS[name].sections
        sections += own(reports) if own else []
    repeated = [Fold(name_of(r), [runs(r)], len(reports) == 1) for r in reports if "attempts" in r]
    sections.append(Section("Attempts as complete exams", repeated))
    sections.append(Section("What was answered", [census(ranked)]))
    count = "1 submission" if len(reports) == 1 else f"{len(reports)} submissions"
    where = f"split {first['split']}, exam {first['exam']}"
    subtitle = f"{where}: {first['census']['tasks']} tasks, {count}"
    return draw.page(title, subtitle, [*sections, *more], _FOOTER)


def _headline(reports: Sequence[Report]) -> list[Section]:
    """Skill where the exam has floors, and points with the floor drawn beside each."""
    told = "with 95% intervals clustered by instance"
    gained = Section(f"Points, {told}", [_intervals(reports, "points")])
    if not measured(reports):
        return [gained]
    note = (
        "0 is what the best answers earn that look at neither story nor data, 100 is gold; below "
        "0 is worse than knowing nothing. Beside points, ticks mark both ends of the scale."
    )
    skill: list[Block] = [_intervals(reports, "skill"), Paragraph(note, note=True)]
    return [Section(f"Skill, {told}", skill), gained]


def _intervals(reports: Sequence[Report], counts: str) -> Svg:
    """One row a system; a value below the axis is drawn at its end."""
    lows = [report[counts] for report in reports if report[counts] is not None]
    lows += [report[f"{counts}_interval"][0] for report in reports if report[f"{counts}_interval"]]
    start = max(LOWEST, 20.0 * math.floor(min([0.0, *lows]) / 20))
    rows = []
    for report in reports:
        value, interval = report[counts], report[f"{counts}_interval"]
        drawn = interval and [max(start, end) for end in interval]
        dots = [] if value is None else [Dot(0, max(start, value), drawn)]
        ticks = [
            (report[name], f"{name} {points(report[name])}")
            for name in ("floor", "ceiling")
            if counts == "points" and report[name] is not None
        ]
        end = f"no overall {counts}" if value is None else points(value)
        rows.append(DotRow(name_of(report), dots, ticks, end))
    title = f"{counts.capitalize()} of each system with 95% intervals"
    return dot_rows(title, rows, whole=100, start=start)


def _families(reports: Sequence[Report], track: str) -> list[Block]:
    families = [report["tracks"][track]["slices"]["family"] for report in reports]
    # Whoever left a whole track alone did not earn nothing in it.
    cells = [
        [None if skipped(r, track) else found.get(name, {}).get("points") for name in families[0]]
        for r, found in zip(reports, families, strict=True)
    ]
    title = f"{track}: points per family and system"
    found: list[Block] = [heat_map(title, [*map(name_of, reports)], list(families[0]), cells)]
    if len(reports) == 1:
        found.append(Fold("by variant", [variants(track, reports[0]["tracks"][track])]))
    return found


def every_task(scores: Sequence[Score], truths: Mapping[str, Truth]) -> Section:
    """One row per task; ``truths`` is empty unless they are to be revealed."""
    rows = Fold(f"{len(scores):,} rows", [tasks(scores, truths)])
    return Section(f"Every task ({len(scores):,})", [rows])


def comparison_page(result: Mapping[str, Any]) -> str:
    """The page of a comparison."""
    line, unit = comparison.headline(result)
    difference = span = ""
    if line:
        difference = f"{signed(line['difference'])} {unit}"
        span = f"{signed_interval(line['interval'])}: "
    head: list[Block] = [
        Paragraph([Strong(side), f" {result[side]['system']}"]) for side in ("first", "second")
    ]
    head.append(Paragraph([Strong(difference), f" {span}{comparison.verdict(line)}."]))
    told = f"{comparison.answered(result)}. What was left out counts zero."
    head.append(Paragraph(told[0].upper() + told[1:], note=True))
    note = (
        "Intervals resample instances. Shows from: the difference that this exam would show with "
        "80% power at the 5% level."
    )
    sections = [
        Section("First minus second", head),
        *(Section(n, comparison.tables(n, track)) for n, track in result["tracks"].items()),
        Section("How to read this", [Paragraph(note, note=True)]),
    ]
    subtitle = f"split {result['split']}, exam {result['exam']}"
    return draw.page(str(result["release"]), subtitle, sections, _FOOTER)
