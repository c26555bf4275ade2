"""What a screen leads with in the paper's reading: the figures that tracks give by reading."""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.draw.table import find
from grader.draw.words import interval_text, number
from grader.route import READINGS
from grader.show.systems import Report, reading_of, readings_from
from grader.tracks import TRACKS


@dataclass(frozen=True, slots=True)
class Lead:
    """A figure in the reading that was asked for, its interval (or nothing), and how to read it."""

    label: str
    value: str
    interval: str
    aside: str


def leads(report: Report) -> Iterator[Lead]:
    """The figures that lead in another reading than the usual one; nothing of a redacted report.

    Skill and points are of the usual reading alone: in the other, leaving out could help.
    """
    first, other = readings_from(reading_of([report]))
    if first == READINGS[0]:
        return
    for name, part in report["tracks"].items():
        figure = TRACKS[name].run_figure
        if figure is None or first not in figure.levels:
            continue
        told, beside = (part["readings"].get(reading, {}) for reading in (first, other))
        if (value := told.get(figure.name)) is not None:
            ends = told.get(f"{figure.name}_interval")
            besides = number(find(beside, figure.name), figure.digits)
            yield Lead(
                figure.label,
                number(value, figure.digits),
                interval_text(ends) if ends else "",
                f"{first}, lower is better; {other} {besides}",
            )
