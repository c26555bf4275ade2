"""The leaderboard as a terminal table."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from grader.show.columns import columns
from grader.show.words import plain, points_text


def leaderboard_view(ranked: Sequence[tuple[int, dict[str, Any]]], title: str) -> Table:
    """Several submissions, best first."""
    reports = [report for _, report in ranked]
    table = Table(title=plain(title), title_justify="left", title_style="bold")
    table.add_column("#", justify="right")
    table.add_column("system", overflow="fold")
    table.add_column("points [95% interval]", justify="right", no_wrap=True)
    middle = columns(reports)
    for heading, _ in middle:
        table.add_column(plain(heading), justify="right")
    table.add_column("scored", justify="right")
    table.add_column("invalid", justify="right")
    for place, (rank, report) in enumerate(ranked):
        census = report["census"]
        table.add_row(
            str(rank),
            plain(report["submission"]["system"]),
            points_text(report["points"], report["points_interval"]),
            *(cell(place, report) for _, cell in middle),
            f"{census['scored']}/{census['tasks']}",
            str(census["invalid"]),
        )
    return table
