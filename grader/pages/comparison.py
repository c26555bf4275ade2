"""A comparison of two submissions: its verdict and its tables, in the terminal and as a page."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from grader.pages.page import Block, Paragraph, Section, Strong, non_empty, page
from grader.pages.report import SPECIFICATION
from grader.pages.report_page import FOOTER, NOTES
from grader.pages.specification import pages_of
from grader.pages.systems import reading_of
from grader.pages.table import Table
from grader.pages.terminal import TerminalTable, lines_of
from grader.pages.words import interval_text, signed_number
from grader.scoring.track import Tracks

Line = Mapping[str, Any]
_FAMILIES: Final = 8
_UNITS: Final = ("skill", "points")
_NO_HEADLINE: Final = "no overall difference: one of them has no overall points"


def overall_difference(result: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the difference of overall skill with its unit, its interval, and a verdict.

    The difference is of points where the exam has no floors, and of the only track where nothing is
    overall. The first two texts are empty where there is no difference.
    """
    tracks = list(result["tracks"].values())
    lines = ((u, result[u] or (tracks[0][u] if len(tracks) == 1 else None)) for u in _UNITS)
    unit, line = next(((unit, line) for unit, line in lines if line is not None), ("", None))
    if line is None:
        return "", "", _NO_HEADLINE
    difference = f"{signed_number(line['difference'])} {unit}"
    if line["interval"] is None:
        return difference, "–", _NO_HEADLINE
    low, high = line["interval"]
    if low > 0 or high < 0:
        verdict = f"the {'first' if low > 0 else 'second'} is better"
    elif low == high:
        verdict = "no difference at all"
    else:
        least = f"{line['detectable']:.1f}"
        verdict = f"too close to call: this exam detects differences of {unit} from about {least}"
    return difference, interval_text(line["interval"], 1, signed_number), verdict


def answered_text(result: Mapping[str, Any]) -> str:
    """Return how many tasks of the exam both, one or neither answered."""
    counts = result["answered"]
    return (
        f"answered by both {counts['both']}, first only {counts['first_only']}, second only "
        f"{counts['second_only']}, neither {counts['neither']} of {counts['tasks']} tasks"
    )


def _lines(part: Mapping[str, Any]) -> Iterator[tuple[str, Line]]:
    """Yield the lines of a track with their labels, the whole first."""
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


def _tables_by_track(result: Mapping[str, Any], tracks: Tracks) -> dict[str, list[Table]]:
    """Return each track's tables of a comparison's result, by name of the track."""
    found = {}
    for name, part in result["tracks"].items():
        rows = [{**line, "label": label} for label, line in _lines(part)]
        own = pages_of(tracks[name]).compared({**part, "reading": reading_of([result])})
        found[name] = [SPECIFICATION.of_rows("compared", rows, track=name), *own]
    return found


def comparison_view(
    result: Mapping[str, Any], tracks: Tracks, full: bool = False
) -> RenderableType:
    """Return headline, who answered what, and a line a track and for the families that differ most
    for the terminal; ``full`` gives every table instead of these lines."""
    difference, span, verdict = overall_difference(result)
    first_line = Text.assemble(
        (f"{difference} " if difference else "", "bold green"), f"{span}  " if span else "", verdict
    )
    names = " − ".join(result[side]["system"] for side in ("first", "second"))
    title = Text(f"{names} · {result['release']} · {result['split']}/{result['exam']}")
    panel = Panel(Group(first_line, answered_text(result)), title=title, title_align="left")
    if not full:
        hints = (
            "win/tie/loss and p (sign test) count instances, some with several tasks",
            "--full prints every table, --html compared.html writes a page",
        )
        return Group(panel, *map(lines_of, non_empty(*_first_screen(result))), *hints)
    return Group(panel, *map(TerminalTable, chain(*_tables_by_track(result, tracks).values())))


def _first_screen(result: Mapping[str, Any]) -> list[Table]:
    """Return a table with a row a track, and one of up to ``_FAMILIES`` families that differ."""
    tracks = [{**part, "label": name} for name, part in result["tracks"].items()]
    families = [
        {**line, "label": name}
        for part in tracks
        for name, line in part["families"].items()
        if line["difference"]
    ]
    families.sort(key=lambda line: -abs(line["difference"]))
    return [
        SPECIFICATION.of_rows("compared_tracks", tracks),
        SPECIFICATION.of_rows("compared_families", families[:_FAMILIES]),
    ]


def comparison_page(result: Mapping[str, Any], tracks: Tracks) -> str:
    """Return the page of a comparison."""
    difference, span, verdict = overall_difference(result)
    answered = f"A{answered_text(result)[1:]}. What was left out counts zero."
    head: list[Block] = [
        *(Paragraph([Strong(one), f" {result[one]['system']}"]) for one in ("first", "second")),
        Paragraph([Strong(difference), f" {span}: {verdict}." if span else f" {verdict}."]),
        Paragraph(answered, note=True),
    ]
    sections = [
        Section("First minus second", head),
        *(Section(name, some) for name, some in _tables_by_track(result, tracks).items()),
        Section("How to read this", [Paragraph(NOTES["compared"], note=True)]),
    ]
    subtitle = f"split {result['split']}, exam {result['exam']}"
    return page(str(result["release"]), subtitle, sections, FOOTER)
