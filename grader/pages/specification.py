"""Tables and sections as data: a TOML file of a track, read into what makes tables and pages.

``[sections]`` maps the title of a section to the names of its tables and charts, ``terminal`` lists
those that the terminal shows. ``[tables.NAME]`` has ``title``, ``rows``, ``columns``, ``left`` (how
many columns are aligned left, by default 1) and ``note``; with ``drop_empty`` columns of dashes are
left out, with ``fold`` a page shows the table when that is clicked. ``rows`` is a member of a
track's part of the report (:func:`grader.pages.systems.rows_of`), or the name of one of the track's
own functions. A column is a key, which heads it too, or a list of heading, key, format and further
keys: a format is given the values of all keys. A key is a path with dots. In headings, keys and
titles ``{reading}`` is the reading that a screen leads with, ``{other}`` the other one.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from grader.pages import words
from grader.pages.page import Block, Fold, Section, non_empty
from grader.pages.systems import SYSTEM, Part, Report, part_of, reading_of, readings_from, rows_of
from grader.pages.table import Cell, Column, Row, Table, find

Format = Callable[..., str | Cell]


def _word(value: object) -> str:
    """A word or a count; a dash where a report leaves it out."""
    return "–" if value is None else str(value)


FORMATS: Final[Mapping[str, Format]] = {
    "plain": lambda value: words.number(value) if isinstance(value, float) else _word(value),
    "name": lambda text: Cell(text, "name"),
    "id": lambda text: Cell(text, "id"),
    "link": lambda text, link: Cell(text, "id", link=link),
    "anchor": lambda text: Cell(text, "id", anchor=text),
    "long": lambda text: Cell(words.clip_text(text, 400), "long") if text else "–",
    "number2": partial(words.number, digits=2),
    "number4": partial(words.number, digits=4),
    "points": words.points,
    "percent": words.percent,
    "count": words.count,
    "unit": words.count_text,
    "interval": words.interval_text,
    "interval1": partial(words.interval_text, digits=1),
    "signed": words.signed_number,
    "signed3": partial(words.signed_number, digits=3),
    "signed_interval": words.signed_interval,
    "signed_interval3": partial(words.signed_interval, digits=3),
    "minus": "{} − {}".format,
    "number_n": lambda value, count: words.with_count(words.number(value), count),
    "percent_n": lambda share, count: words.with_count(words.percent(share), count),
    "rate_within": lambda value, ends: Cell(
        words.number(value), aside=words.interval_text(ends, 2) if ends else ""
    ),
    "signed_within": lambda value, ends: Cell(
        words.signed_number(value, 3), aside=words.signed_interval(ends, 3) if ends else ""
    ),
}
"""What a format makes of the values of a column's keys."""

Maker = Callable[[Sequence[Part]], Any]
"""A track's own function: rows of a table, or the blocks of a section, of some parts."""


@dataclass(frozen=True, slots=True)
class Specification:
    """What a track shows of its part of reports: by section of a page, and in the terminal."""

    track: str
    sections: Mapping[str, Sequence[str]]
    terminal: Sequence[str]
    tables: Mapping[str, Mapping[str, Any]]
    columns: Mapping[str, Sequence[str]]
    makers: Mapping[str, Maker]
    formats: Mapping[str, Format]

    @staticmethod
    def read(
        file: Path, makers: Mapping[str, Maker], formats: Mapping[str, Format] | None = None
    ) -> "Specification":
        """The specification in a track's folder; ``makers`` may be the members of a module."""
        found = tomllib.loads(file.read_text(encoding="utf-8"))
        sections = found.get("sections", {})
        names = {*found["tables"], *(table.get("rows") for table in found["tables"].values()),
                 *(name for names in sections.values() for name in names)}  # fmt: skip
        own = {name: makers[name] for name in names if name in makers}
        every = {**FORMATS, **(formats or {})}
        return Specification(
            file.parent.name,
            sections,
            found.get("terminal", ()),
            found["tables"],
            found.get("columns", {}),
            own,
            every,
        )

    def page(self, parts: Sequence[Part]) -> list[Section]:
        """The sections of a page; what has no row is left out."""
        return [
            Section(
                f"{self.track}: {title}", [b for name in names for b in self.blocks(name, parts)]
            )
            for title, names in self.sections.items()
        ]

    def in_terminal(self, report: Report) -> list[Table]:
        """The tables of one report, without the column of its system."""
        blocks = [
            block
            for name in self.terminal
            for block in self.blocks(name, [part_of(report, self.track)])
        ]
        return [
            block.without_columns(SYSTEM.heading) for block in blocks if isinstance(block, Table)
        ]

    def blocks(self, name: str, parts: Sequence[Part]) -> Sequence[Block]:
        """What is shown under a name: a table, if it has a row, or what its function makes."""
        if name in self.tables:
            found = non_empty(self.table(name, parts))
            fold = self.tables[name].get("fold")
            return [Fold(fold, found, len(parts) == 1)] if fold and found else found
        made: Sequence[Block] = self.makers[name](parts)
        return made

    def of_rows(self, name: str, rows: Sequence[Row], **words: str) -> Table:
        """One table of these rows; ``words`` are for places like ``{reading}``."""
        return self.table(name, rows, lambda parts: parts, **words)

    def table(
        self, name: str, parts: Sequence[Part], rows: Maker | None = None, **words: str
    ) -> Table:
        """One table, of other ``rows`` where they are given; ``words`` are for places like
        ``{reading}``."""
        found = self.tables[name]
        first, other = readings_from(reading_of(parts))
        said = {"reading": first, "other": other} | words
        member = found.get("rows", "")
        make = rows or self.makers.get(member) or partial(rows_of, member=member)
        columns = [self._column(column, said) for column in found["columns"]]
        note = found.get("note", "").format(**said)
        title = found["title"].format(**said)
        table = Table.from_rows(title, columns, make(parts), found.get("left", 1), note)
        return table.without_empty() if found.get("drop_empty") else table

    def _column(self, column: str | Sequence[str], said: Mapping[str, str]) -> Column:
        if column == SYSTEM.heading:
            return SYSTEM
        named = self.columns.get(column, (column, column)) if isinstance(column, str) else column
        heading, key, kind, *more = named if len(named) > 2 else (*named, "plain")
        paths = [one.format(**said).split(".") for one in (key, *more)]
        made = self.formats[kind]
        return Column(heading.format(**said), lambda row: made(*(find(row, *p) for p in paths)))
