"""Score rows as CSV or Parquet, one per task."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.io import parquet
from grader.io.files import replacing
from grader.io.jsonio import canonical
from grader.model import Score, Truth
from grader.report.table import ScoreTable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FORMATS = {"csv": "FORMAT csv, HEADER", "parquet": "FORMAT parquet, COMPRESSION zstd"}


def write_scores(path: Path, kind: str, scores: Sequence[Score], truths: Mapping[str, Any]) -> None:
    """Write the score rows to ``path``; with ``truths``, a column ``truth_json`` beside them.

    ``kind`` is ``csv`` or ``parquet``. Raises ``UsageError`` when the file cannot be written.
    """
    with ScoreTable(scores) as table:
        rows = table.connection.execute("SELECT * FROM scores ORDER BY task_id").fetchall()
        names = [column[0] for column in table.connection.description or ()]
        types = [str(column[1]) for column in table.connection.description or ()]
    if truths:
        names.append("truth_json")
        types.append("VARCHAR")
        rows = [(*row, truth_json(truths[row[0]])) for row in rows]
    if kind == "csv":
        rows = [tuple(map(_as_text, row)) for row in rows]
    columns = [list(column) for column in zip(*rows, strict=True)]
    selected = ", ".join(
        f"unnest(${k}::{kind_}[]) AS {name}"
        for k, (name, kind_) in enumerate(zip(names, types, strict=True), start=1)
    )
    with replacing(path) as temporary, parquet.connect() as connection:
        connection.execute(f"CREATE TEMP TABLE rows AS SELECT {selected}", columns)
        parquet.copy_to(connection, "SELECT * FROM rows", temporary, _FORMATS[kind])


def _as_text(cell: Any) -> Any:
    """Words that a spreadsheet would run as a formula, behind an apostrophe; numbers as they are.

    A cell may hold what a submitter wrote: ``=HYPERLINK(…)``.
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def truth_json(truth: Truth) -> str:
    """The target of one task, for ``--reveal``; held-out labels are too long to repeat."""
    return canonical(
        {
            "should_abstain": truth.should_abstain,
            "value": truth.value,
            "value_se": truth.value_se,
            **truth.target,
        }
    )
