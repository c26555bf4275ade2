"""Finding and bounding answers: hostile files in, bytes or a reason out.

An answers folder holds ``<task_id>.json`` or ``.csv`` files, flat or in sub-folders named by
track, or one ``answers.jsonl`` or ``answers.parquet`` with ``task_id`` and ``answer``; a packed
submission is a Parquet file of the same kind. Nothing here follows a link, opens a device, reads
past a cap, or lets one broken answer stop the others.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import duckdb

from grader import parquet
from grader.errors import UsageError
from grader.jsonio import BadJson, canonical, clip, parse_strict
from grader.model import RawAnswer, Task

MAX_BYTES: Final = {".json": 1 << 20, ".csv": 16 << 20}
"""The largest answer that is read, by file ending."""
MAX_LINE: Final = 18 << 20
MAX_USAGE: Final = 1 << 16
MAX_ENTRIES: Final = 1_000_000
MAX_NOTICES: Final = 50
_TASK_ID_IN_LINE: Final = re.compile(rb'"task_id"\s*:\s*"([A-Za-z0-9_.-]{1,80})"')
_NUMBERED: Final = parquet.SCAN.replace(")", ", file_row_number = true)")
_BATCH_BYTES: Final = 32 << 20
_BATCH_ROWS: Final = 20_000
_BESIDES: Final = {"run.json", "usage.jsonl", "answers.jsonl", "answers.parquet"}


@dataclass(slots=True)
class Found:
    """What a submission holds: raw answers by task id, and what was odd about the rest."""

    source: Path
    answers: dict[str, RawAnswer] = field(default_factory=dict)
    unknown: int = 0
    notices: list[str] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, task_id: str, raw: RawAnswer) -> None:
        """Record an answer; the second one for a task makes both void."""
        first = self.answers.get(task_id)
        if first is not None:
            both = f"answered in {first.source} and in {raw.source}; keep one"
            raw = RawAnswer(first.source, reason="duplicate_answer", message=both)
        self.answers[task_id] = raw

    def notice(self, text: str) -> None:
        """Tell the submitter something that is not about one known task."""
        if len(self.notices) < MAX_NOTICES:
            self.notices.append(text)
        elif len(self.notices) == MAX_NOTICES:
            self.notices.append(f"more than {MAX_NOTICES} notes; the rest is left out")


def collect(source: Path, tasks: Iterable[Task]) -> Found:
    """All answers of ``source`` (a folder or a packed ``.parquet`` file) to known tasks.

    Raises ``UsageError`` only when ``source`` as a whole cannot be used.
    """
    found = Found(source)
    by_file = {task.answer_file: task for task in tasks}
    suffixes = {task.task_id: task.spec.suffix for task in by_file.values()}
    if source.is_file():
        if source.suffix != ".parquet":
            raise UsageError(f"{source}: give a folder of answers or a packed .parquet submission")
        _read_parquet(source, source.name, suffixes, found, required=True)
        return found
    if not source.is_dir():
        raise UsageError(f"{source}: no such folder of answers")
    if any((source / f"attempt-{k}").is_dir() for k in (0, 1)):
        raise UsageError(
            f"{source}: holds repeated attempts; grade one of them, such as {source / 'attempt-1'}"
        )
    _read_folder(source, "", by_file, {task.track for task in by_file.values()}, found)
    if "answers.jsonl" in os.listdir(source):
        _read_lines(source / "answers.jsonl", suffixes, found)
    if "answers.parquet" in os.listdir(source):
        _read_parquet(source / "answers.parquet", "answers.parquet", suffixes, found)
    _read_besides(source, suffixes, found)
    return found


def _read_folder(
    folder: Path, prefix: str, by_file: dict[str, Task], tracks: set[str], found: Found
) -> None:
    for name in _entries(folder, found):
        label = prefix + name
        task = by_file.get(name)
        if task is not None:
            limit = MAX_BYTES[task.spec.suffix]
            found.add(task.task_id, _read_file(folder / name, label, limit))
        elif not prefix and name in tracks:
            if stat.S_ISDIR(os.lstat(folder / name).st_mode):
                _read_folder(folder / name, f"{name}/", by_file, tracks, found)
            else:
                found.notice(f"{clip(label)}: not a folder (links are not followed); ignored")
        elif name not in _BESIDES:
            _notice_stray(name, label, by_file, found)


def _entries(folder: Path, found: Found) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise UsageError(f"{folder}: cannot be listed ({error.strerror})") from None
    if len(names) > MAX_ENTRIES:
        found.notice(f"{folder.name}: {len(names)} entries; only {MAX_ENTRIES} are looked at")
    return names[:MAX_ENTRIES]


def _notice_stray(name: str, label: str, by_file: dict[str, Task], found: Found) -> None:
    stem = name.split(".")[0]
    for suffix in (".json", ".csv"):
        if stem + suffix in by_file:
            found.notice(f"{clip(label)}: ignored; the answer to {stem} is named {stem}{suffix}")
            return
    if name.endswith((".json", ".csv")):
        found.unknown += 1
        found.notice(f"{clip(label)}: answers no task of this split; ignored")


def _read_file(path: Path, label: str, limit: int) -> RawAnswer:
    """The bytes of a regular file of at most ``limit`` bytes, never through a link."""
    try:
        with _open_regular(path) as handle:
            data = handle.read(limit + 1)
    except _Unreadable as error:
        return RawAnswer(label, reason="unreadable", message=str(error))
    if len(data) > limit:
        return RawAnswer(
            label, reason="too_large", message=f"over {limit >> 20} MiB; answers are far smaller"
        )
    return RawAnswer(label, data)


class _Unreadable(Exception):
    pass


def _open_regular(path: Path) -> BinaryIO:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _Unreadable("is a symbolic link; put the file itself there") from None
        raise _Unreadable(f"cannot be read ({error.strerror}); check its permissions") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise _Unreadable(f"is {kind}; put a file there")
    return os.fdopen(descriptor, "rb")


def _read_lines(path: Path, suffixes: dict[str, str], found: Found) -> None:
    """One JSON object a line, ``{"task_id": …, "answer": …}``."""
    try:
        handle = _open_regular(path)
    except _Unreadable as error:
        found.notice(f"{path.name}: {error}")
        return
    with handle:
        for number, line in enumerate(_lines(handle), start=1):
            where = f"{path.name} line {number}"
            if line.strip():
                _read_line(line, where, suffixes, found)


def _lines(handle: BinaryIO) -> Iterator[bytes]:
    """Lines of bounded length; of a longer one only the head, the rest is skipped."""
    while line := handle.readline(MAX_LINE + 1):
        yield line
        while line and not line.endswith(b"\n") and len(line) > MAX_LINE:
            line = handle.readline(MAX_LINE + 1)


def _read_line(line: bytes, where: str, suffixes: dict[str, str], found: Found) -> None:
    try:
        if len(line) > MAX_LINE:
            raise BadJson("too_large", f"a line of over {MAX_LINE >> 20} MiB")
        entry = parse_strict(line, max_depth=40)
        if not isinstance(entry, dict) or not isinstance(entry.get("task_id"), str):
            raise BadJson("not_object", 'expected {"task_id": "…", "answer": …}')
        if "answer" not in entry:
            raise BadJson("schema", 'the member "answer" is absent')
    except BadJson as error:
        # A line that cannot be parsed may still name its task: that task was answered badly,
        # which the submitter wants to hear, rather than not at all.
        named = _TASK_ID_IN_LINE.search(line[:4096])
        task_id = named.group(1).decode("ascii") if named else ""
        if task_id in suffixes:
            found.add(task_id, RawAnswer(where, reason=error.reason, message=error.message))
        else:
            found.notice(f"{where}: {error.message}; ignored")
        return
    _add_value(entry["task_id"], entry["answer"], where, suffixes, found)


def _add_value(
    task_id: str, answer: Any, where: str, suffixes: dict[str, str], found: Found
) -> None:
    suffix = suffixes.get(task_id)
    if suffix is None:
        found.unknown += 1
        found.notice(f"{where}: {clip(task_id)} is no task of this split; ignored")
        return
    text = answer if isinstance(answer, str) and suffix == ".csv" else canonical(answer)
    data = text.encode("utf-8")
    if len(data) > MAX_BYTES[suffix]:
        raw = RawAnswer(where, reason="too_large", message=f"over {MAX_BYTES[suffix] >> 20} MiB")
    else:
        raw = RawAnswer(where, data)
    found.add(task_id, raw)


def _read_parquet(
    path: Path, label: str, suffixes: dict[str, str], found: Found, *, required: bool = False
) -> None:
    """Columns ``task_id`` and ``answer``; ``answer`` is the content of the file, text or bytes.

    A packed submission also has ``submission_json`` (the same in every row) and ``usage_json``.
    """
    try:
        _open_regular(path).close()
        with parquet.connect() as connection:
            connection.execute("SET memory_limit = '1GB'")
            _read_rows(connection, parquet.literal(path), label, suffixes, found)
    except (_Unreadable, duckdb.Error) as error:
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
    found: Found,
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
        f"SELECT file_row_number, task_id::VARCHAR, {size} FROM {_NUMBERED} "
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
    task_id: str, length: int | None, where: str, suffixes: dict[str, str], found: Found
) -> bool:
    """Record the answer of one row, its bytes still to come; false if they are not wanted."""
    suffix = suffixes.get(task_id)
    if suffix is None:
        found.unknown += 1
        found.notice(f"{where}: {clip(task_id)} is no task of this split; ignored")
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
    found: Found,
) -> None:
    for (submission,) in connection.execute(
        f"SELECT encode(submission_json::VARCHAR) FROM {parquet.SCAN} "
        f"WHERE strlen(submission_json::VARCHAR) <= {MAX_BYTES['.json']} LIMIT 1",
        [[pattern]],
    ).fetchall():
        try:
            found.run = _object(bytes(submission))
        except BadJson as error:
            found.notice(f"{label}: submission_json: {error.message}; ignored")
    usages = connection.execute(
        f"SELECT task_id::VARCHAR, encode(usage_json::VARCHAR) FROM {parquet.SCAN} "
        f"WHERE list_contains(?, task_id::VARCHAR) AND strlen(usage_json::VARCHAR) <= {MAX_USAGE} "
        f"LIMIT {MAX_ENTRIES}",
        [[pattern], list(suffixes)],
    )
    while rows := usages.fetchmany(100):
        for task_id, usage in rows:
            try:
                found.usage[task_id] = _object(bytes(usage))
            except BadJson as error:
                found.notice(f"{label}: usage of {clip(task_id)}: {error.message}; ignored")


def _object(data: bytes) -> dict[str, Any]:
    value = parse_strict(data)
    if not isinstance(value, dict):
        raise BadJson("not_object", "expected a JSON object")
    return value


def _read_besides(folder: Path, suffixes: dict[str, str], found: Found) -> None:
    """``run.json`` and ``usage.jsonl``: informative only, so problems are notices."""
    present = set(os.listdir(folder))
    if "run.json" in present:
        raw = _read_file(folder / "run.json", "run.json", MAX_BYTES[".json"])
        try:
            if raw.data is None:
                raise BadJson(raw.reason, raw.message)
            found.run = _object(raw.data)
        except BadJson as error:
            found.notice(f"run.json: {error.message}; ignored")
    if "usage.jsonl" in present:
        _read_usage(folder / "usage.jsonl", suffixes, found)


def _read_usage(path: Path, suffixes: dict[str, str], found: Found) -> None:
    try:
        handle = _open_regular(path)
    except _Unreadable as error:
        found.notice(f"{path.name}: {error}")
        return
    with handle:
        for number, line in enumerate(_lines(handle), start=1):
            try:
                entry = _object(line) if len(line) <= MAX_USAGE else {}
            except BadJson:
                entry = {}
            task_id = entry.get("task_id")
            if isinstance(task_id, str) and task_id in suffixes:
                found.usage[task_id] = entry
            elif line.strip() and not isinstance(task_id, str):
                found.notice(f"usage.jsonl line {number}: not an object with task_id; ignored")
