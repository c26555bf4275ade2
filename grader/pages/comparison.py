"""A comparison of two submissions: its tables and its verdict, for terminal and page."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from grader.pages.table import Column, Table, figure, word
from grader.pages.words import points, signed, signed_interval
from grader.tracks import TRACKS

Line = Mapping[str, Any]
SAME: Final = 1e-6
SIGN_TEST: Final = "sign test: exact, over instances, ties left out"


def headline(result: Mapping[str, Any]) -> tuple[Line | None, str]:
    """The difference of overall skill (of points, where the exam has no floors), and its unit.

    Of the only track's, where there is one and nothing overall.
    """
    tracks = list(result["tracks"].values())
    for unit in ("skill", "points"):
        found: Line | None = result[unit] or (tracks[0][unit] if len(tracks) == 1 else None)
        if found is not None:
            return found, unit
    return None, ""


def verdict(line: Line | None) -> str:
    """One sentence on the headline: whether the interval leaves zero out."""
    if line is None or line["interval"] is None:
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


def tables(name: str, track: Mapping[str, Any], reading: str) -> list[Table]:
    """Points of a track, whole and in parts, and what the track adds, by ``reading`` first."""
    columns = (
        word("label", ""),
        Column("tasks", lambda row: str(row.get("tasks", ""))),
        figure("first", "first", points),
        figure("second", "second", points),
        figure("difference", "difference", signed),
        figure("interval", "95% interval", signed_interval),
        figure("detectable", "shows from", points),
        Column("win/tie/loss", lambda row: _record(row, "by_task")),
        Column("… by instance", lambda row: _record(row, "by_instance")),
        Column("sign test p", _p_value),
    )
    rows = [{**line, "label": label} for label, line in _lines(track)]
    lines = Table.of(f"{name}: points, first − second", columns, rows, note=SIGN_TEST)
    compared = TRACKS[name].compared
    return [lines, *(compared({**track, "reading": reading}) if compared else [])]


def _lines(track: Mapping[str, Any]) -> Iterator[tuple[str, Line]]:
    """The lines of a track with their labels, the whole first."""
    whole, both = track["tasks"], track["answered_by_both"]
    if track["skill"] is not None:
        yield "skill", track["skill"]
    if abs(track["points"]["difference"] - whole["difference"]) > SAME:
        yield "headline", track["points"]  # a track whose points are no mean of tasks'
    yield "all tasks", whole
    if both and both["tasks"] < whole["tasks"]:
        yield "answered by both", both
    for kind, member in (("family", "families"), ("pool", "pools")):
        for name, line in track.get(member, {}).items():
            yield f"{kind} {name}", line


def _record(line: Line, by: str) -> str:
    """Wins, ties and losses; a dash where a redacted comparison leaves them out."""
    if "tasks" not in line:
        return ""
    return "{wins}/{ties}/{losses}".format(**line[by]) if by in line else "–"


def _p_value(line: Line) -> str:
    """The p-value of the sign test over instances."""
    if "tasks" not in line:
        return ""
    if "by_instance" not in line:
        return "–"
    value = line["by_instance"]["p_value"]
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
