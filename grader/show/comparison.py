"""A comparison of two submissions as terminal tables."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from grader.show.words import number, plain

Line = Mapping[str, Any]
SAME: Final = 1e-6


def signed(value: float | None, digits: int = 1) -> str:
    """A difference with its sign; a dash where there is none."""
    return "–" if value is None else f"{_unsigned_zero(value, digits):+.{digits}f}"


def span(interval: Sequence[float] | None, digits: int = 1) -> str:
    """An interval of differences; a dash where there is none."""
    if interval is None:
        return "–"
    low, high = (_unsigned_zero(bound, digits) for bound in interval)
    return f"[{low:+.{digits}f}, {high:+.{digits}f}]"


def _unsigned_zero(value: float, digits: int) -> float:
    """``value`` as it is printed, but never -0.0."""
    return round(value, digits) + 0.0


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


def record(line: Line, by: str = "by_task") -> str:
    """Wins, ties and losses; a dash where a redacted comparison leaves them out."""
    if by not in line:
        return "–"
    return f"{line[by]['wins']}/{line[by]['ties']}/{line[by]['losses']}"


def p_value(line: Line, by: str = "by_instance") -> str:
    """The p-value of the sign test."""
    if by not in line:
        return "–"
    value = line[by]["p_value"]
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def comparison_view(result: Mapping[str, Any]) -> RenderableType:
    """Headline, who answered what, and one table a track."""
    names = [result[side]["system"] for side in ("first", "second")]
    answered = result["answered"]
    points = result["points"]
    head = Text.assemble(
        (f"{signed(points['difference'])} points " if points else "", "bold green"),
        f"{span(points['interval'])}  " if points else "",
        verdict(points or single_track(result)),
        f"\nanswered by both {answered['both']}, first only {answered['first_only']}, second only "
        f"{answered['second_only']}, neither {answered['neither']} of {answered['tasks']} tasks",
    )
    title = plain(
        f"{names[0]} − {names[1]} · {result['release']} · {result['split']}/{result['exam']}"
    )
    parts: list[RenderableType] = [Panel(head, title=title, title_align="left")]
    for name, track in result["tracks"].items():
        parts.append(_lines(name, track))
        if track.get("readings"):
            parts.append(_readings(track["readings"]))
    return Group(*parts)


def single_track(result: Mapping[str, Any]) -> Line | None:
    """The headline of the only track there is."""
    tracks = list(result["tracks"].values())
    return tracks[0]["points"] if len(tracks) == 1 else None


def rows_of(track: Mapping[str, Any]) -> list[tuple[str, Line]]:
    """The lines of a track with their labels, the whole first."""
    rows = [("all tasks", track["tasks"])]
    if abs(track["points"]["difference"] - track["tasks"]["difference"]) > SAME:
        rows.insert(0, ("headline", track["points"]))  # a track whose points are no mean of tasks'
    if track["answered_by_both"] and track["answered_by_both"]["tasks"] < track["tasks"]["tasks"]:
        rows.append(("answered by both", track["answered_by_both"]))
    rows += [(f"family {name}", line) for name, line in track["families"].items()]
    rows += [(f"pool {name}", line) for name, line in track.get("pools", {}).items()]
    return rows


HEADINGS = (
    "tasks", "first", "second", "difference", "95% interval", "shows from", "win/tie/loss",
    "… by instance", "sign test p",
)  # fmt: skip


def cells(line: Line) -> list[str]:
    """One line under :data:`HEADINGS`."""
    return [
        str(line.get("tasks", "")),
        number(line["first"], 1),
        number(line["second"], 1),
        signed(line["difference"]),
        span(line["interval"]),
        number(line["detectable"], 1),
        record(line) if "tasks" in line else "",
        record(line, "by_instance") if "tasks" in line else "",
        p_value(line) if "tasks" in line else "",
    ]


def _lines(name: str, track: Mapping[str, Any]) -> Table:
    table = Table(title=f"{name}: points, first − second", title_justify="left", title_style="bold")
    table.add_column("")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for label, line in rows_of(track):
        table.add_row(label, *cells(line))
    table.caption = "sign test: exact, over instances, ties left out"
    return table


def _readings(readings: Mapping[str, Any]) -> Table:
    table = Table(title="CausalDSScore (lower is better)", title_justify="left", title_style="bold")
    table.add_column("reading")
    for heading in ("first", "second", "difference", "95% interval", "shows from"):
        table.add_column(heading, justify="right")
    for name, row in readings.items():
        score = row["causalds_score"]
        if score is not None:
            table.add_row(name, *reading_cells(score))
    return table


def reading_cells(score: Line) -> list[str]:
    """CausalDSScore of both, and its difference."""
    return [
        number(score["first"]),
        number(score["second"]),
        signed(score["difference"], 3),
        span(score["interval"], 3),
        number(score["detectable"]),
    ]
