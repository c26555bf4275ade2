"""Prediction files: CSV read row by row, bounded, and never guessed at."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from grader.errors import Invalid
from grader.io.jsonio import clip
from grader.model import Predictions

MAX_COLUMNS: Final = 100
_DECIMAL: Final = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,4})?", re.ASCII)


def read_predictions(data: bytes, columns: Sequence[str], rows: int) -> Predictions:
    """The named columns of a CSV file with exactly ``rows`` rows after its header.

    Other columns are ignored. Raises :class:`~grader.errors.Invalid`.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid("encoding", f"byte {error.start} is not UTF-8") from None
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise Invalid("empty", f"the file is empty; write the header {','.join(columns)}")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [cell.strip() for cell in next(reader)]
        positions = _positions(header, columns)
        values = _values(reader, positions, columns, rows)
    except csv.Error as error:
        raise Invalid("not_csv", f"line {reader.line_num}: {error}") from None
    predictions = Predictions(*values)
    for row, (lower, upper) in enumerate(
        zip(predictions.lower, predictions.upper, strict=True), start=1
    ):
        if lower > upper:
            raise Invalid("bounds_reversed", f"row {row}: lower {lower!r} is above upper {upper!r}")
    return predictions


def _positions(header: list[str], columns: Sequence[str]) -> list[int]:
    if len(header) > MAX_COLUMNS:
        raise Invalid("wrong_columns", f"{len(header)} columns; at most {MAX_COLUMNS} are read")
    for column in columns:
        if header.count(column) != 1:
            times = "is absent" if column not in header else "appears twice"
            raise Invalid(
                "wrong_columns",
                f"the column {column} {times} in the header {clip(','.join(header))}; "
                f"the header must hold {','.join(columns)}",
            )
    return [header.index(column) for column in columns]


def _values(
    reader: Iterator[list[str]],
    positions: Sequence[int],
    columns: Sequence[str],
    rows: int,
) -> list[tuple[float, ...]]:
    values: list[list[float]] = [[] for _ in positions]
    count = 0
    for cells in reader:
        if not cells:
            continue  # a blank line, such as the one at the end of many files
        count += 1
        if count > rows:
            raise Invalid("wrong_length", f"more than the {rows} rows of test_features")
        for column, position, name in zip(values, positions, columns, strict=True):
            cell = cells[position].strip() if position < len(cells) else ""
            number = float(cell) if _DECIMAL.fullmatch(cell) else math.nan
            if not math.isfinite(number):
                raise Invalid(
                    "not_a_number",
                    f"row {count}, column {name}: {clip(cell)} is not a finite decimal number",
                )
            column.append(number)
    if count != rows:
        raise Invalid("wrong_length", f"{count} rows, but test_features has {rows}")
    return [tuple(column) for column in values]
