"""The score rows as one DuckDB table: filled, queried by SQL files, written as CSV or Parquet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Self

from grader.answers.submission import USAGE_FIGURES, amount_of, mean_usage
from grader.io import parquet
from grader.io.files import replacing
from grader.io.jsonio import canonical_json
from grader.scoring.model import CheckedAnswer, Score, Truth

_GRADER: Final = Path(__file__).parents[1]
_ROWS_AT_ONCE: Final = 5_000
"""Parameters are held several times over while they are bound."""


def sql(name: str) -> str:
    """Read ``grader/reports/sql/<name>.sql``; for ``<track>/<name>`` the track's own file."""
    track, _, file = name.rpartition("/")
    folder = _GRADER / "tracks" / track if track else _GRADER / "reports"
    return (folder / "sql" / f"{file}.sql").read_text(encoding="utf-8")


class ScoreTable:
    """A database in memory with the table ``scores``, a row a task; a ``with`` block closes it."""

    def __init__(self, scores: Sequence[Score]) -> None:
        self.connection = parquet.connect(closed=True)
        self.run("schema")
        names = [field.name for field in fields(Score)]
        self.fill("scores", names, map(attrgetter(*names), scores))

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Append ``rows`` to ``table``. Names of ``columns`` are constants, values parameters."""
        unnests = ", ".join(f"unnest(${k})" for k in range(1, len(columns) + 1))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {unnests}"
        left = iter(rows)
        while some := list(islice(left, _ROWS_AT_ONCE)):
            self.connection.execute(insert, [list(column) for column in zip(*some, strict=True)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def run(self, name: str) -> None:
        """Run the statements of that name (:func:`sql`), which make tables and views."""
        self.connection.execute(sql(name))

    def query(self, name: str, *parameters: object) -> list[dict[str, Any]]:
        """Run the query of that name (:func:`sql`) and return its rows as dictionaries."""
        return self.rows(sql(name), *parameters)

    def rows(self, query: str, *parameters: object) -> list[dict[str, Any]]:
        """Run a query of the code's own and return its rows as dictionaries, in its order."""
        cursor = self.connection.execute(query, list(parameters))
        columns = [column[0] for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class TrackResults:
    """One track's part of one grading: its own score rows, and the table of all rows.

    ``truths`` and ``checked`` hold the truth and the answer of each row by task id. Without
    ``slice_intervals`` nobody will see intervals of slices, without ``tables`` nothing that only
    the track's own tables show. ``floor`` gives the floor of a variant, or None.
    """

    table: ScoreTable
    scores: Sequence[Score]
    truths: Mapping[str, Truth]
    checked: Mapping[str, CheckedAnswer]
    slice_intervals: bool = True
    tables: bool = True
    floor: Callable[[str], float | None] = lambda _variant: None


Usage = Mapping[str, Mapping[str, Any]]
"""Task id to one line of ``usage.jsonl``, as submitted: nothing in it is to be trusted."""

ENDINGS: Final = (
    "answered", "no answer", "missing after submit", "step limit", "token limit", "time limit",
    "cost limit", "context limit", "refused", "stopped", "error",
)  # fmt: skip
"""Why a task may have ended, in the order in which reports count them."""


def fill_usage(table: ScoreTable, usage: Usage, scores: Sequence[Score]) -> None:
    """Fill the table ``usage``: plausible figures of the exam's tasks, and why they ended."""
    rows = [
        (
            score.task_id,
            *(amount_of(usage[score.task_id], figure) for figure in USAGE_FIGURES),
            _ending_of(usage[score.task_id]),
        )
        for score in scores
        if score.task_id in usage
    ]
    table.fill("usage", ("task_id", *USAGE_FIGURES, "ending"), rows)


def _ending_of(line: Mapping[str, Any]) -> str | None:
    """Return why a task ended, one of ``ENDINGS``; None where its line of usage has none."""
    told = line.get("ending")
    return told if isinstance(told, str) and told in ENDINGS else None


def usage_means(usage: Usage, task_ids: Sequence[str]) -> dict[str, Any]:
    """Return each usage figure's mean over tasks that have it, else None, and ``tasks``."""
    rows = [usage[task_id] for task_id in task_ids if task_id in usage]
    return {"tasks": len(rows), **dict.fromkeys(USAGE_FIGURES), **mean_usage(rows)}


def count_endings(usage: Usage, task_ids: Sequence[str]) -> dict[str, int]:
    """Count the tasks that ended for each reason, without reasons of no task."""
    told = [_ending_of(usage[task_id]) for task_id in task_ids if task_id in usage]
    return {name: count for name in ENDINGS if (count := told.count(name))}


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def on_points_scale(score: Score) -> Score:
    """Return the score row as it is handed out: points and floor from 0 to 100."""
    floor = None if score.floor is None else 100 * score.floor
    return replace(score, points=100 * score.points, floor=floor)


def write_scores(path: Path, kind: str, scores: Sequence[Score], truths: Mapping[str, Any]) -> None:
    """Write the score rows by task as ``csv`` or ``parquet``, points and floor from 0 to 100.

    There is a column ``truth_json`` if ``truths`` (by task id) is not empty. Raises ``UsageError``
    where ``path`` cannot be written.
    """
    with ScoreTable([*map(on_points_scale, scores)]) as table:
        rows = table.connection.execute("SELECT * FROM scores ORDER BY task_id").fetchall()
        names = [column[0] for column in table.connection.description or ()]
        types = [str(column[1]) for column in table.connection.description or ()]
    if truths:
        names.append("truth_json")
        types.append("VARCHAR")
        rows = [(*row, truth_json(truths[row[0]])) for row in rows]
    if kind == "csv":
        rows = [tuple(map(_spreadsheet_cell, row)) for row in rows]
    typed = zip(types, zip(*rows, strict=True), strict=True)
    columns = dict(zip(names, typed, strict=True))
    options = {"options": "FORMAT csv, HEADER"} if kind == "csv" else {}
    with replacing(path) as temporary:
        parquet.write_columns(temporary, columns, **options)


def _spreadsheet_cell(cell: Any) -> Any:
    """Return a cell for CSV, an apostrophe before what a spreadsheet would run (``=…``)."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def truth_json(truth: Truth) -> str:
    """Return a task's target as JSON for ``--reveal``, without the long held-out labels."""
    plain = {name: getattr(truth, name) for name in ("should_abstain", "value", "value_se")}
    return canonical_json({**plain, **truth.target})
