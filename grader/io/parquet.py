"""Parquet read and written with DuckDB; no path acts as a pattern or as SQL."""

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final

import duckdb

from grader.errors import UsageError
from grader.io.files import Unreadable
from grader.io.paths import path_inside

_ERRNO: Final = re.compile(r'"errno":"(\d{1,4})"')
_PATTERN: Final = re.compile(r"[*?\[]")
_ROWS_AT_ONCE: Final = 2_000
_MAX_FOOTER: Final = 16 << 20
_MAX_VALUES: Final = 50_000_000
"""Values of one column in one row group; a list counts as many as it holds."""
_MAX_UNPACKED: Final = 1 << 30
_MAX_CELL: Final = 4 << 20
READ_ERRORS: Final = (duckdb.Error, UnicodeDecodeError)
"""What DuckDB raises of a damaged file; the second where its message would quote bytes of it."""
SCAN: Final = "read_parquet(?, hive_partitioning = false)"
"""The one way Parquet is read: a folder called ``task_id=x`` must not become a column."""


def literal(path: Path) -> str:
    """Return ``path`` as DuckDB names one file: absolute (``~`` is not home), and never a pattern.

    DuckDB has no escape that stands for every name, and a pattern is matched against whatever else
    a stranger put into the folder; so a path that could be one is opened by a link of ours.
    """
    text = str(path.absolute())
    if not _PATTERN.search(text):
        return text
    digest = hashlib.sha256(os.fsencode(text)).hexdigest()
    link = path_inside(Path(_links(os.getpid()).name), digest[:32], ".parquet")
    with suppress(FileExistsError):
        link.symlink_to(text)
    return str(link)


@cache
def _links(process: int) -> "tempfile.TemporaryDirectory[str]":
    """Make the folder for links of a process (its id: a forked one must not use its parent's)."""
    return tempfile.TemporaryDirectory(prefix="causal-exams-")


def identifier(name: str) -> str:
    """Return ``name`` as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def connect(*, closed: bool = False) -> duckdb.DuckDBPyConnection:
    """Return a connection to an in-memory database of the process, with temporary tables of its
    own; to one that reads and writes no file where it is ``closed``.

    All connections share a database, since making one takes as long as reading a small exam.
    """
    return _database(os.getpid(), closed).cursor()


@cache
def _database(process: int, closed: bool) -> duckdb.DuckDBPyConnection:
    """Make an in-memory database of a process (its id: a forked one must not use this), with one
    thread, so that equal input gives equal bytes, and without a cache of what is in files."""
    access = {"enable_external_access": "false"} if closed else {}
    return duckdb.connect(config={"threads": 1, "enable_external_file_cache": "false", **access})


def check_footer_length(handle: BinaryIO) -> None:
    """Raise :class:`Unreadable` for a Parquet file whose footer is too large to parse."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(max(0, size - 8))
    length = int.from_bytes(handle.read(4), "little")
    if min(length, size) > _MAX_FOOTER:
        raise Unreadable(f"its footer is over {_MAX_FOOTER >> 20} MiB")


def check_size(connection: duckdb.DuckDBPyConnection, path: Path, rows: int) -> None:
    """Raise ``UsageError`` for a shard that has not ``rows`` rows or unpacks to too much, by its
    footer alone; no footer tells the size of DELTA_BYTE_ARRAY text, which is refused."""
    query = (
        "SELECT (SELECT num_rows FROM parquet_file_metadata(?)), max(num_values), "
        "max(total_uncompressed_size), bool_or(contains(encodings, 'DELTA_BYTE_ARRAY')) "
        "FROM parquet_metadata(?)"
    )
    try:
        found = connection.execute(query, [[literal(path)]] * 2).fetchone() or (0,) * 4
    except READ_ERRORS as error:
        raise _unreadable(path, error) from None
    problem = ""
    if found[0] != rows:
        problem = f"holds {found[0]:,} rows, not {rows:,} as manifest.json says"
    elif (found[1] or 0) > _MAX_VALUES or (found[2] or 0) > _MAX_UNPACKED or found[3]:
        problem = f"unpacks to over {_MAX_VALUES:,} values or {_MAX_UNPACKED >> 20:,} MiB a column"
    if problem:
        raise UsageError(f"{path}: {problem}; fetch the release again, or tell its maintainer")


def check_texts(connection: duckdb.DuckDBPyConnection, path: Path, columns: Sequence[str]) -> None:
    """Raise ``UsageError`` for a text of over 4 MiB in one of the text ``columns`` of a shard, or
    a column that repeats texts for more than a hundred times the bytes of its file."""
    if not columns:
        return
    most = max(1 << 30, 100 * path.stat().st_size)
    lengths = [f"strlen({identifier(name)})" for name in columns]
    figures = [f"{figure}({length})" for figure in ("max", "sum") for length in lengths]
    ((*found,),) = read(connection, [path], figures)
    for name, longest, total in zip(columns, found, found[len(columns) :], strict=False):
        if (longest or 0) > _MAX_CELL or (total or 0) > most:
            what = f"a text of over {_MAX_CELL >> 20} MiB, or over {most >> 20:,} MiB in all"
            raise UsageError(f"{path}: column {name} holds {what}; tell the release's maintainer")


def _unreadable(path: Path, error: Exception) -> UsageError:
    reason = str(error).splitlines()[0]
    return UsageError(f"{path}: cannot be read as a release shard ({reason}); fetch it again")


def read(
    connection: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    columns: Sequence[str],
    suffix: str = "",
    parameters: Sequence[object] = (),
) -> Iterator[tuple[Any, ...]]:
    """Yield rows of Parquet files: ``SELECT columns FROM files <suffix>``, some at a time.

    ``columns`` and ``suffix`` are constants of the code, never input. Raises ``UsageError`` when
    a file is absent, is no Parquet or lacks a column.
    """
    if not paths:
        return
    query = f"SELECT {', '.join(columns)} FROM {SCAN} {suffix}"
    try:
        found = connection.execute(query, [[literal(path) for path in paths], *parameters])
        while rows := found.fetchmany(_ROWS_AT_ONCE):
            yield from rows
    except READ_ERRORS as error:
        raise _unreadable(paths[0], error) from None


def write_columns(
    path: Path,
    columns: Mapping[str, tuple[str, Sequence[Any]]],
    options: str = "FORMAT parquet, COMPRESSION zstd",
) -> None:
    """Write a file of rows in order, given by column: name to type in SQL and values.

    Types and ``options`` (of COPY) come from the code, never input. Raises ``OSError`` when the
    file cannot be written.
    """
    selected = ", ".join(
        f"unnest(${place}::{kind}[]) AS {identifier(name)}"
        for place, (name, (kind, _)) in enumerate(columns.items(), start=1)
    )
    quoted = str(path).replace("'", "''")
    with connect() as connection:
        values = [list(column) for _, column in columns.values()]
        connection.execute(f"CREATE TEMP TABLE written AS SELECT {selected}", values)
        try:
            # Into this very file, which a caller may hold locked, not one that takes its place.
            connection.execute(f"COPY written TO '{quoted}' ({options}, USE_TMP_FILE false)")
        except duckdb.IOException as error:
            number = _ERRNO.search(str(error))
            code = int(number[1]) if number else errno.EIO
            raise OSError(code, os.strerror(code), str(path)) from None
