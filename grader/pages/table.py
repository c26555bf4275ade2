"""A table as a value, with one renderer for the terminal and one for a page.

Cells and headings are plain text, which may be a submitter's: each renderer escapes it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from grader.pages.words import clipped, explained, number, printable, safe

if TYPE_CHECKING:
    import rich.table
    from rich.console import Console, ConsoleOptions

Row = Mapping[str, Any]

_SUBSCRIPT: Final = re.compile(r"_([A-Z]+)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is more than a word or a number.

    ``aside`` qualifies the text and is drawn softer, such as the interval of an estimate. On a page
    the text leads to ``link``, a path or ``#anchor`` of our own making, and its row is called
    ``anchor``.
    """

    text: str
    kind: Literal["", "name", "id", "code", "long", "good", "points"] = ""
    aside: str = ""
    link: str = ""
    anchor: str = ""

    def __str__(self) -> str:
        return f"{self.text}  {self.aside}" if self.aside else self.text


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and the cell that stands under it for a row of figures."""

    heading: str
    cell: Callable[[Row], str | Cell]


def figure(key: str | Sequence[str], heading: str, words: Callable[[Any], str] = number) -> Column:
    """The column of one figure, by its key or the path to it; a row may lack it."""
    path = (key,) if isinstance(key, str) else key
    return Column(heading, lambda row: words(find(row, *path)))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that several tables show: its key in a row, its name, and how it is written."""

    key: str
    label: str
    words: Callable[[Any], str] = number

    def at(self, *path: str, label: str = "") -> Column:
        """Its column in rows that have it at the end of a path; with another ``label`` there."""
        return figure((*path, self.key), label or self.label, self.words)


def find(row: Any, *path: str) -> Any:
    """What stands at the end of a path of keys; ``None`` where a step of it is missing."""
    for key in path:
        row = (row or {}).get(key)
    return row


def word(key: str, heading: str | None = None) -> Column:
    """The column of a word or a count, as it stands in the row."""
    return Column(key if heading is None else heading, lambda row: str(row[key]))


@dataclass(frozen=True, slots=True)
class Table:
    """What a table says; its first ``left`` columns are aligned left, the others right."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    left: int = 1
    note: str = ""

    @staticmethod
    def of(
        title: str, columns: Sequence[Column], rows: Sequence[Row], left: int = 1, note: str = ""
    ) -> "Table":
        """The table of ``rows`` under ``columns``."""
        head = [column.heading for column in columns]
        return Table(title, head, [[c.cell(row) for c in columns] for row in rows], left, note)

    @staticmethod
    def pivot(
        title: str,
        head: Sequence[str],
        columns: Sequence[Any],
        rows: Iterable[tuple[Sequence[Any], Mapping[Any, Any]]],
        note: str = "",
    ) -> "Table":
        """The table of rows with their names, under ``head``, and a cell or a dash a column."""
        cells = [[*names, *(found.get(one, "–") for one in columns)] for names, found in rows]
        return Table(title, [*head, *map(str, columns)], cells, len(head), note)

    def without(self, *headings: str) -> "Table":
        """Without some columns, such as that of the system in a table about one alone."""
        kept = [place for place, heading in enumerate(self.head) if heading not in headings]
        head = [self.head[place] for place in kept]
        rows = [[row[place] for place in kept] for row in self.rows]
        left = sum(place < self.left for place in kept)
        return replace(self, head=head, rows=rows, left=max(1, left))

    def fitted(self, width: int, heading: str) -> "Table":
        """The table with the cells of one column cut so that it is no wider than ``width``."""
        place = self.head.index(heading)
        others = [_width(self, k) + _GAP for k in range(len(self.head)) if k != place]
        room = max(8, width - sum(others) - _GAP)
        rows = [list(row) for row in self.rows]
        for row in rows:
            row[place] = clipped(str(row[place]), room)
        return replace(self, rows=rows)

    def left_columns(self) -> set[int]:
        """The columns that are aligned left: the first ones, and running text wherever it is."""
        text = {
            place
            for row in self.rows
            for place, cell in enumerate(row)
            if isinstance(cell, Cell) and cell.kind == "long"
        }
        return text | {*range(min(self.left, len(self.head)))}

    def without_empty(self) -> "Table":
        """Without the columns that have nothing but dashes, such as floors that nobody measured."""
        columns = zip(self.head, zip(*self.rows, strict=True), strict=True) if self.rows else ()
        return self.without(*(name for name, cells in columns if {*map(str, cells)} == {"–"}))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A table that is drawn in several below each other where it is wider than the terminal."""

    table: Table
    framed: bool

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[rich.table.Table]":
        parts = _parts(self.table, options.max_width, self.framed)
        for place, part in enumerate(parts):
            title = part.title if place == 0 else ""
            note = part.note if place == len(parts) - 1 else ""
            yield _drawn(replace(part, title=title, note=note), self.framed)


def in_terminal(table: Table, *, framed: bool = True) -> _Fitted:
    """The table for rich, where there is little room without a frame.

    Text is shown as text, never as markup.
    """
    return _Fitted(table, framed)


def _parts(table: Table, width: int, framed: bool) -> list[Table]:
    """Its columns in as many tables as it takes, each with those on the left."""
    border = _BORDER if framed else _GAP
    widths = [_width(table, place) + border for place in range(len(table.head))]
    left = list(range(min(table.left, len(table.head))))
    room = width - framed - sum(widths[place] for place in left)
    blocks: list[list[int]] = [[]]
    free = room
    for place in range(len(left), len(table.head)):
        if blocks[-1] and widths[place] > free:
            blocks.append([])
            free = room
        blocks[-1].append(place)
        free -= widths[place]
    return [
        replace(
            table,
            head=[table.head[place] for place in left + block],
            rows=[[row[place] for place in left + block] for row in table.rows],
        )
        for block in blocks
    ]


_BORDER: Final = 3
"""Around a column with a frame; there is one more at the end of a line."""
_GAP: Final = 2
"""After a column without a frame."""
_FOLDED: Final = 26
"""Longer cells are folded."""


def _width(table: Table, place: int) -> int:
    """How many characters a column needs: headings break at spaces, long words of cells anywhere,
    a number and its interval nowhere."""
    longest = max(map(len, table.head[place].split()), default=0)
    for cell in (row[place] for row in table.rows):
        whole = isinstance(cell, Cell) and cell.aside
        longest = max(longest, len(str(cell)) if whole else min(_FOLDED, len(str(cell))))
    return longest


def _drawn(table: Table, framed: bool) -> "rich.table.Table":
    from rich.box import HEAVY_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        title=Text(printable(table.title)) if table.title else None,
        title_justify="left",
        title_style="bold",
        caption=Text(table.note) if table.note else None,
        caption_justify="left",
        box=HEAVY_HEAD if framed else None,
        padding=(0, 1) if framed else (0, _GAP, 0, 0),
        pad_edge=framed,
    )
    for place, heading in enumerate(table.head):
        # A number and its interval would be hard to tell apart on two lines.
        cells = (row[place] for row in table.rows)
        whole = any(isinstance(cell, Cell) and cell.aside for cell in cells)
        align: Literal["left", "right"] = "left" if place < table.left else "right"
        drawn.add_column(Text(printable(heading)), justify=align, no_wrap=whole, overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(printable(str(cell)), overflow="fold") for cell in row))
    return drawn


def marked_heading(heading: str) -> str:
    """A heading as HTML: its first term explained, subscripts below the line."""
    return explained(heading, _with_subscripts).replace(" ↓", "&nbsp;↓").replace(" ↑", "&nbsp;↑")


def _with_subscripts(text: str) -> str:
    return _SUBSCRIPT.sub(r"<sub>\1</sub>", safe(text))
