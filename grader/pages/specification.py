"""Tables and sections as data: a TOML file of a track, read into what makes tables and pages.

``[sections]`` maps the title of a section to the names of its tables and charts, ``terminal`` lists
those that the terminal shows, ``needs`` is the member without which (as in redacted reports) there
is nothing to show. ``[notes]`` are texts by name. ``[tables.NAME]`` has ``title``,
``rows``, ``columns``, ``left`` (how many columns are aligned left, by default 1) and ``note``; with
``drop_empty`` columns of dashes are left out, with ``fold`` a page shows the table when that is
clicked; with ``pivot`` the last two columns are heading and cell of a column of their own
(:meth:`grader.pages.table.Table.pivot`). ``rows`` is a member of a track's part of the report
(:func:`grader.pages.systems.rows_of`), or the name of one of the track's own functions; without it
every part is a row. Rows are shown that have something at ``needs`` (a path), and at each key of
``only`` fit one of its patterns (``*`` and ``?`` as in file names). A column is a key, which heads
it too, or a list of heading, key, format and further keys: a format is given the values of all
keys. A key is a path with dots. In headings, keys and titles ``{reading}`` is the reading that a
screen leads with, ``{other}`` the other one.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.pages import words
from grader.pages.systems import (
    SYSTEM,
    Part,
    Report,
    cell_within,
    part_of,
    parts_with,
    reading_of,
    readings_from,
    rows_of,
)
from grader.pages.table import Cell, Row, Table, find
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.shape import Task
from grader.scoring.track import Track

if TYPE_CHECKING:  # what draws pages waits until one is written
    from grader.pages.graph import Explanation
    from grader.pages.page import Block, Section

Format = Callable[..., str | Cell]
Column = tuple[str, Callable[[Row], str | Cell]]
Maker = Callable[[Sequence[Part]], Any]
"""A track's own function: rows of a table, or the blocks of a section, of some parts."""


def _plain(value: object) -> str:
    """Return a number with three digits, a word or a count as it is, a dash for None."""
    if value is None or isinstance(value, float):
        return words.number(value)
    return str(value)


FORMATS: Final[Mapping[str, Format]] = {
    "plain": _plain,
    "name": lambda text: Cell(text, "name"),
    "id": lambda text: Cell(text, "id"),
    "link": lambda text, link: Cell(text, "id", link=link),
    "page": lambda text, link: Cell(text, link=link),
    "anchor": lambda text: Cell(text, "id", anchor=text),
    "long": lambda text: Cell(words.clip_text(text, 400), "long") if text else "–",
    "number2": partial(words.number, digits=2),
    "number4": partial(words.number, digits=4),
    "points": words.points,
    "percent": words.percent,
    "count": words.count,
    "unit": words.count_text,
    "interval": words.interval_text,
    "percent_interval": partial(words.interval_text, digits=1, show=words.percent),
    "interval1": partial(words.interval_text, digits=1),
    "signed": words.signed_number,
    "signed3": partial(words.signed_number, digits=3),
    "signed_interval": partial(words.interval_text, digits=1, show=words.signed_number),
    "signed_interval3": partial(words.interval_text, show=words.signed_number),
    "minus": "{} − {}".format,
    "number_n": lambda value, count: words.with_count(words.number(value), count),
    "percent_n": lambda share, count: words.with_count(words.percent(share), count),
    "rate_within": lambda value, ends: cell_within(words.number(value), ends, 2),
    "signed_within": lambda value, ends: cell_within(
        words.signed_number(value, 3), ends, 3, words.signed_number
    ),
}
"""The function that makes a cell from the values of a column's keys, by the format's name."""


@dataclass(frozen=True, slots=True)
class Specification:
    """What a track shows of its part of reports: the members of its file, columns that several
    tables share among them, its own functions and formats."""

    track: str
    tables: Mapping[str, Mapping[str, Any]]
    makers: Mapping[str, Maker]
    formats: Mapping[str, Format]
    sections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    terminal: Sequence[str] = ()
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""

    @staticmethod
    def read(
        file: Path, makers: Mapping[str, Maker], formats: Mapping[str, Format] | None = None
    ) -> "Specification":
        """Read the file in a track's folder. ``makers`` may be the members of a module."""
        found = tomllib.loads(file.read_text(encoding="utf-8"))
        known = {**FORMATS, **(formats or {})}
        return Specification(track=file.parent.name, makers=makers, formats=known, **found)

    def of_reports(self, reports: Sequence[Report]) -> "list[Section]":
        """Return the sections of a page on the reports that answer something and have ``needs``, or
        []. A table without a row is left out."""
        from grader.pages.page import Section

        every = [part_of(report, self.track) for report in reports]
        parts = parts_with([part for part in every if part.get("attempted")], self.needs)
        return [
            Section(f"{self.track}: {title}", [b for one in names for b in self.blocks(one, parts)])
            for title, names in (self.sections.items() if parts else ())
        ]

    def in_terminal(self, report: Report) -> list[Table]:
        """Return the tables of one report, without the column of its system."""
        parts = [part_of(report, self.track)]
        blocks = [block for name in self.terminal for block in self.blocks(name, parts)]
        tables = [block for block in blocks if isinstance(block, Table)]
        return [table.without_columns(SYSTEM) for table in tables]

    def blocks(self, name: str, parts: Sequence[Part]) -> "Sequence[Block]":
        """Return the table of a name, if it has a row, or what the function of that name makes."""
        from grader.pages.page import Fold, non_empty

        if name in self.tables:
            found = non_empty(self.table(name, parts))
            fold = self.tables[name].get("fold")
            return [Fold(fold, found, len(parts) == 1)] if fold and found else found
        return list(self.makers[name](parts))

    def of_rows(self, name: str, rows: Sequence[Row], **places: str) -> Table:
        """Return a table of these rows. ``places`` are words for places like ``{reading}``."""
        return self.table(name, rows, lambda parts: parts, **places)

    def table(
        self, name: str, parts: Sequence[Part], rows: Maker | None = None, **places: str
    ) -> Table:
        """Return a table of some parts, with other ``rows`` than specified where they are given."""
        found = self.tables[name]
        first, other = readings_from(reading_of(parts))
        texts = {"reading": first, "other": other} | places
        member = found.get("rows", "")
        needs = found.get("needs", "").format(**texts)
        every: Maker = partial(rows_of, member=member) if member else list
        listed = parts_with((rows or self.makers.get(member) or every)(parts), needs)
        columns = [self._column(column, texts) for column in found["columns"]]
        note = found.get("note", "").format(**texts)
        title = found["title"].format(**texts)
        head, cells = zip(*columns, strict=True)
        only: Mapping[str, Sequence[str]] = found.get("only", {})
        lines = [
            [cell(row) for cell in cells]
            for row in listed
            if all(any(fnmatchcase(row[key], p) for p in only[key]) for key in only)
        ]
        table = Table(title, head, lines, found.get("left", 1), note)
        if found.get("pivot"):
            table = table.pivot()
        return table.without_empty() if found.get("drop_empty") else table

    def _column(self, column: str | Sequence[str], texts: Mapping[str, str]) -> Column:
        """Return a column's heading, and what makes its cell of a row; ``texts`` fill places."""
        if column == SYSTEM:
            column = (SYSTEM, SYSTEM, "name")
        named = self.columns.get(column, (column, column)) if isinstance(column, str) else column
        heading, key, kind, *more = named if len(named) > 2 else (*named, "plain")
        paths = [one.format(**texts).split(".") for one in (key, *more)]
        made = self.formats[kind]
        return heading.format(**texts), lambda row: made(*(find(row, *p) for p in paths))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackPages:
    """The functions by which a track shows its tasks and its part of reports.

    A redacted report lacks members of a track's part, and these functions must do without them.
    """

    explain_task: "Callable[[Task, Truth, Mapping[str, Any]], Explanation] | None" = None
    """What ``browse`` shows of a task beside its prompt, given its world row (or an empty one)."""
    draw_answer: Callable[[Task, Truth, CheckedAnswer], str] | None = None
    """One verified answer as an HTML page (``explain --html``)."""
    diagnose: Callable[[Task, Truth, CheckedAnswer], Sequence[tuple[str, str]]] = lambda *_: ()
    """Lines (label, text) that compare a scored answer with its truth (``explain --reveal``)."""
    tables: Callable[[Report], Sequence[Table]] = lambda _: ()
    """Further tables of one report for the terminal."""
    sections: "Callable[[Sequence[Report]], Sequence[Section]]" = lambda _: ()
    """Further sections of a page about one or more reports."""
    board_columns: Callable[[Sequence[Report]], list[tuple[str, list[str]]]] | None = None
    """Further columns of a leaderboard, each a heading and a cell a report; by default, on a board
    of this track alone, a column for each family."""
    compared: Callable[[Part], Sequence[Table]] = lambda _: ()
    """Further tables of a comparison, given the track's part of it."""


def pages_of(track: Track) -> TrackPages:
    """Return what a track shows; a track without pages shows nothing of its own."""
    return TrackPages() if track.pages is None else track.pages()
