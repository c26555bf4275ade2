"""Tables and lines in the terminal. Untrusted text is shown as text, never as markup."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rich.box import HEAVY_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from grader.io.printing import printable
from grader.pages.table import Cell, Table
from grader.pages.words import clip_text

_PIPE: Final = 160
_BORDER: Final = 3
"""Characters around a column with a frame. There is one more at the end of a line."""
_GAP: Final = 2
"""Characters after a column without a frame."""
_LINES: Final = 6
"""Lines of a cell that is made narrower."""
_FOLDED: Final = 26
"""Characters beyond which a cell is folded."""
_NARROW: Final = 12
"""The same in a table without a frame."""


class PrintableConsole(Console):
    """A console that shows any text as text: without markup, and only what can be printed."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what ``renderable`` is made of; every text in it comes through here."""
        if isinstance(renderable, str):
            renderable = Text(renderable)
        if isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = printable(renderable.plain)  # as long as before, so styles stay
        return super().render(renderable, options)


def console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return the console of all commands; into a pipe it is ``COLUMNS`` or 160 wide."""
    target = PrintableConsole(
        stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap
    )
    if not target.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        target.width = _PIPE
    return target


def progress() -> Progress:
    """Return a bar that shows on a terminal alone. It has no thread: workers may be forks."""
    return Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console(stderr=True), disable=not sys.stderr.isatty(), transient=True,
        auto_refresh=False,
    )  # fmt: skip


def lines(rows: Sequence[Sequence[Text]]) -> Grid:
    """Return rows of one line each, of which only the last column is cut."""
    grid = Grid.grid(padding=(0, _GAP, 0, 0))
    *ahead, _ = zip(*rows, strict=True)
    for column in ahead:
        grid.add_column(no_wrap=True, min_width=max(map(len, column)))
    grid.add_column(no_wrap=True, overflow="ellipsis")
    for row in rows:
        grid.add_row(*row)
    return grid


def lines_of(table: Table) -> Grid:
    """Return a table without a frame, whose every row is a line."""
    head = [Text(heading, "dim") for heading in table.head]
    return lines([head, *([Text(str(cell)) for cell in row] for row in table.rows)])


@dataclass(frozen=True, slots=True)
class TerminalTable:
    """What rich prints of a table: several below each other where it is wider than the terminal.
    Without ``framed`` it needs less room."""

    table: Table
    framed: bool = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Grid]:
        parts = _parts(self.table, options.max_width, self.framed)
        for place, part in enumerate(parts):
            title = part.title if place == 0 else ""
            note = part.note if place == len(parts) - 1 else ""
            yield _grid(replace(part, title=title, note=note), self.framed)


def fit_column(table: Table, width: int, heading: str) -> Table:
    """Return the table, of ``width``, with the cells of one column cut to ``_LINES`` lines."""
    place = list(table.head).index(heading)
    others = [_width(table, k) + _GAP for k in range(len(table.head)) if k != place]
    room = max(8, width - sum(others) - _GAP)
    rows = [list(row) for row in table.rows]
    for row in rows:
        row[place] = clip_text(str(row[place]), _LINES * room)
    return replace(table, rows=rows)


def _parts(table: Table, width: int, framed: bool) -> list[Table]:
    """Split a table by columns into tables of ``width`` that each repeat the ``left`` columns."""
    border, folded = (_BORDER, _FOLDED) if framed else (_GAP, _NARROW)
    widths = [_width(table, place, folded) + border for place in range(len(table.head))]
    left = [*range(min(table.left, len(table.head)))]
    free = room = width - framed - sum(widths[: len(left)])
    blocks: list[list[int]] = [[]]
    for place in range(len(left), len(table.head)):
        if blocks[-1] and widths[place] > free:
            blocks.append([])
            free = room
        blocks[-1].append(place)
        free -= widths[place]
    return [table.pick(left + block) for block in blocks]


def _width(table: Table, place: int, folded: int = _FOLDED) -> int:
    """Return the characters a column needs: headings break at spaces, words of cells anywhere from
    ``folded`` characters on."""
    longest = max(map(len, table.head[place].split()), default=0)
    for cell in (row[place] for row in table.rows):
        whole = isinstance(cell, Cell) and cell.aside
        longest = max(longest, len(str(cell)) if whole else min(folded, len(str(cell))))
    return longest


def _grid(table: Table, framed: bool) -> Grid:
    """Return a table for rich as it stands, however wide it is."""
    grid = Grid(
        title=Text(table.title),
        title_justify="left",
        title_style="bold",
        caption=Text(table.note),
        caption_justify="left",
        box=HEAVY_HEAD if framed else None,
        padding=(0, 1) if framed else (0, _GAP, 0, 0),
        pad_edge=framed,
    )
    left = table.left_columns()
    for place, heading in enumerate(table.head):
        # A number and its interval would be hard to tell apart on two lines.
        cells = (row[place] for row in table.rows)
        whole = any(isinstance(cell, Cell) and cell.aside for cell in cells)
        justify: Literal["left", "right"] = "left" if place in left else "right"
        grid.add_column(heading, justify=justify, no_wrap=whole, overflow="fold")
    for row in table.rows:
        grid.add_row(*map(str, row))
    return grid
