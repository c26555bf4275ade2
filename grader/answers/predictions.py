"""Prediction files: CSV read row by row, bounded, and never guessed at."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from operator import gt
from typing import Final

from grader.errors import Invalid
from grader.io.jsonio import clip
from grader.scoring.model import Predictions

MAX_COLUMNS: Final = 100
_DECIMAL: Final = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_IN_A_NUMBER: Final = b"0123456789+-.eE"
_LONG_EXPONENT: Final = re.compile(rb"[+-]?[0-9]{5}")


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
        plain = _plain_values(data, positions, len(header), rows)
        values = plain or _values(reader, positions, columns, rows)
    except csv.Error as error:
        raise Invalid("not_csv", f"line {reader.line_num}: {error}") from None
    predictions = Predictions(*values)
    crossed = list(map(gt, predictions.lower, predictions.upper))
    if True in crossed:
        row = crossed.index(True)
        lower, upper = predictions.lower[row], predictions.upper[row]
        raise Invalid("bounds_reversed", f"row {row + 1}: lower {lower!r} is above upper {upper!r}")
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


def _plain_values(
    data: bytes, positions: Sequence[int], width: int, rows: int
) -> list[tuple[float, ...]] | None:
    """The columns at ``positions`` of a table of ``width`` bare decimals in each of its rows.

    So most files are, and this is six times as quick as to look at cell by cell. ``None`` for all
    that is any other way, faults among it.
    """
    header, _, body = data.replace(b"\r\n", b"\n").removesuffix(b"\n").partition(b"\n")
    body += b"\n"
    between = body.translate(None, _IN_A_NUMBER)
    if {*b'"\r'} & {*header} or between != (b"," * (width - 1) + b"\n") * rows:
        return None
    cells = body.decode().replace("\n", ",").split(",")
    columns = [cells[place : rows * width : width] for place in positions]
    try:
        values = [tuple(map(float, column)) for column in columns]
    except ValueError:
        return None
    plain = (
        all(all(map(math.isfinite, column)) for column in values)
        and max(map(len, cells)) <= csv.field_size_limit()
        and not any(map(_LONG_EXPONENT.match, body.replace(b"E", b"e").split(b"e")[1:]))
    )
    return values if plain else None


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
