"""Finding and bounding answers: hostile files in, bytes or a reason out.

An answers folder holds ``<task_id>.json``, ``.csv`` or ``.jsonl`` files, flat or in sub-folders
named by track, or one ``answers.jsonl`` or ``answers.parquet`` with ``task_id`` and ``answer``; a
packed submission is a Parquet file of the same kind. Nothing here follows a link, opens a device,
reads past a cap, or lets one broken answer stop the others.

Repeated attempts stand in ``attempt-1/ ... attempt-k/``. Shapes that merge attempts are scored over
all of them together, every other task by the first one, and a report says in ``attempts`` what the
others add. An attempt folder without any answer is left out; in the others, a task without a usable
answer is a failed attempt at it.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

from grader.answers.parquet_answers import read_parquet_answers
from grader.answers.submission import (
    BUDGET,
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_USAGE,
    Budget,
    Submission,
    SubmissionLimits,
    json_object,
    mean_usage,
    too_large,
)
from grader.errors import UsageError
from grader.io.files import Unreadable, open_regular
from grader.io.jsonio import BadJson, canonical_json, clip, parse_strict
from grader.io.names import nearest_path
from grader.io.printing import printable
from grader.scoring.model import RawAnswer
from grader.scoring.shape import Task

MAX_LINE: Final = 18 << 20
MAX_LINES_FILE: Final = 8 << 30
"""Bytes of an ``answers.jsonl`` or ``usage.jsonl``; a larger one is not opened."""
_TASK_ID_IN_LINE: Final = re.compile(rb'"task_id"\s*:\s*"([A-Za-z0-9_.-]{1,80})"')
MAX_ATTEMPTS: Final = 100
_ATTEMPT: Final = re.compile(r"attempt-(\d{1,4})")
_BESIDES: Final = {"run.json", "usage.jsonl", "answers.jsonl", "answers.parquet"}


def _attempt_folders(source: Path, tracks: Iterable[str]) -> list[Path]:
    """Return the folders ``attempt-<k>`` of a submission, by number; none for an ordinary folder.

    Raises ``UsageError`` when two folders have one number, when there are too many, or when
    answers or a folder named by one of ``tracks`` stand beside them (``run.json`` may).
    """
    names = sorted(os.listdir(source)) if source.is_dir() else []
    numbered: dict[int, Path] = {}
    for name in names:
        match, path = _ATTEMPT.fullmatch(name), source / name
        if match is not None and path.is_dir() and not path.is_symlink():
            first = numbered.setdefault(int(match[1]), path)
            if first != path:
                pair = f"{first.name} and {name}"
                raise UsageError(f"{source}: {pair} have the same number; rename one")
    if len(numbered) > MAX_ATTEMPTS:
        raise UsageError(f"{source}: over {MAX_ATTEMPTS} attempts; remove some folders")
    for name in names if numbered else ():
        beside = name.endswith((*MAX_BYTES, ".parquet")) and name != "run.json"
        if beside or (name in tracks and (source / name).is_dir()):
            pair = f"{clip(name)} stands beside {numbered[min(numbered)].name}"
            raise UsageError(f"{source}: {pair}; move it into one of the attempts")
    return [path for _, path in sorted(numbered.items())]


def read_submission(
    source: Path, tasks: Sequence[Task], limits: SubmissionLimits | None = None
) -> Submission:
    """Read the submission at ``source``: a folder of answers, a packed file, or attempt folders.

    ``tasks`` are those that it may answer, ``limits`` what it may cost. Raises ``UsageError``.
    """
    folders = _attempt_folders(source, {task.track for task in tasks})
    budget = Budget(limits)
    parts = [collect(folder, tasks, budget) for folder in folders or [source]]
    return _join_attempts(source, parts) if folders else parts[0]


def _join_attempts(source: Path, found: Sequence[Submission]) -> Submission:
    """Return one submission of all attempts ``found``: each task's answer is the first there is.

    Without a ``run.json`` of its own the first one of an attempt counts. The usage of a task is the
    mean over the attempts that report a figure, with the first ``ending``.
    """
    kept = [attempt for attempt in found if attempt.answers] or found[:1]
    joined = Submission(source, attempts=tuple(kept), budget=found[0].budget)
    with suppress(BadJson):  # none of its own, or none that can be read
        joined.run = run_card(source)
    for attempt in found:
        label = attempt.source.name
        for task_id, raw in attempt.answers.items():
            joined.answers.setdefault(task_id, raw)
        joined.unknown += attempt.unknown
        for text in attempt.notices:
            joined.notice(f"{label}: {text}")
        if not attempt.answers:
            joined.notice(f"{label}: no answer in it; left out")
        joined.run = joined.run or attempt.run
    for task_id in sorted({task_id for attempt in found for task_id in attempt.usage}):
        rows = [attempt.usage[task_id] for attempt in found if task_id in attempt.usage]
        first = {name: rows[0][name] for name in ("ending",) if name in rows[0]}
        joined.usage[task_id] = {"task_id": task_id, **first, **mean_usage(rows)}
    return joined


def collect(source: Path, tasks: Iterable[Task], budget: Budget) -> Submission:
    """Read all answers of ``source`` (a folder or a packed ``.parquet`` file) to ``tasks``.

    Answers that come after ``budget`` is used up are not read and are invalid. Raises
    ``UsageError`` only when ``source`` as a whole cannot be used.
    """
    found = Submission(source, budget=budget)
    by_file = {task.answer_file: task for task in tasks}
    suffixes = {task.task_id: task.shape.suffix for task in by_file.values()}
    if source.is_file():
        if source.suffix != ".parquet":
            raise UsageError(f"{source}: give a folder of answers or a packed .parquet submission")
        read_parquet_answers(source, printable(source.name), suffixes, found, required=True)
        return found
    if source.exists() and not source.is_dir():
        raise UsageError(f"{source}: neither a file nor a folder; put the answers themselves there")
    if not source.is_dir():
        raise UsageError(f"{source}: no such folder of answers{nearest_path(source)}")
    if (source / "run.json").is_file() and (source / "answers" / "run.json").is_file():
        raise UsageError(f"{source}: is the folder of a run; its answers are {source / 'answers'}")
    _read_folder(source, "", by_file, {task.track for task in by_file.values()}, found)
    present = set(os.listdir(source))
    if "answers.jsonl" in present:
        for number, line in _lines(source / "answers.jsonl", found):
            if line.strip():
                _read_line(line, f"answers.jsonl line {number}", suffixes, found)
    if "answers.parquet" in present:
        read_parquet_answers(source / "answers.parquet", "answers.parquet", suffixes, found)
    if "run.json" in present:
        try:
            found.run = run_card(source)
        except BadJson as error:
            kind = "not JSON: " if error.reason == "not_json" else ""
            found.notice(f"run.json: {kind}{error.message}; ignored")
    if "usage.jsonl" in present:
        _read_usage(source / "usage.jsonl", suffixes, found)
    return found


def submissions_in(folder: Path) -> list[Path]:
    """Return the packed files and folders in a folder by name, without hidden ones and links."""
    return [
        entry
        for entry in sorted(folder.iterdir())
        if not entry.name.startswith(".")
        and not entry.is_symlink()
        and (entry.is_dir() or entry.suffix == ".parquet")
    ]


def run_card(folder: Path) -> dict[str, Any]:
    """Return the object in a folder's ``run.json``; raises :class:`BadJson` where there is none."""
    raw = _read_file(folder / "run.json", "run.json", MAX_BYTES[".json"])
    if raw.data is None:
        raise BadJson(raw.reason, raw.message)
    return json_object(raw.data)


def _read_folder(
    folder: Path, prefix: str, by_file: dict[str, Task], tracks: set[str], found: Submission
) -> None:
    """Read a folder of answers into ``found``; ``prefix`` is ``"<track>/"`` in a sub-folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        if not prefix:
            raise UsageError(f"{folder}: cannot be listed ({error.strerror})") from None
        found.notice(f"{clip(folder.name)}: cannot be listed ({error.strerror}); ignored")
        return
    if len(names) > MAX_ENTRIES:
        found.notice(f"{folder.name}: {len(names)} entries; only {MAX_ENTRIES} are looked at")
    for name in names[:MAX_ENTRIES]:
        label = prefix + name
        task = by_file.get(name)
        if task is not None:
            late = found.budget.reading_limit
            if not late:
                raw = _read_file(folder / name, label, MAX_BYTES[task.shape.suffix])
                late = "" if raw.data is None else found.budget.count_bytes(raw.data)
            found.add(task.task_id, found.budget.refused_answer(label) if late else raw)
        elif not prefix and name in tracks:
            if stat.S_ISDIR(os.lstat(folder / name).st_mode):
                _read_folder(folder / name, f"{name}/", by_file, tracks, found)
            else:
                found.notice(f"{clip(label)}: not a folder (links are not followed); ignored")
        elif name not in _BESIDES:
            stem = name.split(".")[0]
            right = next((stem + ending for ending in MAX_BYTES if stem + ending in by_file), None)
            if right is not None:
                found.notice(f"{clip(label)}: ignored; the answer to {stem} is named {right}")
            elif name.endswith(tuple(MAX_BYTES)):
                found.note_unknown(clip(label), stem)


def _read_file(path: Path, label: str, limit: int) -> RawAnswer:
    """Return the bytes of a regular file, or why there are none; links are not followed."""
    try:
        with open_regular(path) as handle:
            data = handle.read(limit + 1)
    except Unreadable as error:
        return RawAnswer(label, reason="unreadable", message=str(error))
    return too_large(label, limit) if len(data) > limit else RawAnswer(label, data)


def _lines(path: Path, found: Submission) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its number from 1, within the budget; of a long one only its head."""
    try:
        handle = open_regular(path)
    except Unreadable as error:
        found.notice(f"{path.name}: {error}")
        return
    with handle:
        if os.fstat(handle.fileno()).st_size > MAX_LINES_FILE:
            found.notice(f"{path.name}: over {MAX_LINES_FILE >> 30} GiB; ignored")
            return
        for number in count(1):
            line = part = handle.readline(MAX_LINE + 1)
            if not line:
                return
            late = found.budget.reading_limit or found.budget.count_bytes(line)
            while not late and len(part) > MAX_LINE and not part.endswith(b"\n"):
                part = handle.readline(MAX_LINE + 1)
                late = found.budget.count_bytes(part)
            yield number, line
            if late:
                found.notice(f"{path.name}: the rest, from line {number}, {late}; ignored")
                return


def _read_line(line: bytes, where: str, suffixes: dict[str, str], found: Submission) -> None:
    """Record the answer of a line, also a faulty one that names its task; else add a notice."""
    try:
        if why := found.budget.reading_limit:
            raise BadJson(BUDGET, why)
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
        task_id = named[1].decode("ascii") if named else ""
        if task_id in suffixes:
            found.add(task_id, RawAnswer(where, reason=error.reason, message=error.message))
        else:
            found.notice(f"{where}: {error.message}; ignored")
        return
    task_id, answer = entry["task_id"], entry["answer"]
    if task_id not in suffixes:
        found.note_unknown(where, task_id)
        return
    is_text = isinstance(answer, str) and suffixes[task_id] != ".json"
    data = (answer if is_text else canonical_json(answer)).encode("utf-8")  # as in its file
    most = MAX_BYTES[suffixes[task_id]]
    found.add(task_id, too_large(where, most) if len(data) > most else RawAnswer(where, data))


def _read_usage(path: Path, suffixes: dict[str, str], found: Submission) -> None:
    """Read ``usage.jsonl`` into ``found.usage``; of two lines for a task the last counts."""
    for number, line in _lines(path, found):
        if found.budget.reading_limit:
            continue
        entry: dict[str, Any] = {}
        with suppress(BadJson):
            entry = json_object(line) if len(line) <= MAX_USAGE else {}
        task_id = entry.get("task_id")
        if isinstance(task_id, str) and task_id in suffixes:
            found.usage[task_id] = entry
        elif line.strip() and not isinstance(task_id, str):
            found.notice(f"usage.jsonl line {number}: not an object with task_id; ignored")
