"""The table ``scores`` in DuckDB and its aggregates as SQL files.

What every track has stands in ``grader/report/sql``, what is a track's own in its folder's ``sql``.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import cache
from itertools import islice
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

import duckdb

from grader.model import Checked, Score, Truth

_GRADER: Final = Path(__file__).parents[1]
_CLOSED: Final[dict[str, Any]] = {"threads": 1, "enable_external_access": "false"}
_ROWS_AT_ONCE: Final = 5_000
"""Parameters are held several times over while they are bound."""


@cache
def sql(name: str) -> str:
    """The text of ``grader/report/sql/<name>.sql``; of ``<track>/<name>``, the track's own."""
    track, _, file = name.rpartition("/")
    folder = _GRADER / "tracks" / track if track else _GRADER / "report"
    return (folder / "sql" / f"{file}.sql").read_text(encoding="utf-8")


_MANY: Final = 50_000
"""More score rows than these may be written to a disk while they are looked at."""
_MEMORY: Final = "384MB"


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """The database of a process, since a new one takes as long as the queries of a small exam.

    It holds nothing itself; what a connection makes is temporary and goes with it.
    """
    return duckdb.connect(config=_CLOSED)


def _connect(folder: str) -> duckdb.DuckDBPyConnection:
    """A database that keeps what does not fit into some memory in ``folder``."""
    return duckdb.connect(config={**_CLOSED, "memory_limit": _MEMORY, "temp_directory": folder})


@cache
def _parsed(text: str) -> Sequence[duckdb.Statement]:
    """The statements of a text of the code's own, parsed once: of small exams that is a quarter of
    the work."""
    return _database(os.getpid()).extract_statements(text)


class ScoreTable:
    """A connection with a temporary table, ``scores``; no access to the outside."""

    def __init__(self, scores: Sequence[Score]) -> None:
        self._own = ExitStack()
        if len(scores) > _MANY:
            folder = self._own.enter_context(TemporaryDirectory(prefix="causal-exams-"))
            self.connection = self._own.enter_context(_connect(folder))
        else:
            self.connection = _database(os.getpid()).cursor()
        self.run("schema")
        names = [field.name for field in fields(Score)]
        self.fill("scores", names, map(attrgetter(*names), scores))

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Append ``rows`` to ``table``; names are constants of the code, values are parameters."""
        unnests = ", ".join(f"unnest(${k})" for k in range(1, len(columns) + 1))
        (insert,) = _parsed(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {unnests}")
        left = iter(rows)
        while some := list(islice(left, _ROWS_AT_ONCE)):
            self.connection.execute(insert, [list(column) for column in zip(*some, strict=True)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self._own.close()

    def run(self, name: str) -> None:
        """Run the statements of that name (:func:`sql`), which make tables and views."""
        for statement in _parsed(sql(name)):
            self.connection.execute(statement)

    def query(self, name: str, *parameters: object) -> list[dict[str, Any]]:
        """Run the query of that name (:func:`sql`); its rows as dictionaries, in its order."""
        return self.rows(sql(name), *parameters)

    def rows(self, query: str, *parameters: object) -> list[dict[str, Any]]:
        """Run a query of the code's own; its rows as dictionaries, in its order."""
        (statement,) = _parsed(query)
        cursor = self.connection.execute(statement, list(parameters))
        columns = [column[0] for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Results:
    """One grading as a track sees it: its own score rows, and the table of all of them.

    ``truths`` and ``checked`` (by task id) are what the rows were made from. ``slice_intervals``
    is whether anyone will see the intervals of slices, ``tables`` whether anyone will see what only
    the track's own tables show; ``floor`` gives the floor of a variant.
    """

    table: ScoreTable
    scores: Sequence[Score]
    truths: Mapping[str, Truth]
    checked: Mapping[str, Checked]
    slice_intervals: bool = True
    tables: bool = True
    floor: Callable[[str], float | None] = lambda _variant: None
