"""A comparison of two submissions: its verdict and its tables, in the terminal and as a page."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from grader.pages.page import Block, Paragraph, Section, Strong, page
from grader.pages.report import SPECIFICATION
from grader.pages.report_page import FOOTER
from grader.pages.systems import reading_of
from grader.pages.table import Table
from grader.pages.terminal import in_terminal, plain
from grader.pages.words import signed_interval, signed_number
from grader.scoring.track import Track, Tracks

Line = Mapping[str, Any]


def headline(result: Mapping[str, Any]) -> tuple[str, str, str]:
    """The difference of overall skill with its unit, its interval, and what they say.

    Of points, where the exam has no floors; of the only track's, where nothing is overall.
    """
    tracks = list(result["tracks"].values())
    line: Line | None = None
    for unit in ("skill", "points"):
        line = line or result[unit] or (tracks[0][unit] if len(tracks) == 1 else None)
        if line is not None:
            shown = f"{signed_number(line['difference'])} {unit}", signed_interval(line["interval"])
            return *shown, _verdict(line)
    return "", "", "no overall difference: one of them has no overall points"


def _verdict(line: Line) -> str:
    """One sentence on the headline: whether the interval leaves zero out."""
    if line["interval"] is None:
        return "no overall difference: one of them has no overall points"
    low, high = line["interval"]
    if low > 0:
        return "the first is better"
    if high < 0:
        return "the second is better"
    if low == high == 0:
        return "no difference at all"
    shows = line["detectable"]
    return f"too close to call: this exam shows differences from about {shows:.1f} points"


def answered(result: Mapping[str, Any]) -> str:
    """How much of the exam both, one or neither answered."""
    counts = result["answered"]
    return (
        f"answered by both {counts['both']}, first only {counts['first_only']}, second only "
        f"{counts['second_only']}, neither {counts['neither']} of {counts['tasks']} tasks"
    )


def tables(track: Track, part: Mapping[str, Any], reading: str) -> list[Table]:
    """Points of a track, whole and in parts, and what the track adds, by ``reading`` first."""
    rows = [{**line, "label": label} for label, line in _lines(part)]
    own = track.compared({**part, "reading": reading}) if track.compared else []
    return [SPECIFICATION.of_rows("compared", rows, track=track.name), *own]


def _lines(part: Mapping[str, Any]) -> Iterator[tuple[str, Line]]:
    """The lines of a track with their labels, the whole first."""
    whole, both = part["tasks"], part["answered_by_both"]
    if part["skill"] is not None:
        yield "skill", part["skill"]
    if abs(part["points"]["difference"] - whole["difference"]) > 1e-6:
        yield "headline", part["points"]  # a track whose points are no mean of tasks'
    yield "all tasks", whole
    if both and both["tasks"] < whole["tasks"]:
        yield "answered by both", both
    for kind, member in (("family", "families"), ("pool", "pools")):
        for name, line in part.get(member, {}).items():
            yield f"{kind} {name}", line


def comparison_view(result: Mapping[str, Any], tracks: Tracks) -> RenderableType:
    """Headline, who answered what, and the tables of each track."""
    difference, span, verdict = headline(result)
    head = Text.assemble(
        (f"{difference} " if difference else "", "bold green"),
        f"{span}  " if span else "",
        f"{verdict}\n{answered(result)}",
    )
    names = " − ".join(result[side]["system"] for side in ("first", "second"))
    title = f"{names} · {result['release']} · {result['split']}/{result['exam']}"
    shown = [
        table
        for name, part in result["tracks"].items()
        for table in tables(tracks[name], part, reading_of([result]))
    ]
    return Group(Panel(head, title=plain(title), title_align="left"), *map(in_terminal, shown))


def comparison_page(result: Mapping[str, Any], tracks: Tracks) -> str:
    """The page of a comparison."""
    difference, span, verdict = headline(result)
    told = f"{answered(result)}. What was left out counts zero."
    head: list[Block] = [
        *(Paragraph([Strong(one), f" {result[one]['system']}"]) for one in ("first", "second")),
        Paragraph([Strong(difference), f" {span}: {verdict}." if span else f" {verdict}."]),
        Paragraph(told[0].upper() + told[1:], note=True),
    ]
    note = (
        "Intervals resample instances. Shows from: the difference that this exam would show with "
        "80% power at the 5% level."
    )
    sections = [
        Section("First minus second", head),
        *(
            Section(name, tables(tracks[name], part, reading_of([result])))
            for name, part in result["tracks"].items()
        ),
        Section("How to read this", [Paragraph(note, note=True)]),
    ]
    subtitle = f"split {result['split']}, exam {result['exam']}"
    return page(str(result["release"]), subtitle, sections, FOOTER)
