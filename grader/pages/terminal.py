"""Reports and comparisons in the terminal. Untrusted text is shown as text, never as markup."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from grader.pages import comparison
from grader.pages.report import leads, runs, variants
from grader.pages.systems import (
    Report,
    families_of,
    headline,
    measured,
    name_of,
    reading_of,
    skill,
    skipped,
)
from grader.pages.table import in_terminal
from grader.pages.words import count, points, printable, signed, signed_interval
from grader.tracks import TRACKS

_TRACKS: Final = 6
_EXTREMES: Final = 3
"""Families on either side."""
_TOLD: Final = 4
"""Reasons and endings that are counted in words."""


def first_screen(report: Report, next_steps: Sequence[str] = ()) -> RenderableType:
    """At most 24 lines of 80 columns: headline, tracks, families, census, what to do next.

    What does not fit on its line ends in dots.
    """
    title = f"{name_of(report)} · {report['release']['name']} · {report['split']}/{report['exam']}"
    head: RenderableType = Text(printable(title), "bold", overflow="ellipsis", no_wrap=True)
    parts = [head, _heads(report), Text(), _tracks(report), *_extremes(report), Text()]
    return Group(*parts, _lines([*_census(report), *_steps(next_steps)]))


def _heads(report: Report) -> Grid:
    """Skill and points with their intervals, and how to read them."""
    rows = [(lead.label, f"{lead.value}  {lead.interval}", lead.aside) for lead in leads(report)]
    if report["skill"] is not None:
        rows.append(("skill", str(skill(report)), "0 knows nothing, 100 is gold"))
    told = []
    if report["floor"] is not None:
        told.append(f"floor {points(report['floor'])}")
    if (
        detectable := report["skill_detectable" if report["skill"] is not None else "detectable"]
    ) is not None:
        told.append(f"shows from {detectable:.1f}")
    if report["points"] is None and (left := [n for n in report["tracks"] if skipped(report, n)]):
        told.append(f"nothing overall: nothing answered of {', '.join(left)}")
    rows.append(("points", str(headline(report)), ", ".join(told)))
    styles = ("bold", "bold green", "dim")
    return _grid(
        [[Text(text, style) for text, style in zip(row, styles, strict=True)] for row in rows]
    )


def _tracks(report: Report) -> Grid:
    """A line a track: skill and points with intervals, floor, and how much was answered."""
    tracks = report["tracks"]
    scaled = any(part["skill"] is not None for part in tracks.values())
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    grid.add_column("track", no_wrap=True, max_width=18)
    for name in (*(["skill [95%]"] if scaled else []), "points [95%]"):
        grid.add_column(name, no_wrap=True)
    for name in (*(["floor"] if scaled else []), "answered"):
        grid.add_column(name, justify="right", no_wrap=True)
    shown_tracks = len(tracks) if len(tracks) <= _TRACKS else _TRACKS - 1
    for name, part in list(tracks.items())[:shown_tracks]:
        own = [str(skill(part)), str(headline(part)), points(part["floor"])]
        if skipped(report, name):
            own = ["–"] * 3
        shown = own if scaled else own[1:2]
        grid.add_row(printable(name), *map(Text, shown), f"{part['attempted']}/{part['tasks']}")
    if shown_tracks < len(tracks):
        grid.add_row(f"… {len(tracks) - shown_tracks} more")
    return grid


def _extremes(report: Report) -> Iterator[RenderableType]:
    """The weakest and the strongest families beside each other; nothing of a redacted report."""
    ranked = families_of(report)
    half = min(_EXTREMES, len(ranked) // 2)
    if not half:
        return
    yield Text()
    counts = "skill" if measured([report]) else "points"
    names = Counter(family.name for family in ranked)
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for side in ("weakest", "strongest"):
        grid.add_column(f"{side} families", max_width=26, overflow="ellipsis", no_wrap=True)
        grid.add_column(counts, justify="right", no_wrap=True)
        grid.add_column("n", justify="right", no_wrap=True)
    for low, high in zip(ranked[:half], reversed(ranked[-half:]), strict=True):
        row: list[Text | str] = []
        for family in (low, high):
            name = family.name if names[family.name] == 1 else f"{family.track} {family.name}"
            row += [Text(printable(name)), points(family.value), str(family.tasks)]
        grid.add_row(*row)
    yield grid


def _census(report: Report) -> Iterator[tuple[str, str]]:
    """How much was answered, why the rest is invalid, how conversations ended, what to remark."""
    census = report["census"]
    told = f"of {census['tasks']} tasks {census['scored']} scored, {census['missing']} missing"
    reasons = _counts(census["invalid_reasons"])
    told += f", {census['invalid']} invalid"
    yield "answers", told + (f": {reasons}" if reasons else "")
    if endings := report.get("endings"):
        yield "endings", _counts(endings)
    if notices := report["notices"]:
        more = f"{len(notices)} notes: " if len(notices) > 1 else ""
        yield "note", more + notices[0]


def _counts(found: Mapping[str, Any]) -> str:
    """Names and how often, the most frequent first; a few of them."""
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{name} {count(number)}" for name, number in ranked[:_TOLD]]
    return ", ".join([*told, *(["…"] if ranked[_TOLD:] else [])])


def _steps(steps: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, step in enumerate(steps):
        yield "" if place else "next", step


def _lines(lines: Sequence[tuple[str, str]]) -> Grid:
    return _grid([[Text(label, "bold"), Text(printable(told))] for label, told in lines])


def _grid(rows: Sequence[Sequence[Text]]) -> Grid:
    """Rows of one line each; only the last column is cut."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    *ahead, _ = zip(*rows, strict=True)
    for column in ahead:
        grid.add_column(no_wrap=True, min_width=max(map(len, column)))
    grid.add_column(no_wrap=True, overflow="ellipsis")
    for row in rows:
        grid.add_row(*row)
    return grid


_NOTICES: Final = 5
_PIPE: Final = 160


def plain(text: str) -> Text:
    """``text`` from a submission: no markup, control characters made visible."""
    return Text(printable(text), overflow="fold")


def report_view(report: Report) -> RenderableType:
    """All there is to say of one submission: the tables of each track, attempts, notes."""
    parts: list[RenderableType] = []
    for name, track in report["tracks"].items():
        tables = TRACKS[name].tables
        more = tables(report) if tables else []
        parts += map(in_terminal, [variants(name, track, reading_of([report])), *more])
    if "attempts" in report:
        parts.append(in_terminal(runs(report)))
    for notice in report["notices"][:_NOTICES]:
        parts.append(Text.assemble(("note: ", "yellow"), plain(notice)))
    if len(report["notices"]) > _NOTICES:
        more_notes = len(report["notices"]) - _NOTICES
        parts.append(Text(f"… and {more_notes} more notes in --json", "yellow"))
    return Group(*parts)


def comparison_view(result: Mapping[str, Any]) -> RenderableType:
    """Headline, who answered what, and the tables of each track."""
    line, unit = comparison.headline(result)
    head = Text.assemble(
        (f"{signed(line['difference'])} {unit} " if line else "", "bold green"),
        f"{signed_interval(line['interval'])}  " if line else "",
        f"{comparison.verdict(line)}\n{comparison.answered(result)}",
    )
    names = " − ".join(result[side]["system"] for side in ("first", "second"))
    title = f"{names} · {result['release']} · {result['split']}/{result['exam']}"
    tables = [
        table
        for name, track in result["tracks"].items()
        for table in comparison.tables(name, track, reading_of([result]))
    ]
    return Group(_panel(head, title), *map(in_terminal, tables))


def _panel(head: Text, title: str) -> Panel:
    return Panel(head, title=plain(title), title_align="left")


def console(*, stderr: bool = False) -> Console:
    """The console all commands print to; in a file or a pipe as wide as ``COLUMNS`` says, else wide
    enough for most tables."""
    target = Console(stderr=stderr, highlight=False)
    if not target.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        target = Console(stderr=stderr, highlight=False, width=_PIPE)
    return target
