"""A table as a value, of plain text that may be a submitter's: each renderer escapes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is more than a word or a number.

    ``aside`` qualifies the text and is drawn softer, such as the interval of an estimate. On a page
    the text leads to ``link``, a path or ``#anchor`` of our own making, and its row is called
    ``anchor``. A cell of kind ``heat`` (``few``, where few tasks are behind it) is the darker, the
    larger its ``share``, from 0 to 1.
    """

    text: str
    kind: Literal["", "name", "id", "code", "long", "good", "points", "heat", "few"] = ""
    aside: str = ""
    link: str = ""
    anchor: str = ""
    share: float | None = None

    def __str__(self) -> str:
        return f"{self.text}  {self.aside}" if self.aside else self.text


def find(row: Any, *path: str) -> Any:
    """Return what stands at the end of a path of keys, or None where a step of it is missing."""
    for key in path:
        row = (row or {}).get(key)
    return row


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings, a title, a note. The first ``left`` columns align left."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    left: int = 1
    note: str = ""

    def pivot(self) -> "Table":
        """Return the table with a column for each distinct word in the last column but one.

        The last column has its cells. Rows that agree in all other columns become one.
        """
        further = dict.fromkeys(str(row[-2]) for row in self.rows)
        found: dict[tuple[str, ...], tuple[list[str | Cell], dict[str, str | Cell]]] = {}
        for *names, heading, cell in self.rows:
            _, cells = found.setdefault(tuple(map(str, names)), (names, {}))
            cells[str(heading)] = cell
        rows = [[*names, *(cells.get(k, "–") for k in further)] for names, cells in found.values()]
        return replace(self, head=[*self.head[:-2], *further], rows=rows, left=len(self.head) - 2)

    def pick(self, places: Sequence[int]) -> "Table":
        """Return the table with the columns at these places alone."""
        head = [self.head[place] for place in places]
        rows = [[row[place] for place in places] for row in self.rows]
        left = sum(place < self.left for place in places)
        return replace(self, head=head, rows=rows, left=max(1, left))

    def without_columns(self, *headings: str) -> "Table":
        """Return the table without the columns under these headings."""
        return self.pick([k for k, heading in enumerate(self.head) if heading not in headings])

    def without_empty(self) -> "Table":
        """Return the table without columns of dashes, such as floors that nobody measured."""
        columns = enumerate(zip(*self.rows, strict=True))
        kept = [place for place, cells in columns if {*map(str, cells)} != {"–"}]
        return self.pick(kept) if self.rows else self

    def left_columns(self) -> set[int]:
        """Return the places of columns aligned left: the first ones, and those of running text."""
        text = {
            place
            for row in self.rows
            for place, cell in enumerate(row)
            if isinstance(cell, Cell) and cell.kind == "long"
        }
        return text | {*range(min(self.left, len(self.head)))}
