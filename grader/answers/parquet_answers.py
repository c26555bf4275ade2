"""Answers in a Parquet file: ``answers.parquet`` and packed submissions, read and written.

A dictionary-encoded column repeats one long value for nothing, so a file of a few kB can stand for
gigabytes: sizes are read before contents, and only rows that are wanted are unpacked.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb

from grader.answers.submission import (
    BUDGET,
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_USAGE,
    Submission,
    json_object,
    too_large,
)
from grader.errors import UsageError
from grader.io import parquet
from grader.io.files import Unreadable, file_sha256, open_regular, replacing
from grader.io.jsonio import BadJson, clip
from grader.release.exam import Exam
from grader.scoring.model import RawAnswer
from grader.version import __version__

_NUMBERED: Final = parquet.SCAN.replace(")", ", file_row_number = true)")
_ROWS_AT_ONCE: Final = 20_000
_READ: Final = ("task_id", "answer", "submission_json", "usage_json")

Query = Callable[..., duckdb.DuckDBPyConnection]


def read_parquet_answers(
    path: Path, label: str, suffixes: dict[str, str], found: Submission, *, required: bool = False
) -> None:
    """Read the columns ``task_id`` and ``answer`` (the content of an answer file, text or bytes)
    of a Parquet file into ``found``; ``suffixes`` maps known task ids to file endings.

    A packed submission also has ``submission_json`` (the same in every row) and ``usage_json``.
    What cannot be read is a notice; with ``required`` it raises ``UsageError``.
    """
    try:
        with _open(path, "1GB") as query:
            _read_rows(query, label, suffixes, found)
    except (Unreadable, *parquet.READ_ERRORS) as error:
        use = "used" if isinstance(error, Unreadable) else "read as Parquet"
        text = f"{label}: cannot be {use} ({str(error).splitlines()[0][:200]})"
        if required:
            raise UsageError(f"{text}; pack the answers again") from None
        found.notice(text)
        for task_id, raw in found.answers.items():
            if raw.data is None and not raw.reason:  # announced, but damaged further on
                found.answers[task_id] = RawAnswer(label, reason="unreadable", message="damaged")


def card_of(path: Path) -> dict[str, Any]:
    """Return the card of a packed submission: its ``submission_json``, or an empty object. Raises
    :class:`Unreadable`, ``BadJson``, and ``duckdb.OutOfMemoryException``, maybe the machine's
    fault. The file is a stranger's: call this where memory and time are limited."""
    try:
        with _open(path, "256MB") as query:
            card = _read_card(query)
    except duckdb.OutOfMemoryException:
        raise
    except parquet.READ_ERRORS as error:
        raise Unreadable(f"no packed submission: {str(error).splitlines()[0][:200]}") from None
    return json_object(card or b"{}")


@contextmanager
def _open(path: Path, memory: str) -> Iterator[Query]:
    """Give a function that asks one query of a Parquet file, its first parameter."""
    with open_regular(path) as handle:
        parquet.check_footer_length(handle)
    pattern = parquet.literal(path)
    with duckdb.connect(config={"threads": 1, "memory_limit": memory}) as connection:
        # Rows come in the order of the file, which the other way round a join would lose.
        connection.execute("SET disabled_optimizers = 'build_side_probe_side'")
        yield lambda text, *more: connection.execute(text, [[pattern], *more])


def _read_card(query: Query) -> bytes | None:
    """Return the first ``submission_json`` of an acceptable size; None where there is none."""
    row = query(
        f"SELECT encode(submission_json::VARCHAR) FROM {parquet.SCAN} "
        f"WHERE strlen(submission_json::VARCHAR) <= {MAX_BYTES['.json']} LIMIT 1"
    ).fetchone()
    return None if row is None else bytes(row[0])


def _read_rows(query: Query, label: str, suffixes: dict[str, str], found: Submission) -> None:
    """Read the answers of a file into ``found``: all sizes first, then the bytes that count."""
    _check_sizes(query, found.budget.limits.mebibytes << 20)
    described = query(f"DESCRIBE SELECT * FROM {parquet.SCAN}").fetchall()
    types = {row[0].lower(): row[1] for row in described}
    for column in ("task_id", "answer"):
        if column not in types:
            raise Unreadable(f"no column {column}")
    is_bytes = types.get("answer") == "BLOB"
    if "submission_json" in types and "usage_json" in types:
        _read_packed_columns(query, label, suffixes, found)
    size = "octet_length(answer)" if is_bytes else "strlen(answer::VARCHAR)"
    rows = query(
        f"SELECT file_row_number, left(task_id::VARCHAR, 81), {size} FROM {_NUMBERED} "
        "WHERE task_id IS NOT NULL ORDER BY file_row_number"
    )
    names, wanted = dict(zip(suffixes, suffixes, strict=True)), list[str]()
    positions = array("q")
    while some := rows.fetchmany(_ROWS_AT_ONCE):
        for position, task_id, length in some:
            name = names.get(task_id, task_id)  # each id once in memory
            if _accept(name, length, f"{label} row {position + 1}", suffixes, found):
                wanted.append(name)
                positions.append(position)
    data = "answer" if is_bytes else "encode(answer::VARCHAR)"
    contents = query(
        f"SELECT file_row_number, {data} FROM {_NUMBERED} "
        "WHERE file_row_number IN (SELECT unnest(?::BIGINT[]))",
        positions.tolist(),
    )
    for task_id, position in zip(wanted, positions, strict=True):
        recorded, late = found.answers[task_id], found.budget.reading_limit
        if not late:
            row = contents.fetchone()
            assert row is not None and row[0] == position, "rows out of order"
            raw = RawAnswer(recorded.source, bytes(row[1]))
            late = found.budget.count_bytes(bytes(row[1]))
        if not recorded.reason:  # a second answer may have made it invalid since
            found.answers[task_id] = found.budget.refused_answer(recorded.source) if late else raw


def _check_sizes(query: Query, most: int) -> None:
    """Raise :class:`Unreadable` for more rows or bytes than ``most``, by the footer alone, which
    does not tell the size of DELTA_BYTE_ARRAY strings: they repeat parts of the one before."""
    columns = query(
        "SELECT sum(num_values)::DOUBLE, sum(total_uncompressed_size)::DOUBLE, "
        "bool_or(contains(encodings, 'DELTA_BYTE_ARRAY')) FROM parquet_metadata(?) "
        # Names are the same in any case of their letters.
        "WHERE lower(split_part(path_in_schema, ', ', 1)) IN (SELECT unnest(?)) "
        "GROUP BY path_in_schema",
        _READ,
    ).fetchall()
    if max((count for count, _, _ in columns), default=0) > MAX_ENTRIES:
        raise Unreadable(f"over {MAX_ENTRIES:,} rows; no exam has so many tasks")
    if sum(size for _, size, _ in columns) > most:
        raise Unreadable(f"its columns unpack to over {most >> 20:,} MiB (--max-mib)")
    if any(repeating for _, _, repeating in columns):
        raise Unreadable("DELTA_BYTE_ARRAY strings; write them plain or with a dictionary")


def _accept(
    task_id: str, length: int | None, where: str, suffixes: dict[str, str], found: Submission
) -> bool:
    """Record the answer of one row without its bytes; return whether these are to be read."""
    if task_id not in suffixes:
        found.note_unknown(where, task_id)
        return False
    raw, most = RawAnswer(where), MAX_BYTES[suffixes[task_id]]
    if length is None:
        raw = RawAnswer(where, reason="empty", message="the answer is null")
    elif length > most:
        raw = too_large(where, most)
    found.add(task_id, raw)
    return not found.answers[task_id].reason


def _read_packed_columns(
    query: Query, label: str, suffixes: dict[str, str], found: Submission
) -> None:
    """Read card and usage of a packed submission into ``found``; of a task the first one counts."""
    try:
        found.run = json_object(_read_card(query) or b"{}")
    except BadJson as error:
        found.notice(f"{label}: submission_json: {error.message}; ignored")
    # One row per task, and sizes before contents: the same figure can be repeated for nothing.
    first = query(
        f"SELECT min(file_row_number) FROM {_NUMBERED} WHERE strlen(task_id::VARCHAR) <= 80 "
        f"AND list_contains(?, task_id::VARCHAR) AND strlen(usage_json::VARCHAR) <= {MAX_USAGE} "
        "GROUP BY task_id ORDER BY 1",
        list(suffixes),
    ).fetchall()
    usages = query(
        f"SELECT task_id::VARCHAR, encode(usage_json::VARCHAR) FROM {_NUMBERED} "
        "WHERE file_row_number IN (SELECT unnest(?::BIGINT[])) ORDER BY file_row_number",
        [row for (row,) in first],
    )
    while rows := usages.fetchmany(100):
        for task_id, usage in rows:
            try:
                if why := found.budget.reading_limit or found.budget.count_bytes(bytes(usage)):
                    raise BadJson(BUDGET, why)
                found.usage[task_id] = json_object(bytes(usage))
            except BadJson as error:
                found.notice(f"{label}: usage of {clip(task_id)}: {error.message}; ignored")


def system_name(name: object) -> str:
    """Return ``name``; raises ``UsageError`` unless it has 1 to 200 characters and is not blank."""
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise UsageError("--name: give 1 to 200 characters")
    return name


def pack(path: Path, exam: Exam, found: Submission, name: str) -> None:
    """Write a submission's answers to ``exam`` as a Parquet file: task id, answer, usage, and card.

    The card says who (``name``), how (``run.json``) and to what: release, split, exam, and the hash
    of the release's manifest. Raises ``UsageError`` for repeated attempts, and where ``path``
    cannot be written.
    """
    if found.attempts:
        one = f"pack one of them, such as {found.attempts[0].source}"
        raise UsageError(f"{found.source}: holds repeated attempts; {one}")
    release = exam.split.release
    card = {
        **found.run,
        "system": name,
        "release": release.name,
        "release_sha256": file_sha256(release.public.path / "manifest.json"),
        "split": exam.split.name,
        "exam": exam.name,
        "packed_by": __version__,
    }
    answered = {task.task_id for task in exam.tasks} & found.answers.keys()
    ids: list[str | None] = [*sorted(answered)] or [None]  # a row for the card of an empty one
    # What could not be read is packed as null: it stays an invalid answer, not a missing one.
    answers = [None if i is None else found.answers[i].data for i in ids]
    usages = [None if i not in found.usage else json.dumps(found.usage[i]) for i in ids]
    columns: dict[str, tuple[str, Sequence[Any]]] = {
        "task_id": ("VARCHAR", ids),
        "answer": ("BLOB", answers),
        "usage_json": ("VARCHAR", usages),
        "submission_json": ("VARCHAR", [json.dumps(card)] * len(ids)),
    }
    with replacing(path) as temporary:
        parquet.write_columns(temporary, columns)
