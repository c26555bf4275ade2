"""Answers in a Parquet file: ``answers.parquet`` and packed submissions.

A dictionary-encoded column repeats one long value for nothing, so a file of a few kB can stand for
gigabytes: sizes are read before contents, and only rows that are wanted are unpacked.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import duckdb

from grader.errors import UsageError
from grader.io import parquet
from grader.io.jsonio import BadJson, clip
from grader.model import RawAnswer
from grader.submission.submission import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_USAGE,
    Submission,
    Unreadable,
    json_object,
    open_regular,
)

_NUMBERED: Final = parquet.SCAN.replace(")", ", file_row_number = true)")
_BATCH_BYTES: Final = 32 << 20
_BATCH_ROWS: Final = 20_000


def read_parquet_answers(
    path: Path, label: str, suffixes: dict[str, str], found: Submission, *, required: bool = False
) -> None:
    """Columns ``task_id`` and ``answer``; ``answer`` is the content of the file, text or bytes.

    A packed submission also has ``submission_json`` (the same in every row) and ``usage_json``.
    """
    try:
        open_regular(path).close()
        # A database of its own: the limit holds for all connections to one.
        with duckdb.connect(config={"threads": 1, "memory_limit": "1GB"}) as connection:
            _read_rows(connection, parquet.literal(path), label, suffixes, found)
    except (Unreadable, duckdb.Error) as error:
        text = f"{label}: cannot be read as Parquet ({str(error).splitlines()[0][:200]})"
        if required:
            raise UsageError(f"{text}; pack the answers again") from None
        found.notice(text)
        for task_id, raw in found.answers.items():
            if raw.data is None and not raw.reason:  # announced, but damaged further on
                found.answers[task_id] = RawAnswer(label, reason="unreadable", message="damaged")


def _read_rows(
    connection: duckdb.DuckDBPyConnection,
    pattern: str,
    label: str,
    suffixes: dict[str, str],
    found: Submission,
) -> None:
    """Sizes first, then only the answers to keep.

    A dictionary-encoded column repeats one long answer for nothing: a file of a few kB can stand
    for terabytes, so nothing is unpacked before its size and its task are known.
    """
    described = connection.execute(f"DESCRIBE SELECT * FROM {parquet.SCAN}", [[pattern]])
    types = {row[0]: row[1] for row in described.fetchall()}
    is_bytes = types.get("answer") == "BLOB"
    if "submission_json" in types and "usage_json" in types:
        _read_packed_columns(connection, pattern, label, suffixes, found)
    size = "octet_length(answer)" if is_bytes else "strlen(answer::VARCHAR)"
    rows = connection.execute(
        f"SELECT file_row_number, left(task_id::VARCHAR, 81), {size} FROM {_NUMBERED} "
        f"WHERE task_id IS NOT NULL ORDER BY file_row_number LIMIT {MAX_ENTRIES + 1}",
        [[pattern]],
    ).fetchall()
    if len(rows) > MAX_ENTRIES:
        found.notice(f"{label}: over {MAX_ENTRIES} rows; only the first are looked at")
    wanted: dict[int, str] = {}
    lengths: list[tuple[int, int]] = []
    for position, task_id, length in rows[:MAX_ENTRIES]:
        if _accept(task_id, length, f"{label} row {position + 1}", suffixes, found):
            wanted[position] = task_id
            lengths.append((position, length))
    data = "answer" if is_bytes else "encode(answer::VARCHAR)"
    for batch in _batches(lengths):
        for position, content in connection.execute(
            f"SELECT file_row_number, {data} FROM {_NUMBERED} "
            "WHERE file_row_number IN (SELECT unnest(?::BIGINT[])) ORDER BY file_row_number",
            [[pattern], batch],
        ).fetchall():
            first = found.answers[wanted[position]]
            if not first.reason:
                where = f"{label} row {position + 1}"
                found.answers[wanted[position]] = RawAnswer(where, bytes(content))


def _batches(lengths: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Row numbers in groups that stay small in memory, few enough to keep the scans few."""
    batch: list[int] = []
    size = 0
    for position, length in lengths:
        if batch and (size + length > _BATCH_BYTES or len(batch) == _BATCH_ROWS):
            yield batch
            batch, size = [], 0
        batch.append(position)
        size += length
    if batch:
        yield batch


def _accept(
    task_id: str, length: int | None, where: str, suffixes: dict[str, str], found: Submission
) -> bool:
    """Record the answer of one row, its bytes still to come; false if they are not wanted."""
    suffix = suffixes.get(task_id)
    if suffix is None:
        found.stranger(where, task_id, suffixes)
        return False
    reason = message = ""
    if length is None:
        reason, message = "empty", "the answer is null"
    elif length > MAX_BYTES[suffix]:
        reason = "too_large"
        message = f"over {MAX_BYTES[suffix] >> 20} MiB; answers are far smaller"
    found.add(task_id, RawAnswer(where, reason=reason, message=message))
    return not found.answers[task_id].reason


def _read_packed_columns(
    connection: duckdb.DuckDBPyConnection,
    pattern: str,
    label: str,
    suffixes: dict[str, str],
    found: Submission,
) -> None:
    for (submission,) in connection.execute(
        f"SELECT encode(submission_json::VARCHAR) FROM {parquet.SCAN} "
        f"WHERE strlen(submission_json::VARCHAR) <= {MAX_BYTES['.json']} LIMIT 1",
        [[pattern]],
    ).fetchall():
        try:
            found.run = json_object(bytes(submission))
        except BadJson as error:
            found.notice(f"{label}: submission_json: {error.message}; ignored")
    # One row per task, and sizes before contents: the same figure can be repeated for nothing.
    first = connection.execute(
        f"SELECT min(file_row_number) FROM {_NUMBERED} WHERE strlen(task_id::VARCHAR) <= 80 "
        f"AND list_contains(?, task_id::VARCHAR) AND strlen(usage_json::VARCHAR) <= {MAX_USAGE} "
        "GROUP BY task_id ORDER BY 1",
        [[pattern], list(suffixes)],
    ).fetchall()
    usages = connection.execute(
        f"SELECT task_id::VARCHAR, encode(usage_json::VARCHAR) FROM {_NUMBERED} "
        "WHERE file_row_number IN (SELECT unnest(?::BIGINT[])) ORDER BY file_row_number",
        [[pattern], [row for (row,) in first]],
    )
    while rows := usages.fetchmany(100):
        for task_id, usage in rows:
            try:
                found.usage[task_id] = json_object(bytes(usage))
            except BadJson as error:
                found.notice(f"{label}: usage of {clip(task_id)}: {error.message}; ignored")
