"""Reports and comparisons in the terminal. Untrusted text is shown as text, never as markup."""

import os
from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from grader.draw.table import in_terminal
from grader.draw.words import printable, signed, signed_interval
from grader.show import comparison
from grader.show.report import runs, variants
from grader.show.systems import Report, reading_of
from grader.tracks import TRACKS

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
