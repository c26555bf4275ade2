"""The table ``scores`` in DuckDB and its aggregates: SQL files in ``grader/report/sql``."""

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import duckdb

from grader.model import Score

_ROWS_AT_ONCE: Final = 5_000
"""Parameters are held several times over while they are bound."""


@cache
def sql(name: str) -> str:
    """The text of ``grader/report/sql/<name>.sql``."""
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")


class ScoreTable:
    """An in-memory database with one table, ``scores``; no access to the outside."""

    def __init__(self, scores: Sequence[Score]) -> None:
        self.connection = duckdb.connect(config={"threads": 1, "enable_external_access": "false"})
        self.connection.execute(sql("schema"))
        names = [field.name for field in fields(Score)]
        self.fill("scores", names, list(map(attrgetter(*names), scores)))

    def fill(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Append ``rows`` to ``table``; names are constants of the code, values are parameters."""
        unnests = ", ".join(f"unnest(${k})" for k in range(1, len(columns) + 1))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {unnests}"
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            values = zip(*rows[start : start + _ROWS_AT_ONCE], strict=True)
            self.connection.execute(insert, [list(column) for column in values])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.connection.close()

    def query(self, name: str, *parameters: object) -> list[dict[str, Any]]:
        """Run ``grader/report/sql/<name>.sql``; its rows as dictionaries, in the file's order."""
        cursor = self.connection.execute(sql(name), list(parameters))
        columns = [column[0] for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
