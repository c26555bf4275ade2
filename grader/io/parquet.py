"""Parquet read and written with DuckDB; no path acts as a pattern or as SQL."""

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import duckdb

from grader.errors import UsageError
from grader.io.paths import path_inside

_ERRNO: Final = re.compile(r'"errno":"(\d{1,4})"')
_PATTERN: Final = re.compile(r"[*?\[]")
_ROWS_AT_ONCE: Final = 2_000
SCAN: Final = "read_parquet(?, hive_partitioning = false)"
"""The one way Parquet is read: a folder called ``task_id=x`` must not become a column."""


def literal(path: Path) -> str:
    """Return ``path`` as DuckDB names one file: absolute (``~`` is not home), and never a pattern.

    DuckDB has no escape that stands for every name, and a pattern is matched against whatever else
    a stranger put into the folder; so a path that could be one is opened by a link of ours.
    """
    text = str(path.absolute())
    return _link(os.getpid(), text) if _PATTERN.search(text) else text


@cache
def _link(process: int, text: str) -> str:
    """Return the path of a new symbolic link to the file ``text``, whose name is no pattern.

    It is removed when the process (its id is ``process``) ends.
    """
    digest = hashlib.sha256(os.fsencode(text)).hexdigest()
    link = path_inside(Path(_links(process).name), digest[:32], ".parquet")
    link.symlink_to(text)
    return str(link)


@cache
def _links(process: int) -> "tempfile.TemporaryDirectory[str]":
    """Make the folder for the links of a process.

    ``process`` is its id: a forked process must not use its parent's folder.
    """
    return tempfile.TemporaryDirectory(prefix="causal-exams-")


def identifier(name: str) -> str:
    """Return ``name`` as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def connect() -> duckdb.DuckDBPyConnection:
    """Return a connection to the process's in-memory database, with temporary tables of its own.

    It has one thread, so that equal input gives equal bytes. No content of files is cached. All
    connections share a database, since making one takes as long as reading a small exam.
    """
    return _database(os.getpid()).cursor()


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """Make the in-memory database of a process.

    ``process`` is its id: a forked process must not use its parent's database.
    """
    return duckdb.connect(config={"threads": 1, "enable_external_file_cache": "false"})


def column_names(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> frozenset[str]:
    """Return the names of the columns of Parquet files, none for no file.

    Raises ``UsageError`` where one cannot be read.
    """
    if not paths:
        return frozenset()
    list(read(connection, paths, ("*",), "LIMIT 0"))
    return frozenset(column[0] for column in connection.description or ())


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
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"{paths[0]}: cannot be read as a release shard ({reason}); fetch it again"
        ) from None


def copy_to(connection: duckdb.DuckDBPyConnection, query: str, path: Path, options: str) -> None:
    """Run ``COPY (query) TO path``; ``query`` and ``options`` come from the code, never input.

    Raises ``OSError`` when the file cannot be written.
    """
    quoted = str(path).replace("'", "''")
    try:
        # Into this very file, which a caller may hold locked, not into one that takes its place.
        connection.execute(f"COPY ({query}) TO '{quoted}' ({options}, USE_TMP_FILE false)")
    except duckdb.IOException as error:
        number = _ERRNO.search(str(error))
        code = int(number[1]) if number else errno.EIO
        raise OSError(code, os.strerror(code), str(path)) from None
