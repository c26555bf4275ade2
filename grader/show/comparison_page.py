"""A comparison of two submissions as one self-contained page."""

from collections.abc import Mapping
from typing import Any

from grader.draw.svg import text
from grader.show.comparison import (
    HEADINGS,
    cells,
    reading_cells,
    rows_of,
    signed,
    single_track,
    span,
    verdict,
)
from grader.show.html import document
from grader.show.table import table


def comparison_page(result: Mapping[str, Any]) -> str:
    """The whole page; every name in it is escaped."""
    names = [text(str(result[side]["system"]), 80) for side in ("first", "second")]
    answered = result["answered"]
    points = result["points"] or single_track(result)
    difference = ""
    if points:
        difference = f"<b>{signed(points['difference'])} points</b> {span(points['interval'])}: "
    head = (
        f"<p>first: <b>{names[0]}</b><br>second: <b>{names[1]}</b></p>"
        f"<p>{difference}{text(verdict(points))}.</p>"
        f'<p class="note">Answered by both {answered["both"]}, by the first only '
        f"{answered['first_only']}, by the second only {answered['second_only']}, by neither "
        f"{answered['neither']} of {answered['tasks']} tasks. What was left out counts zero.</p>"
    )
    sections = [("First minus second", head)]
    for name, track in result["tracks"].items():
        rows = [[text(label, 80), *map(text, cells(line))] for label, line in rows_of(track)]
        content = table(["", *HEADINGS], rows, left=1)
        if track.get("readings"):
            scores = [
                [f"CausalDSScore ↓, {text(reading)}", *reading_cells(row["causalds_score"])]
                for reading, row in track["readings"].items()
                if row["causalds_score"] is not None
            ]
            columns = ["reading", "first", "second", "difference", "95% interval", "shows from"]
            content += table(columns, scores, left=1)
        sections.append((name, content))
    note = (
        '<p class="note">Intervals resample instances. Shows from: the difference that this exam '
        "would show with 80% power at the 5% level. Sign test: exact, over instances, ties left "
        "out.</p>"
    )
    sections.append(("How to read this", note))
    subtitle = f"split {text(result['split'])}, exam {text(result['exam'])}"
    return document(str(result["release"]), subtitle, sections)
